"""The recorded runs of the Lu et al. programs, when ../shared is here."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from okbench.learners.contract import FloatArray, Problem, RecordedDraws
from tests.shared import SHARED

SETTINGS = (
    "german_paper",
    "spambase_paper",
    "dna_paper",
    "housing_paper",
    "housing_tuned",
    "housing_b20",
)


@dataclass(frozen=True)
class Run:
    """One recorded run: the rows in the order it met them, its draws, and what came of it."""

    dataset: str
    setting: str
    permutation: int
    record: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.dataset}-{self.setting}-{self.permutation}"

    @property
    def fragile(self) -> bool:
        return bool(self.record["numerically_fragile"])

    @property
    def has_supports(self) -> bool:
        return "sum_sv_row_ids_0based" in self.record

    @property
    def settings(self) -> dict[str, float]:
        return self.record["hyperparameters"]

    @property
    def order(self):
        return _inputs(self.dataset)["permutations"][self.permutation].astype(np.int64)

    @property
    def rows(self):
        X, y = _rows(self.dataset)
        return X[self.order], y[self.order]

    @property
    def draws(self) -> RecordedDraws:
        inputs = _inputs(self.dataset)
        return RecordedDraws(inputs["gauss"][self.permutation], inputs["uniform"][self.permutation])

    @property
    def problem(self) -> Problem:
        X, y = _rows(self.dataset)
        if self.dataset == "housing":
            return Problem("regression", X.shape[1], n_rows=len(X))
        return Problem.of(X, y.astype(int), n_rows=len(X))

    @property
    def trace(self):
        """Every score of permutation 0, rows × columns."""
        path = _folder() / f"trace_{self.dataset}_{self.setting}_perm0.npz"
        scores = np.load(path)[self.record["algorithm"]]
        return scores.T if scores.ndim == 2 else scores[:, np.newaxis]


def runs(*algorithms: str, when: Callable[[Run], bool] = lambda run: True) -> list[Any]:
    """The recorded runs of the algorithms, as parameters with a readable id.

    Without ../shared, one parameter that is skipped, or fails in CI.
    """
    if not (SHARED / "oracle" / "lsokl").is_dir():
        return [pytest.param(None, id="not-here", marks=pytest.mark.shared("the recorded runs"))]
    return [
        pytest.param(run, id=f"{run.record['algorithm']}-{run.name}")
        for setting in SETTINGS
        for run in _records(setting)
        if run.record["algorithm"] in algorithms and when(run)
    ]


def replayed(run: Run, learner: Any) -> tuple[FloatArray, FloatArray, list[int]]:
    """Have a learner learn the recorded rows: its scores, errors so far, supports at ticks."""
    X, y = run.rows
    scores, supports = [], []
    stops = [*run.record["ticks"], len(X)]
    for first, stop in zip([0, *stops], stops, strict=False):
        scores.append(learner.learn_scores(X[first:stop], y[first:stop]))
        supports.append(learner.support_size)
    found = np.concatenate(scores)
    predictions = run.problem.decide(found)
    errors = (predictions - y) ** 2 if run.problem.task == "regression" else predictions != y
    return found, np.cumsum(errors), supports[:-1]


def _folder() -> Path:
    return SHARED / "oracle" / "lsokl"


def _records(name: str) -> list[Run]:
    dataset, _, setting = name.partition("_")
    held = json.loads((_folder() / f"oracle_{name}.json").read_text(encoding="utf-8"))
    return [Run(dataset, setting, record["permutation"], record) for record in held["runs"]]


@cache
def _inputs(dataset: str):
    with np.load(_folder() / f"inputs_{dataset}.npz") as held:
        return {name: held[name] for name in held.files}


@cache
def _rows(dataset: str):
    held = scipy.io.loadmat(SHARED / "data" / "lsokl-mat" / f"{dataset}.mat")
    matrix = held["data"].astype(np.float64)
    return np.ascontiguousarray(matrix[:, 1:]), matrix[:, 0]
