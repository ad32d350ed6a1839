"""Budgeted passive-aggressive learning, its simple variant."""

from __future__ import annotations

from okbench.learners.budget_base import Slotted
from okbench.learners.compiled.lanes import Entries, aligned, padded
from okbench.learners.compiled.rules.bpas import Aggression, walk
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("BPA-S", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPAS(Slotted):
    """Passive-aggressive learner that replaces the support it costs least (Wang and Vucetic 2010).

    aggressiveness is the longest step. Supports are told in the order of their slots, in which a
    new one takes the place of the one it replaces.
    """

    def __init__(self, budget: int = 100, width: float = 8.0, aggressiveness: float = 1.0) -> None:
        self.budget = budget
        self.width = width
        self.aggressiveness = aggressiveness

    def check_settings(self) -> None:
        super().check_settings()
        check_number(self, "aggressiveness", above=0.0)

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._sums = aligned(5, padded(self.budget))  # what choosing a slot adds up
        self._aggression = Aggression(self.budget, self.sharpness, float(self.aggressiveness))

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        return walk(
            rows, targets, first, self._position, self._supports, self._size, self._aggression,
            self._sums, scores, kernel,
        )  # fmt: skip
