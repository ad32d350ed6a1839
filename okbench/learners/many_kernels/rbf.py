"""A single kernel with all its rows."""

from __future__ import annotations

from okbench.learners.contract import Problem
from okbench.learners.expansion import Expansion
from okbench.learners.many_kernels.expansions import check_shrinking
from okbench.learners.numeric.expansion import Motion
from okbench.learners.numeric.losses import LOGISTIC, RESIDUAL
from okbench.learners.registry import learner
from okbench.learners.settings import Number, default


@learner("RBF", paper="raker", version=1)
class RBF(Expansion):
    """A single Gaussian kernel by gradient descent, without a bound (Shen et al. 2018, section 4).

    Every row becomes a support vector: the model moves by `step` along the gradient of the squared
    loss (y - f)² or of the logistic loss, and its coefficients shrink by 1 - step · decay.
    `epsilon` is the residual up to which nothing is learned in regression. The same on random
    features is Raker with a single width.
    """

    width = default(1.0)
    step = default(0.5)
    epsilon = default(0.0)
    decay = Number(0.01, at_least=0.0, meaning="strength of the regulariser (λ)")

    classification_loss = LOGISTIC
    regression_loss = RESIDUAL

    def check_settings(self) -> None:
        super().check_settings()
        check_shrinking(self)

    def motion(self, problem: Problem) -> Motion:
        motion = super().motion(problem)
        factor = 2.0 if problem.task == "regression" else 1.0
        return motion._replace(step=factor * motion.step, keep=1.0 - self.step * self.decay)
