"""A single kernel with all its rows."""

from __future__ import annotations

from okbench.learners.compiled.expansion import Motion
from okbench.learners.compiled.losses import LOGISTIC, RESIDUAL
from okbench.learners.contract import Problem
from okbench.learners.expansion import Expansion
from okbench.learners.many_kernels.expansions import check_shrinking
from okbench.learners.registry import learner


@learner("RBF", paper="raker", version=1)
class RBF(Expansion):
    """A single Gaussian kernel by gradient descent, without a bound (Shen et al. 2018, section 4).

    Every row becomes a support vector: the model moves by `step` along the gradient of the squared
    loss (y - f)² or of the logistic loss, and its coefficients shrink by 1 - step · decay.
    `epsilon` is the residual up to which nothing is learned in regression. The same on random
    features is Raker with a single width.
    """

    classification_loss = LOGISTIC
    regression_loss = RESIDUAL

    def __init__(
        self, width: float = 1.0, step: float = 0.5, decay: float = 0.01, epsilon: float = 0.0
    ) -> None:
        self.width = width
        self.step = step
        self.decay = decay
        self.epsilon = epsilon

    def check_settings(self) -> None:
        super().check_settings()
        check_shrinking(self)

    def motion(self, problem: Problem) -> Motion:
        motion = super().motion(problem)
        factor = 2.0 if problem.task == "regression" else 1.0
        return motion._replace(step=factor * motion.step, keep=1.0 - self.step * self.decay)
