"""Trials of okbench's batch learners: their curves, and how a fit ends that fails."""

from __future__ import annotations

from typing import Any

import pytest
from trial_material import load, trial

from okbench.learners.contract import Draws, Problem
from okbench.learners.registry import find
from okbench.trials.run.protocol_loop import Limits, walk
from okbench.trials.trial_types import Outcome

SMALL = {"components": 16, "scale": 1.0, "epochs": 2}


def fitted(name: str, limits: Limits | None = None, **settings: Any) -> Outcome:
    rows = load("split", "1500")
    problem = Problem(rows.task, rows.n_features, rows.classes, rows.n_train)
    learner = find(name).load()(**settings).begin(problem, Draws(0))
    what = trial("Linear", "split:1500", protocol="train-test", metric="accuracy")
    return walk(what, rows, learner, limits or Limits())


def test_a_fit_is_scored_on_the_test_rows_and_has_a_curve_that_ends_at_the_training_rows() -> None:
    outcome = fitted("RKS", **SMALL)
    assert (outcome.status, outcome.rows) == ("done", 500)
    rows = [point[0] for point in outcome.curve]
    assert rows == sorted(set(rows))  # type: ignore[type-var]
    assert rows[-1] == 1000
    assert all(0 <= (point[1] or 0) <= (point[0] or 0) for point in outcome.curve)


@pytest.mark.parametrize("name", ["RRF-batch", "FKL"])
def test_a_scale_that_overflows_ends_the_trial_as_diverged(name: str) -> None:
    outcome = fitted(name, **{**SMALL, "epochs": 100, "step": 0.5, "scale_step": 1e6})
    assert outcome.status == "diverged"
    assert "is not a finite number" in outcome.reason
    assert outcome.total is None


def test_libsvm_that_does_not_converge_ends_the_trial_with_that_reason() -> None:
    outcome = fitted("LIBSVM", cost=1e4, max_iterations=2)
    assert outcome.status == "diverged"
    assert "LIBSVM did not converge in 2 iterations" in outcome.reason


def test_a_limit_ends_a_fit_half_way_and_keeps_its_curve() -> None:
    outcome = fitted("RKS", Limits(seconds=0.5), **{**SMALL, "epochs": 10_000_000})
    assert outcome.status == "timeout"
    assert outcome.total is None
