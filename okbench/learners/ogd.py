"""Online gradient descent with a kernel."""

from __future__ import annotations

from okbench.learners.expansion import Expansion
from okbench.learners.numeric.losses import HINGE, RESIDUAL
from okbench.learners.registry import learner
from okbench.learners.settings import default


@learner("OGD", paper="lsokl", version=1)
class OGD(Expansion):
    """Online gradient descent on the hinge or squared loss, unbounded (Kivinen et al. 2004)."""

    step = default(0.2)

    classification_loss = HINGE
    regression_loss = RESIDUAL
