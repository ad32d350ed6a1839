"""Settings and rows at the ends of the doubles: a clear error or numbers, and no warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from okbench.base.errors import OkbenchError
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.learners.registry import catalogue, find, settings_of
from okbench.protocols.contract import BATCH
from tests.shared import mostly_slow

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


def extreme_settings(name: str) -> list[str]:
    return sorted(settings_of(find(name).load()).keys() & EXTREME)


def scored(name: str, task: str, setting: str) -> Iterator[tuple[float, float]]:
    """The values of a setting, and the factors of the rows, with which a learner gives scores."""
    for value in EXTREMES:
        for factor in (1.0, 1e150, 1e300):
            with suppress(OkbenchError):
                scores = learned(name, task, factor, **{setting: value}).scores(X * factor)
                assert np.isfinite(scores).all(), (task, setting, value, factor)
                yield value, factor


@pytest.mark.parametrize(
    "name", mostly_slow(filter(extreme_settings, catalogue()), ["FOGD", "BOGD", "RRF", "LLSVM"])
)
def test_an_extreme_setting_leaks_no_warning_and_no_score_that_is_no_number(name: str) -> None:
    """Nor is every value refused: some are numbers like others."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for setting in extreme_settings(name):
            for task in find(name).tasks:
                assert list(scored(name, task, setting)), (task, setting)


def test_a_width_that_no_frequency_survives_is_a_divergence() -> None:
    with pytest.raises(Diverged, match="not a finite number"):
        learned("FOGD", "binary", width=5e-324)
