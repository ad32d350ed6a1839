"""Online gradient descent with a kernel."""

from __future__ import annotations

from okbench.learners.compiled.losses import HINGE, RESIDUAL
from okbench.learners.expansion import Expansion
from okbench.learners.registry import learner


@learner("OGD", paper="lsokl", version=1)
class OGD(Expansion):
    """Online gradient descent on the hinge or squared loss, unbounded (Kivinen et al. 2004)."""

    classification_loss = HINGE
    regression_loss = RESIDUAL

    def __init__(self, width: float = 8.0, step: float = 0.2, epsilon: float = 0.1) -> None:
        self.width = width
        self.step = step
        self.epsilon = epsilon
