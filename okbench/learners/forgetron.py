"""The Forgetron."""

from __future__ import annotations

import numpy as np

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.losses import NOT_POSITIVE
from okbench.learners.compiled.rules.forgetron import ForgetronRule, learn_forgetron
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import FloatArray, Problem, Task
from okbench.learners.registry import learner
from okbench.learners.settings import check_choice


@learner("Forgetron", paper="lsokl", version=1)
class Forgetron(BudgetedLearner):
    """Perceptron that shrinks its supports so that it can drop the oldest (Dekel et al. 2005).

    root: which root of the shrinking equation is taken where the two lie on either side of 1.
    "reference" is the authors' code, which takes the larger and so inflates; "correct" shrinks.
    """

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        step: float = 1.0,
        epsilon: float = 0.1,
        root: str = "reference",
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.epsilon = epsilon
        self.root = root

    def loss(self, task: Task) -> int:
        # In the reference a positive row with a score of exactly 0 joins, though it is no mistake.
        return NOT_POSITIVE if task == "binary" else super().loss(task)

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()
        check_choice(self, "root", ("reference", "correct"))

    def rule(self, problem: Problem) -> ForgetronRule:
        return ForgetronRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            sharpness=self.sharpness,
            step=float(self.step),
            larger_root=self.root == "reference",
        )

    def memory(self, problem: Problem) -> FloatArray:
        return np.zeros(2)  # the damage so far, and the mistakes

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        return learn_forgetron(
            stream, first, model.supports, model.size, self._rule, model.memory, work
        )
