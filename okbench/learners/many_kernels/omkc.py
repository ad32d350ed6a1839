"""Online classification with several kernels."""

from __future__ import annotations

from okbench.learners.contract import Problem
from okbench.learners.many_kernels.expansions import KernelExpansions, discounted
from okbench.learners.numeric.losses import MISTAKE
from okbench.learners.numeric.rules.omkl import DictionaryRule
from okbench.learners.registry import learner
from okbench.learners.settings import Number, default


@learner("OMKC", paper="raker", version=1, tasks=("binary",))
class OMKC(KernelExpansions):
    """Kernel Perceptrons, each moved by its own mistakes, combined by Hedge (Hoi et al. 2013).

    A kernel's weight is multiplied by `discount` at every mistake of its own. `update` and
    `combination` may be sampled by the weights (deterministic and stochastic in the paper), and
    `budget` keeps the last rows only.
    """

    step = default(1.0)
    discount = Number(0.99, above=0.0, at_most=1.0, meaning="factor of a weight per unit of loss")

    def rule(self, problem: Problem) -> DictionaryRule:
        return self._rule_of(MISTAKE, self.step, 1.0, discounted(self.discount))
