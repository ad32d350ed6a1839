"""Random features of several kernels with exponential weights."""

from __future__ import annotations

import numpy as np

from okbench.learners.contract import Problem
from okbench.learners.many_kernels.instances import Instances, loss_code
from okbench.learners.numeric.losses import RESIDUAL
from okbench.learners.numeric.rules.raker import InstanceRule
from okbench.learners.registry import learner
from okbench.learners.settings import Number

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

    weight_step = Number[float | None](
        None, at_least=0.0, meaning="step of the weights of the kernels"
    )

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
