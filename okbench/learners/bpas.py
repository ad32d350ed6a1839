"""Budgeted passive-aggressive learning, its simple variant."""

from __future__ import annotations

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.lanes import aligned, padded
from okbench.learners.compiled.losses import AGGRESSIVE
from okbench.learners.compiled.rules.bpas import AggressiveRule, learn_bpas
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("BPA-S", paper="lsokl", version=2, tasks=("binary", "multiclass"))
class BPAS(BudgetedLearner):
    """Passive-aggressive learner that replaces the support it costs least (Wang and Vucetic 2010).

    aggressiveness is the longest step. Supports are listed in the order of their slots, in which a
    new one takes the place of the one it replaces.
    """

    def __init__(self, budget: int = 100, width: float = 8.0, aggressiveness: float = 1.0) -> None:
        self.budget = budget
        self.width = width
        self.aggressiveness = aggressiveness

    def check_settings(self) -> None:
        super().check_settings()
        check_number(self, "aggressiveness", above=0.0)

    def rule(self, problem: Problem) -> AggressiveRule:
        return AggressiveRule(
            budget=self.budget,
            loss=AGGRESSIVE,
            epsilon=0.0,
            sharpness=self.sharpness,
            aggressiveness=float(self.aggressiveness),
        )

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        sums = aligned(5, padded(self._rule.budget))
        return learn_bpas(stream, first, model.supports, model.size, self._rule, sums, work)
