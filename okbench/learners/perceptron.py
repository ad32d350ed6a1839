"""The kernel Perceptron."""

from __future__ import annotations

from okbench.learners.expansion import Expansion
from okbench.learners.registry import learner


@learner("Perceptron", paper="lsokl", version=1)
class Perceptron(Expansion):
    """Every mistake joins the expansion (Freund and Schapire 1999)."""
