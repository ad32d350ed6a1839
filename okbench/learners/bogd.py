"""Budgeted online gradient descent."""

from __future__ import annotations

import math

from okbench.base.errors import UsageError
from okbench.learners.budgeted import Budgeted
from okbench.learners.compiled.losses import HINGE, HINGE_CLOSED, RESIDUAL
from okbench.learners.compiled.rules.budget import REMOVE_AT_RANDOM, REMOVE_OLDEST, Rule
from okbench.learners.contract import Problem, Task
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("BOGD", paper="lsokl", version=1)
class BOGD(Budgeted):
    """Online gradient descent with decay that removes a support when full (Zhao et al. 2012).

    The authors' code differs by task. For two classes it removes at random, scales the others up by
    B / (B - 1) and rescales them to stay within clip × step; for more classes it removes the oldest
    and cuts coefficients off from above; for regression it removes the oldest and does not clip. By
    default decay and clip are what that code takes: 1/n² and 10; 1e-5 and none; 0.03.
    """

    classification_loss = HINGE
    regression_loss = RESIDUAL
    overflow = REMOVE_OLDEST

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
        if self.decay is not None:
            check_number(self, "decay", at_least=0.0)
        if self.clip is not None:
            check_number(self, "clip", above=0.0)

    def rule(self, problem: Problem) -> Rule:
        decaying = super().rule(problem)._replace(keep=1.0 - self.step * self._decay(problem))
        if problem.task == "regression":
            return decaying
        clip = self.clip
        if problem.task == "multiclass":
            return decaying._replace(ceiling=math.inf if clip is None else clip * self.step)
        return decaying._replace(
            overflow=REMOVE_AT_RANDOM,
            # with a budget of one nothing is left to scale up
            growth=self.budget / (self.budget - 1) if self.budget > 1 else 1.0,
            ceiling=(10.0 if clip is None else clip) * self.step,
        )

    def _decay(self, problem: Problem) -> float:
        if self.decay is not None:
            return self.decay
        if problem.task != "binary":
            return 1e-5 if problem.task == "multiclass" else 0.03
        if problem.n_rows is None:
            raise UsageError(
                f"{self.name}: decay is 1/n² unless it is given, and the number of rows n is not "
                "known; set decay, or begin(Problem(..., n_rows=n))"
            )
        return 1.0 / problem.n_rows**2
