"""Online regression with several kernels."""

from __future__ import annotations

from collections.abc import Sequence

from okbench.learners.compiled.losses import RESIDUAL
from okbench.learners.compiled.rules.omkl import DictionaryRule
from okbench.learners.contract import Problem
from okbench.learners.many_kernels.dictionary import WIDTHS
from okbench.learners.many_kernels.expansions import KernelExpansions, check_discount, discounted
from okbench.learners.registry import learner


@learner("OMKR", paper="raker", version=1, tasks=("regression",))
class OMKR(KernelExpansions):
    """Kernel regressors that move by step · residual, combined by Hedge (Sahoo et al. 2014).

    A kernel's weight is multiplied by discount^(squared error) at every row that it learns.
    `update` and `combination` may be sampled by the weights, and `budget` keeps the last rows only.
    """

    def __init__(
        self,
        widths: Sequence[float] = WIDTHS,
        kernels: Sequence[str] = ("gaussian",),
        step: float = 0.2,
        discount: float = 0.5,
        update: str = "all",
        combination: str = "weighted",
        smoothing: float = 0.01,
        budget: int | None = None,
    ) -> None:
        self.widths = widths
        self.kernels = kernels
        self.step = step
        self.discount = discount
        self.update = update
        self.combination = combination
        self.smoothing = smoothing
        self.budget = budget

    def check_settings(self) -> None:
        super().check_settings()
        check_discount(self)

    def rule(self, problem: Problem) -> DictionaryRule:
        return self._rule_of(RESIDUAL, self.step, 1.0, discounted(self.discount))
