"""Sparse rows of very many columns: no learner holds more than is stated of it before a run."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from trial_material import trial

from okbench.datasets.dataset_types import Dataset
from okbench.learners.batch.base import NoLimit
from okbench.learners.contract import Draws, Problem, begun, roles_of
from okbench.learners.registry import Entry, catalogue, find, is_ours, settings_of
from okbench.trials.plan.options import Options
from okbench.trials.run import memory_needs
from okbench.trials.run.memory_needs import Need, needs
from tests.shared import mostly_slow

COLUMNS = 500_000
PER_COLUMN = 48  # bytes: places, scales and norms, which are not stated
ELSE = 32_000_000  # bytes: the rows themselves, what is imported, blocks of rows as lanes
SETTINGS = {
    "budget": 24, "components": 16, "rank": 8, "partitionings": 10, "psi": 16, "particles": 2,
    "batch": 20, "epochs": 1,
}  # fmt: skip
LEARNERS = [entry for entry in catalogue().values() if is_ours(entry)]


def made(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Rows of about 100 values each, half of them in 2,000 columns."""
    draw = np.random.default_rng(0)
    columns = draw.integers(0, [[2000] * 50 + [n_columns] * 50], (n_rows, 100)).ravel()
    values, starts = draw.random(n_rows * 100), 100 * np.arange(n_rows + 1)
    X = sp.csr_array((values, columns, starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    return X, np.where(draw.random(n_rows) < 0.5, -1, 1)


def used(cls: type, settings: dict[str, Any], X: Any, y: Any) -> Any:
    """A learner, or a map, that met the first half of the rows and answers for the others."""
    roles, half = roles_of(cls), len(y) // 2
    if roles == {"map"}:
        return cls(**settings).fit(X[:half], Draws(0)).transform(X[half:])
    is_regression = cls.tasks == ("regression",)
    problem = Problem("regression", X.shape[1]) if is_regression else Problem(
        "binary", X.shape[1], (-1, 1), len(y)
    )  # fmt: skip
    learner = begun(cls, settings, problem, Draws(0))
    if "batch" in roles:
        learner.fit(X[:half], y[:half], NoLimit())
    if "online" in roles:
        learner.learn(X[:half], y[:half])
    return learner.predict(X[half:])


def stated(entry: Entry, settings: dict[str, Any], X: Any, y: Any) -> Need:
    data = Dataset("wide", X, y, "binary", (-1, 1), "print")
    one = replace(trial(), learner=entry.name, settings=tuple(sorted(settings.items())))
    (need,) = needs([one], lambda name, variant: data, Options())
    return need


@pytest.mark.parametrize(
    "entry",
    mostly_slow(LEARNERS, [find(name) for name in ("FOGD", "OGD", "LLSVM", "IK-OGD")]),
    ids=lambda entry: entry.name,
)
def test_no_learner_holds_more_than_is_stated_of_it(entry: Entry) -> None:
    cls = entry.load()
    settings = {name: SETTINGS[name] for name in settings_of(cls) if name in SETTINGS}
    X, y = made(200, COLUMNS)
    need = stated(entry, settings, X, y)
    if need.drawn > memory_needs.MOST_DRAWN:
        assert "orthogonal" in need.drawn_terms
        assert "500000²" in need.terms
        return
    used(cls, settings, *made(60, 1200))  # compiles
    tracemalloc.start()
    try:
        used(cls, settings, X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * ((need.model or 0) + need.growth) + PER_COLUMN * COLUMNS + ELSE
