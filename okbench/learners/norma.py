"""NORMA for regression."""

from __future__ import annotations

from okbench.learners.compiled.expansion import Motion
from okbench.learners.contract import Problem
from okbench.learners.expansion import Expansion
from okbench.learners.registry import learner
from okbench.learners.settings import check_number


@learner("Norma", paper="lsokl", version=1, tasks=("regression",))
class Norma(Expansion):
    """Decaying expansion whose silent tube adapts to leave out a share (Kivinen et al. 2004).

    epsilon is the half-width the tube begins with. Rows outside it widen it by (1 - nu) step, the
    others narrow it by nu step, if need be below 0.
    """

    def __init__(
        self,
        width: float = 8.0,
        step: float = 0.03,
        decay: float = 0.03,
        nu: float = 0.4,
        epsilon: float = 0.1,
    ) -> None:
        self.width = width
        self.step = step
        self.decay = decay
        self.nu = nu
        self.epsilon = epsilon

    def check_settings(self) -> None:
        super().check_settings()
        check_number(self, "decay", at_least=0.0)
        check_number(self, "nu", at_least=0.0)

    def motion(self, problem: Problem) -> Motion:
        return (
            super()
            .motion(problem)
            ._replace(
                keep=1.0 - self.decay * self.step,
                widening=(1.0 - self.nu) * self.step,
                narrowing=self.nu * self.step,
            )
        )
