"""Budgeted stochastic gradient descent."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from okbench.learners.compiled.lanes import Entries, aligned
from okbench.learners.compiled.rules.bsgd import Room, Rule, learn_rows
from okbench.learners.compiled.rules.merging import TILE_SIZE, placed
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.pegasos import Pegasos
from okbench.learners.registry import learner
from okbench.learners.settings import check_choice


class BSGD(Pegasos):
    """Pegasos on a budget. A subclass says how the budget is kept.

    The first row has weight 1. Where coefficients are equal, the oldest counts as the smallest.
    """

    merges: ClassVar[bool]

    @property
    def _factor(self) -> float:
        return 1.0 / (self._rule.decay * self._seen) if self._seen else 0.0

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        looks_up = self._looks_up()
        self._rule = Rule(self.budget, float(self.decay), self.sharpness, self.merges, looks_up)
        lanes = self._vectors.coefficients.shape[1]
        self._partners = Room(
            tile=aligned(TILE_SIZE),
            table=placed() if looks_up else np.empty(0),
            values=aligned(problem.n_features),
            columns=np.zeros(problem.n_features, dtype=np.int32),
            log_kernels=aligned(1, lanes),
            losses=aligned(lanes),
            places=aligned(lanes),
        )

    def _looks_up(self) -> bool:
        return False

    def _advance(
        self, rows: Entries, targets: FloatArray, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int]:
        return learn_rows(
            rows, targets, self._seen, self._vectors, self._size, self._rule,
            self._partners, kernel, scores,
        )  # fmt: skip


@learner("BSGD-M", paper="rrf", version=1, tasks=("binary", "multiclass"))
class BSGDMerging(BSGD):
    """Pegasos that merges two vectors when it is full (Wang, Crammer and Vucetic 2012).

    The best place of a merged vector is searched by golden section, or read off a table (`search`).
    """

    merges = True

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        decay: float = 1e-4,
        search: str = "golden",
    ) -> None:
        self.budget = budget
        self.width = width
        self.decay = decay
        self.search = search

    def check_settings(self) -> None:
        super().check_settings()
        check_choice(self, "search", ("golden", "table"))

    def _looks_up(self) -> bool:
        return self.search == "table"


@learner("BSGD-R", paper="rrf", version=1, tasks=("binary", "multiclass"))
class BSGDRemoval(BSGD):
    """Pegasos that removes the vector with the smallest coefficients when it is full."""

    merges = False

    def __init__(self, budget: int = 100, width: float = 8.0, decay: float = 1e-4) -> None:
        self.budget = budget
        self.width = width
        self.decay = decay
