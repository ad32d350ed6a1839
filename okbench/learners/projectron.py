"""The Projectrons."""

from __future__ import annotations

from typing import ClassVar

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.lanes import aligned, padded
from okbench.learners.compiled.rules.projectron import Gram, ProjectronRule, learn_projectron
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("Projectron", paper="lsokl", version=1)
class Projectron(BudgetedLearner):
    """Perceptron that projects mistakes onto its supports when full (Orabona et al. 2009).

    As in the authors' code, every mistake joins until the budget is full, however dependent.

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

    def rule(self, problem: Problem) -> ProjectronRule:
        return ProjectronRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            sharpness=self.sharpness,
            step=float(self.step),
            guard=float(self.guard),
            on_margin=self.on_margin,
            exact_norm=problem.n_columns == 1,
        )

    def memory(self, problem: Problem) -> Gram:
        shape = self.budget, padded(self.budget)
        return Gram(aligned(*shape), aligned(*shape))

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        projection = aligned(1, padded(self._rule.budget))
        return learn_projectron(
            stream, first, model.supports, model.size, self._rule, model.memory, projection, work
        )


@learner("Projectron++", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class ProjectronPP(Projectron):
    """Projectron that also learns from correct rows inside the margin (Orabona et al. 2009)."""

    on_margin = True
