"""Budgeted passive-aggressive learning with projection."""

from __future__ import annotations

import numpy as np

from okbench.learners.budget_base import Slotted
from okbench.learners.compiled.lanes import Entries, aligned, padded
from okbench.learners.compiled.rules.bpa_projection import (
    Absorbing,
    Neighbours,
    walk_neighbouring,
    walk_projecting,
)
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


class BudgetedPassiveAggressive(Slotted):
    """Settings of the passive-aggressive learners that project what they remove."""

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        aggressiveness: float = 1.0,
        guard: float = 1e-10,
    ) -> None:
        self.budget = budget
        self.width = width
        self.aggressiveness = aggressiveness
        self.guard = guard

    def check_settings(self) -> None:
        super().check_settings()
        check_number(self, "aggressiveness", above=0.0)
        check_number(self, "guard", above=0.0)

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._absorbing = Absorbing(
            self.budget, self.sharpness, float(self.aggressiveness), float(self.guard)
        )


@learner("BPA-P", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPAP(BudgetedPassiveAggressive):
    """Passive-aggressive; projects what it removes onto all others (Wang and Vucetic 2010).

    The support leaves whose removal, so mended, changes the model least; the new row stays.
    aggressiveness is the longest step. A row whose squared residual off the supports is below
    guard does not join: it is projected onto them at once, which is what removing its double
    would come to.
    """

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        slots = self.budget + 1
        self._root = aligned(slots, padded(slots))  # of the inverse Gram matrix, oldest first
        self._work = aligned(3, padded(slots))

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        return walk_projecting(
            rows, targets, first, self._position, self._supports, self._size, self._absorbing,
            self._root, self._work, scores, kernel,
        )  # fmt: skip


@learner("BPA-NN", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPANN(BudgetedPassiveAggressive):
    """Passive-aggressive; projects what it removes onto two neighbours (Wang and Vucetic 2010).

    They are the new row and the support nearest to the removed one, which is chosen as in BPA-P.
    aggressiveness is the longest step. A neighbour that is the new row but for less than guard
    takes nothing over. Supports are told in the order of their slots, in which a new one takes the
    place of the one it replaces.
    """

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._neighbours = Neighbours(np.zeros(self.budget, dtype=np.int64), np.zeros(self.budget))
        self._other = aligned(1, padded(self.budget + 1))

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        return walk_neighbouring(
            rows, targets, first, self._position, self._supports, self._size, self._absorbing,
            self._neighbours, self._other, scores, kernel,
        )  # fmt: skip
