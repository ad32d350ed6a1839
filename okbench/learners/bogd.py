"""Budgeted online gradient descent."""

from __future__ import annotations

import math

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.losses import HINGE, HINGE_CLOSED, RESIDUAL
from okbench.learners.compiled.rules.bogd import BOGDRule, learn_bogd
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import Problem, SettingsError, Task
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("BOGD", paper="lsokl", version=1)
class BOGD(BudgetedLearner):
    """Online gradient descent with decay that removes a support when full (Zhao et al. 2012).

    The authors' code differs by task. For two classes it removes at random, scales the others up by
    B / (B - 1) and rescales them to stay within clip × step; for more classes it removes the oldest
    and cuts coefficients off from above; for regression it removes the oldest and does not clip. By
    default decay and clip are what that code takes: 1/n² and 10; 1e-5 and none; 0.03.
    """

    classification_loss = HINGE
    regression_loss = RESIDUAL

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        step: float = 0.2,
        decay: float | None = None,
        clip: float | None = None,
        epsilon: float = 0.1,
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.decay = decay
        self.clip = clip
        self.epsilon = epsilon

    def loss(self, task: Task) -> int:
        return HINGE_CLOSED if task == "binary" else super().loss(task)

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()
        if self.decay is not None:
            check_number(self, "decay", at_least=0.0)
        if self.clip is not None:
            check_number(self, "clip", above=0.0)

    def rule(self, problem: Problem) -> BOGDRule:
        rule = BOGDRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            sharpness=self.sharpness,
            step=float(self.step),
            keep=float(1.0 - self.step * self._decay(problem)),
        )
        if problem.task == "regression":
            return rule
        if problem.task == "multiclass":
            ceiling = math.inf if self.clip is None else float(self.clip * self.step)
            return rule._replace(ceiling=ceiling, cuts_off=True)
        return rule._replace(
            at_random=True,
            # with a budget of one nothing is left to scale up
            growth=self.budget / (self.budget - 1) if self.budget > 1 else 1.0,
            ceiling=float((10.0 if self.clip is None else self.clip) * self.step),
        )

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        n_uniforms = len(stream.targets) - first if self._rule.at_random else 0
        uniforms = self.draws.look_ahead(n_uniforms)
        reason, learned, size, updates, drawn = learn_bogd(
            stream, first, model.supports, model.size, self._rule, uniforms, work
        )
        self.draws.use_up(drawn)
        return reason, learned, size, updates

    def _decay(self, problem: Problem) -> float:
        if self.decay is not None:
            return self.decay
        if problem.task != "binary":
            return 1e-5 if problem.task == "multiclass" else 0.03
        if problem.n_rows is None:
            raise SettingsError(
                f"{self.name}: decay is 1/n² unless it is given, and the number of rows n is not "
                "known; set decay, or begin(Problem(..., n_rows=n))"
            )
        return 1.0 / problem.n_rows**2
