"""The kernel Perceptron."""

from __future__ import annotations

from okbench.learners.expansion import Expansion
from okbench.learners.registry import learner


@learner("Perceptron", paper="lsokl", version=1)
class Perceptron(Expansion):
    """Every mistake joins the expansion (Freund and Schapire 1999)."""

    def __init__(self, width: float = 8.0, step: float = 1.0, epsilon: float = 0.1) -> None:
        self.width = width
        self.step = step
        self.epsilon = epsilon
