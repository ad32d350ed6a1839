"""Kernel expansions that remove a support when another must join and the budget is full."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from okbench.learners.budget_base import Slotted
from okbench.learners.compiled.lanes import Entries
from okbench.learners.compiled.rules.budget import REMOVE_AT_RANDOM, Rule, walk
from okbench.learners.contract import FloatArray, Problem


class Budgeted(Slotted):
    """A kernel expansion held to its budget by a code of `compiled.budget`.

    With STOP, `_walk` ends before the row that would exceed it; its scores are there already.
    """

    overflow: ClassVar[int]

    def rule(self, problem: Problem) -> Rule:
        """The learner in numbers."""
        return Rule(
            budget=self.budget,
            overflow=self.overflow,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            step=float(self.step),
            sharpness=self.sharpness,
        )

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._rule = self.rule(problem)
        self._shrunk = np.zeros(2)  # what a shrinking rule remembers

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        random = self._rule.overflow == REMOVE_AT_RANDOM
        uniforms = self.draws.look_ahead(len(targets) - first if random else 0)
        reason, learned, size, updates, drawn = walk(
            rows, targets, first, self._position, self._supports, self._size, self._rule,
            self._shrunk, uniforms, scores, kernel,
        )  # fmt: skip
        self.draws.use_up(drawn)
        return reason, learned, size, updates
