"""Budgeted passive-aggressive learning with projection."""

from __future__ import annotations

import numpy as np

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.lanes import aligned, padded
from okbench.learners.compiled.losses import AGGRESSIVE
from okbench.learners.compiled.rules.bpa_projection import Neighbours, learn_bpann, learn_bpap
from okbench.learners.compiled.rules.bpas import AggressiveRule
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


class BudgetedPassiveAggressive(BudgetedLearner):
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

    def rule(self, problem: Problem) -> AggressiveRule:
        return AggressiveRule(
            budget=self.budget,
            loss=AGGRESSIVE,
            epsilon=0.0,
            sharpness=self.sharpness,
            aggressiveness=float(self.aggressiveness),
            guard=float(self.guard),
        )


@learner("BPA-P", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPAP(BudgetedPassiveAggressive):
    """Passive-aggressive; projects what it removes onto all others (Wang and Vucetic 2010).

    The support leaves whose removal, so mended, changes the model least; the new row stays.
    aggressiveness is the longest step. A row whose squared residual off the supports is below
    guard does not join: it is projected onto them at once, which is what removing its double
    would come to.
    """

    def memory(self, problem: Problem) -> FloatArray:
        slots = self.budget + 1
        return aligned(slots, padded(slots))  # root of the inverse Gram matrix, oldest first

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        root = model.memory
        rows = aligned(3, root.shape[1])
        return learn_bpap(stream, first, model.supports, model.size, self._rule, root, rows, work)


@learner("BPA-NN", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPANN(BudgetedPassiveAggressive):
    """Passive-aggressive; projects what it removes onto two neighbours (Wang and Vucetic 2010).

    They are the new row and the support nearest to the removed one, which is chosen as in BPA-P.
    aggressiveness is the longest step. A neighbour that is the new row but for less than guard
    takes nothing over. Supports are listed in the order of their slots, in which a new one takes
    the place of the one it replaces.
    """

    def memory(self, problem: Problem) -> Neighbours:
        return Neighbours(np.zeros(self.budget, dtype=np.int64), np.zeros(self.budget))

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        return learn_bpann(
            stream, first, model.supports, model.size, self._rule, model.memory, work
        )
