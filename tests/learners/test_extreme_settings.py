"""Settings and rows at the ends of the doubles: a clear error or numbers, and no warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from okbench.base.errors import OkbenchError
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.learners.registry import catalogue, find, settings_of
from okbench.protocols.contract import BATCH

SMALL = {"budget": 12, "rank": 4, "components": 16}
EXTREME = {"cost", "decay", "scale", "scale_step", "step", "width"}
EXTREMES = (5e-324, 1e-300, 1e-160, 1e160, 1.7e308)
X = np.random.default_rng(0).normal(size=(60, 3))
TARGETS: dict[str, Any] = {
    "binary": np.where(X[:, 0] > 0, 1, -1),
    "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]),
    "regression": X[:, 0],
}


def learned(name: str, task: Any, factor: float = 1.0, **settings: Any) -> Any:
    cls = find(name).load()
    small = {key: value for key, value in SMALL.items() if key in settings_of(cls)}
    learner, y = cls(**{**small, **settings}), TARGETS[task]
    classes = () if task == "regression" else tuple(np.unique(y).tolist())
    learner.begin(Problem(task, 3, classes, len(X)), Draws(0))
    (learner.fit if BATCH.is_filled_by(cls) else learner.learn)(X * factor, y)
    return learner


def cases() -> Iterator[tuple[str, str, str]]:
    for entry in catalogue().values():
        for setting in settings_of(entry.load()).keys() & EXTREME:
            for task in entry.tasks:
                yield entry.name, task, setting


@pytest.mark.parametrize(("name", "task", "setting"), sorted(cases()))
def test_an_extreme_setting_leaks_no_warning_and_no_score_that_is_no_number(
    name: str, task: str, setting: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in EXTREMES:
            for factor in (1.0, 1e150, 1e300):
                try:
                    learner = learned(name, task, factor, **{setting: value})
                    scores = learner.scores(X * factor)
                except OkbenchError:
                    continue
                assert np.isfinite(scores).all()


def test_a_width_that_no_frequency_survives_is_a_divergence() -> None:
    with pytest.raises(Diverged, match="not a finite number"):
        learned("FOGD", "binary", width=5e-324)
