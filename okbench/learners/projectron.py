"""The Projectrons."""

from __future__ import annotations

from typing import ClassVar

from okbench.learners.budget_base import Slotted
from okbench.learners.compiled.lanes import Entries, aligned, padded
from okbench.learners.compiled.rules.projectron import Projecting, walk
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("Projectron", paper="lsokl", version=1)
class Projectron(Slotted):
    """Perceptron that projects mistakes onto its supports once the budget is full (Orabona et al.
    2009), as in the authors' code: while there is room every mistake joins, however dependent.

    guard: a mistake whose residual is below it is projected even so. 0 turns it off, as in the
    authors' code, where repeated rows then make the inverse Gram matrix explode; 1e-10 prevents it.
    A residual of exactly 0, which that code divides by, is projected in any case.
    """

    on_margin: ClassVar[bool] = False

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        step: float = 1.0,
        epsilon: float = 0.1,
        guard: float = 0.0,
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.epsilon = epsilon
        self.guard = guard

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()
        check_number(self, "guard", at_least=0.0)

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._projecting = Projecting(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            step=float(self.step),
            sharpness=self.sharpness,
            guard=float(self.guard),
            on_margin=self.on_margin,
            exact_norm=problem.n_columns == 1,
        )
        self._inverse = aligned(self.budget, padded(self.budget))
        self._gram = aligned(self.budget, padded(self.budget))
        self._projection = aligned(1, padded(self.budget))

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        return walk(
            rows, targets, first, self._position, self._supports, self._size, self._projecting,
            self._inverse, self._gram, self._projection, scores, kernel,
        )  # fmt: skip


@learner("Projectron++", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class ProjectronPP(Projectron):
    """Projectron that also learns from correct rows inside the margin (Orabona et al. 2009)."""

    on_margin = True
