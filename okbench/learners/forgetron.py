"""The Forgetron."""

from __future__ import annotations

from okbench.learners.budgeted import Budgeted
from okbench.learners.compiled.losses import NOT_POSITIVE
from okbench.learners.compiled.rules.budget import SHRINK_AND_REMOVE_OLDEST, Rule
from okbench.learners.contract import Problem, Task
from okbench.learners.registry import learner
from okbench.learners.settings import check_choice


@learner("Forgetron", paper="lsokl", version=1)
class Forgetron(Budgeted):
    """Perceptron that shrinks its supports so that it can drop the oldest (Dekel et al. 2005).

    root: which root of the shrinking equation is taken where the two lie on either side of 1.
    "reference" is the authors' code, which takes the larger and so inflates; "correct" shrinks.
    """

    overflow = SHRINK_AND_REMOVE_OLDEST

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        step: float = 1.0,
        epsilon: float = 0.1,
        root: str = "reference",
    ) -> None:
        self.budget = budget
        self.width = width
        self.step = step
        self.epsilon = epsilon
        self.root = root

    def loss(self, task: Task) -> int:
        # In the reference a positive row with a score of exactly 0 joins, though it is no mistake.
        return NOT_POSITIVE if task == "binary" else super().loss(task)

    def check_settings(self) -> None:
        super().check_settings()
        check_choice(self, "root", ("reference", "correct"))

    def rule(self, problem: Problem) -> Rule:
        return super().rule(problem)._replace(larger_root=self.root == "reference")
