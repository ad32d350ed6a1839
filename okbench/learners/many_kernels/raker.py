"""Random features of several kernels with exponential weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from okbench.learners.compiled.losses import RESIDUAL
from okbench.learners.compiled.rules.raker import InstanceRule
from okbench.learners.contract import Problem
from okbench.learners.many_kernels.dictionary import WIDTHS
from okbench.learners.many_kernels.instances import Instances, loss_code
from okbench.learners.registry import learner
from okbench.learners.settings import check_number

RELEASED_PART = 10.0  # the released program divides the step and λ of regression by it


@learner("Raker", paper="raker", version=1, tasks=("binary", "regression"))
class Raker(Instances):
    """Orthogonal random features of several kernels, weighted exponentially (Shen et al. 2018).

    Every kernel, one per width, has a linear model on D = `components` frequencies, which moves by
    `step` along the gradient of the squared or the logistic loss and shrinks by 1 - step · decay. A
    kernel's weight is exp(-weight_step · its cumulative loss); `weight_step` is `step` if it is not
    given. `kernels` names one kernel for all widths or one for each (gaussian, laplacian, cauchy).
    With a single width it is the single kernel on random features. form="released" follows the
    recurrences of the authors' program.
    """

    def __init__(
        self,
        components: int = 50,
        widths: Sequence[float] = WIDTHS,
        kernels: Sequence[str] = ("gaussian",),
        step: float = 0.5,
        weight_step: float | None = None,
        decay: float = 0.01,
        directions: str = "orthogonal",
        form: str = "paper",
    ) -> None:
        self.components = components
        self.widths = widths
        self.kernels = kernels
        self.step = step
        self.weight_step = weight_step
        self.decay = decay
        self.directions = directions
        self.form = form

    def check_settings(self) -> None:
        super().check_settings()
        if self.weight_step is not None:
            check_number(self, "weight_step", at_least=0.0)

    def rule(self, problem: Problem) -> InstanceRule:
        loss, is_released = loss_code(problem), self.form == "released"
        part = RELEASED_PART if is_released and loss == RESIDUAL else 1.0
        weight_step = self.step if self.weight_step is None else self.weight_step
        return InstanceRule(
            loss=loss,
            is_released=is_released,
            is_layered=False,
            components=self.components,
            scale=self._scale,
            lengths=np.ones(1, dtype=np.int64),
            first_weights=np.ones(1),
            steps=np.array([self.step / part]),
            keeps=np.array([1.0 - self.step * self.decay / part]),
            weight_steps=np.array([float(weight_step)]),
        )
