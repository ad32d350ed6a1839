"""Kernel expansions whose supports live in a fixed number of slots."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.learners.compiled.lanes import Entries, aligned, kernel_rows
from okbench.learners.compiled.rules.budget import CROWDED, UNDRAWN, Supports
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.kernel import KernelLearner
from okbench.learners.rows import Block
from okbench.learners.settings import check_whole


class Slotted(KernelLearner):
    """A kernel expansion of at most `budget` supports. A subclass says how rows are learned."""

    budget: int

    _supports: Supports
    _size: int = 0

    @property
    def support_size(self) -> int:
        return self._size

    @property
    def coefficients(self) -> FloatArray:
        self._begun()
        return self._supports.coefficients[:, self._slots]

    @property
    def support_rows(self) -> NDArray[np.int64]:
        self._begun()
        return self._supports.rows[self._slots]

    def kernel(self, block: Block) -> FloatArray:
        """Kernel of rows and supports: rows × supports, oldest first."""
        return self._against_supports(Entries.of(block))[:, self._slots]

    def support_kernel(self) -> FloatArray:
        """The Gram matrix of the supports, oldest first."""
        values = self._against_supports(self._supports.entries)
        return values[np.ix_(self._slots, self._slots)]

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "budget", at_least=1)

    @property
    def _slots(self) -> NDArray[np.int32]:
        return self._supports.order[: self._size]

    def _against_supports(self, rows: Entries) -> FloatArray:
        values = aligned(len(rows.starts), self._supports.coefficients.shape[1])
        kernel_rows(rows, self._supports.lanes, self.sharpness, values)
        return values

    def _clear(self, problem: Problem) -> None:
        self._supports = Supports.empty(problem.n_features, problem.n_columns, self.budget)
        self._size = 0

    def _learn_rows(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        self._walk(block, targets, scores)

    def _walk(self, block: Block, targets: FloatArray, scores: FloatArray) -> int:
        """Learn rows in order and fill in their scores; how many were learned."""
        rows = Entries.of(block)
        widest = int((rows.stops - rows.starts).max(initial=0))
        self._supports = self._supports.with_room_for(widest)
        kernel = aligned(1, self._supports.coefficients.shape[1])
        learned, reason = 0, CROWDED
        while reason == CROWDED:
            reason, learned, self._size, updates = self._advance(
                rows, targets, learned, scores, kernel
            )
            self.updates += updates
            if reason == CROWDED:
                self._supports = self._supports.widened(widest)
        if reason == UNDRAWN:
            raise DataError(f"{self.name}: the recorded draws end before row {learned}'s removal")
        return learned

    @abstractmethod
    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        """Learn from row `first` on: (why it ended, rows learned up to, size, updates)."""

    def _scores(self, block: Block) -> FloatArray:
        return self.kernel(block) @ self.coefficients.T
