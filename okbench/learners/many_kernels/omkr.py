"""Online regression with several kernels."""

from __future__ import annotations

from okbench.learners.contract import Problem
from okbench.learners.many_kernels.expansions import KernelExpansions, discounted
from okbench.learners.numeric.losses import RESIDUAL
from okbench.learners.numeric.rules.omkl import DictionaryRule
from okbench.learners.registry import learner
from okbench.learners.settings import Number, default


@learner("OMKR", paper="raker", version=1, tasks=("regression",))
class OMKR(KernelExpansions):
    """Kernel regressors that move by step · residual, combined by Hedge (Sahoo et al. 2014).

    A kernel's weight is multiplied by discount^(squared error) at every row that it learns.
    `update` and `combination` may be sampled by the weights, and `budget` keeps the last rows only.
    """

    step = default(0.2)
    discount = Number(0.5, above=0.0, at_most=1.0, meaning="factor of a weight per unit of loss")

    def rule(self, problem: Problem) -> DictionaryRule:
        return self._rule_of(RESIDUAL, self.step, 1.0, discounted(self.discount))
