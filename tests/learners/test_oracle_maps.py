"""FOGD and NOGD against the recorded runs of their authors' programs."""

from __future__ import annotations

import numpy as np
import pytest

from okbench.learners.fogd import FOGD
from okbench.learners.online.nystroem import NOGD
from tests.learners.lsokl_oracle import Run, replayed, runs


def learner_of(run: Run) -> FOGD | NOGD:
    given = run.settings
    budget, epsilon = int(given["B"]), given.get("epsilon", 0.1)
    if run.record["algorithm"] == "FOGD":
        components = round(given["rho_f"] * budget)
        return FOGD(
            components=components, width=given["sigma"], step=given["eta_fogd"], epsilon=epsilon
        )
    step = given.get("eta_nogd", given.get("eta"))
    return NOGD(
        budget=budget,
        rank=round(given["rho_n"] * budget),
        width=given["sigma"],
        step=step,
        epsilon=epsilon,
    )


def replay(run: Run):
    """The learner after the recorded rows, the scores it gave, its errors and supports at ticks."""
    learner = learner_of(run).begin(run.problem, run.draws)
    return learner, *replayed(run, learner)


@pytest.mark.parametrize("run", runs("FOGD", "NOGD", when=lambda run: not run.fragile))
def test_equals_the_recorded_run(run):
    learner, scores, errors, supports = replay(run)
    record = run.record
    if run.problem.task == "regression":
        assert errors[-1] == pytest.approx(record["summed_squared_loss"], rel=1e-12)
        curve = record["loss_curve"]
        np.testing.assert_allclose(
            errors[np.array(record["ticks"]) - 1] / record["ticks"], curve, rtol=1e-12
        )
    else:
        assert errors[-1] == record["mistakes"]
        curve = record["mistake_rate_curve"]
        assert (errors[np.array(record["ticks"]) - 1] / record["ticks"]).tolist() == curve
    assert learner.support_size == record["n_sv_end"]
    assert supports == record["n_sv_curve"]
    if record.get("n_updates") is not None:
        assert learner.updates == record["n_updates"]
    assert np.abs(scores).sum() == pytest.approx(record["sum_abs_f"], rel=1e-10)
    np.testing.assert_allclose(scores[-1], record["f_last"], atol=1e-10, rtol=0)


@pytest.mark.parametrize("run", runs("NOGD", when=lambda run: run.has_supports))
def test_the_frozen_expansion_is_the_recorded_one(run):
    learner, *_ = replay(run)
    assert run.order[learner.support_rows].sum() == run.record["sum_sv_row_ids_0based"]
    assert learner.coefficients.sum() == pytest.approx(run.record["sum_coefficients"], rel=1e-12)


@pytest.mark.parametrize("run", runs("FOGD", "NOGD", when=lambda run: run.permutation == 0))
def test_scores_are_the_traced_ones(run):
    """Also of the fragile runs: the scores agree where the signs of vanishing ones do not."""
    _, scores, *_ = replay(run)
    np.testing.assert_allclose(scores, run.trace, atol=1e-9, rtol=0)


@pytest.mark.parametrize("run", runs("FOGD", "NOGD", when=lambda run: run.fragile))
def test_a_fragile_run_comes_out_near_the_recorded_one(run):
    _, scores, errors, _ = replay(run)
    undecided = int((np.abs(scores[:, 0]) < 1e-9).sum())
    assert abs(int(errors[-1]) - run.record["mistakes"]) <= max(undecided // 4, 1)
