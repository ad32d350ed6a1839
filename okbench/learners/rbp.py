"""The randomized budget Perceptron."""

from __future__ import annotations

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.rules.rbp import RBPRule, learn_rbp
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import Problem
from okbench.learners.registry import learner


@learner("RBP", paper="lsokl", version=1)
class RBP(BudgetedLearner):
    """Perceptron that removes a support at random when full (Cavallanti et al. 2007)."""

    def __init__(
        self, budget: int = 100, width: float = 8.0, step: float = 1.0, epsilon: float = 0.1
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.epsilon = epsilon

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()

    def rule(self, problem: Problem) -> RBPRule:
        return RBPRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            sharpness=self.sharpness,
            step=float(self.step),
        )

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        uniforms = self.draws.look_ahead(len(stream.targets) - first)
        reason, learned, size, updates, drawn = learn_rbp(
            stream, first, model.supports, model.size, self._rule, uniforms, work
        )
        self.draws.use_up(drawn)
        return reason, learned, size, updates
