"""Online learning with several kernels: gradient descent on every kernel's expansion."""

from __future__ import annotations

from okbench.learners.contract import Problem
from okbench.learners.many_kernels.expansions import KernelExpansions, check_shrinking
from okbench.learners.numeric.losses import LOGISTIC, RESIDUAL
from okbench.learners.numeric.rules.omkl import DictionaryRule
from okbench.learners.registry import learner
from okbench.learners.settings import Number


@learner("OMKL", paper="raker", version=1, tasks=("binary", "regression"))
class OMKL(KernelExpansions):
    """Kernel expansions of several kernels, weighted exponentially: Raker's exact counterpart.

    Every kernel, one per width, moves by `step` along the gradient of the squared or the logistic
    loss, and its coefficients shrink by 1 - step · decay (Shen et al. 2018, section 2). A kernel's
    weight is exp(-weight_step · its cumulative loss); `weight_step` is `step` if it is not given.
    `update` and `combination` may be sampled by the weights, and `budget` keeps the last rows only.
    """

    weight_step = Number[float | None](
        None, at_least=0.0, meaning="step of the weights of the kernels"
    )
    decay = Number(0.01, at_least=0.0, meaning="strength of the regulariser (λ)")

    def check_settings(self) -> None:
        super().check_settings()
        check_shrinking(self)

    def rule(self, problem: Problem) -> DictionaryRule:
        keep = 1.0 - self.step * self.decay
        weight_step = self.step if self.weight_step is None else self.weight_step
        if problem.task == "regression":  # the derivative of (y - f)² has a factor of 2
            return self._rule_of(RESIDUAL, 2.0 * self.step, keep, weight_step)
        return self._rule_of(LOGISTIC, self.step, keep, weight_step)
