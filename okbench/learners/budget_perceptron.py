"""The Budget Perceptron."""

from __future__ import annotations

import numpy as np

from okbench.learners.budget_base import Slotted
from okbench.learners.compiled.lanes import Entries, aligned, padded
from okbench.learners.compiled.rules.budget_perceptron import Keeping, walk
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("BudgetPerceptron", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BudgetPerceptron(Slotted):
    """Perceptron that removes the support the others classify best (Crammer et al. 2003).

    Rows join whose margin is at most `margin`. When full, the support leaves whose margin without
    its own coefficients is the largest, the oldest of equals; the new row is not among the
    candidates and does not yet count in the margins. With several classes the margin is the lead
    of the own class over the best other one.
    """

    def __init__(
        self, budget: int = 100, width: float = 8.0, step: float = 1.0, margin: float = 0.0
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.margin = margin

    def check_settings(self) -> None:
        super().check_settings()
        check_number(self, "step", above=0.0)
        check_number(self, "margin", at_least=0.0)

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._keeping = Keeping(self.budget, float(self.margin), float(self.step), self.sharpness)
        width = padded(self.budget + 1)
        self._labels = np.zeros(width)
        self._reached = aligned(problem.n_columns, width)  # scores at the supports
        self._other = aligned(1, width)

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        return walk(
            rows, targets, first, self._position, self._supports, self._size, self._keeping,
            self._labels, self._reached, self._other, scores, kernel,
        )  # fmt: skip
