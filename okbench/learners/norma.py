"""NORMA for regression."""

from __future__ import annotations

from okbench.learners.contract import Problem
from okbench.learners.expansion import Expansion
from okbench.learners.numeric.expansion import Motion
from okbench.learners.registry import learner
from okbench.learners.settings import Number, default


@learner("Norma", paper="lsokl", version=1, tasks=("regression",))
class Norma(Expansion):
    """Decaying expansion whose silent tube adapts to leave out a share (Kivinen et al. 2004).

    epsilon is the half-width the tube begins with. Rows outside it widen it by (1 - nu) step, the
    others narrow it by nu step, if need be below 0.
    """

    step = default(0.03)
    epsilon = Number(0.1, at_least=0.0, meaning="half-width of the tube at the start")
    decay = Number(0.03, at_least=0.0, meaning="strength of the regulariser (λ)")
    nu = Number(0.4, at_least=0.0, meaning="share of the rows outside the tube (ν)")

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
