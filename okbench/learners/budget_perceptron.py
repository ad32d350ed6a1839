"""The Budget Perceptron."""

from __future__ import annotations

import numpy as np

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.lanes import aligned, padded
from okbench.learners.compiled.losses import NOT_POSITIVE
from okbench.learners.compiled.rules.budget_perceptron import (
    BudgetPerceptronRule,
    Margins,
    learn_budget_perceptron,
)
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("BudgetPerceptron", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BudgetPerceptron(BudgetedLearner):
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

    def rule(self, problem: Problem) -> BudgetPerceptronRule:
        return BudgetPerceptronRule(
            budget=self.budget,
            loss=NOT_POSITIVE,
            epsilon=0.0,
            sharpness=self.sharpness,
            step=float(self.step),
            margin=float(self.margin),
        )

    def memory(self, problem: Problem) -> Margins:
        width = padded(self.budget + 1)
        return Margins(np.zeros(width), aligned(problem.n_columns, width))

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        return learn_budget_perceptron(
            stream, first, model.supports, model.size, self._rule, model.memory, work
        )
