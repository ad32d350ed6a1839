"""The randomized budget Perceptron."""

from __future__ import annotations

from okbench.learners.budgeted import Budgeted
from okbench.learners.compiled.rules.budget import REMOVE_AT_RANDOM
from okbench.learners.registry import learner


@learner("RBP", paper="lsokl", version=1)
class RBP(Budgeted):
    """Perceptron that removes a support at random when full (Cavallanti et al. 2007)."""

    overflow = REMOVE_AT_RANDOM

    def __init__(
        self, budget: int = 100, width: float = 8.0, step: float = 1.0, epsilon: float = 0.1
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.epsilon = epsilon
