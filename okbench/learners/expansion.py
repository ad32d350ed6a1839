"""Kernel expansions that keep every support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from okbench.learners.compiled.lanes import Entries, Lanes, aligned
from okbench.learners.compiled.rules.expansion import BLOCK, Expanding, Motion, ask, learn
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.kernel import KernelLearner
from okbench.learners.rows import Block

ROOM = 1024  # rows that could all join before the arrays of supports are looked at again


class Expansion(KernelLearner):
    """A kernel expansion without a bound: every row that changes the model stays in it."""

    _supports: Expanding
    _size: int = 0
    _lanes: Lanes

    @property
    def support_size(self) -> int:
        return self._size

    @property
    def coefficients(self) -> FloatArray:
        table = np.zeros((self._begun().n_columns, self._size))
        gains = self._state[1] * self._supports.gains[: self._size]
        places = np.arange(self._size)
        table[self._supports.plus[places], places] = gains
        paired = np.flatnonzero(self._supports.minus[places] >= 0)
        table[self._supports.minus[paired], paired] = -gains[paired]
        return table

    @property
    def support_rows(self) -> NDArray[np.int64]:
        self._begun()
        return self._supports.rows[: self._size]

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()

    def motion(self, problem: Problem) -> Motion:
        """The learner in numbers."""
        return Motion(self.loss(problem.task), float(self.step), self.sharpness)

    def _clear(self, problem: Problem) -> None:
        self._motion = self.motion(problem)
        self._supports = Expanding.empty()
        self._size = 0
        self._state = np.array([self.epsilon, 1.0])  # silent tube, common factor of coefficients
        self._lanes, self._inner, self._sums = self._work(problem)

    def _learn_rows(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        rows = Entries.of(block)
        before = self._size
        for first in range(0, len(block), ROOM):
            last = min(first + ROOM, len(block))
            self._lanes = _room_for(rows, first, last, self._lanes)
            self._supports = self._supports.with_room_for(self._size, rows, first, last)
            self._size = learn(
                rows, first, last, targets, self._position, self._supports, self._size,
                self._lanes, self._motion, self._state, self._inner, self._sums, scores,
            )  # fmt: skip
        self.updates += self._size - before

    def _scores(self, block: Block) -> FloatArray:
        rows = Entries.of(block)
        lanes, inner, sums = self._work(self._begun())  # its own: many may ask at once
        lanes = _room_for(rows, 0, len(block), lanes)
        scores = np.empty((len(block), len(sums)))
        ask(
            rows, self._supports, self._size, lanes, self.sharpness, self._state, inner, sums,
            scores,
        )  # fmt: skip
        return scores

    @staticmethod
    def _work(problem: Problem) -> tuple[Lanes, FloatArray, FloatArray]:
        """Lanes for a block of rows, their inner products with a support, their sums."""
        lanes = Lanes.empty(problem.n_features, BLOCK, n_rows=1024)
        return lanes, aligned(4, BLOCK), aligned(problem.n_columns, BLOCK)


def _room_for(rows: Entries, first: int, last: int, lanes: Lanes) -> Lanes:
    """Lanes that any block of rows[first:last], cut from `first` on, can be together."""
    n_entries = max(
        (
            int(rows.stops[min(start + BLOCK, last) - 1] - rows.starts[start])
            for start in range(first, last, BLOCK)
        ),
        default=0,
    )
    return lanes if lanes.has_room_for(n_entries) else lanes.widened(n_entries)
