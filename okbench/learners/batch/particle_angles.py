"""The angles of rows under the frequencies of a particle: rows × scales × noise.

Rows are handed over once for all particles (`take`), and each particle then has its angles and the
gradient of its scales from them. Where few values of the rows are not zero, the products skip the
zeros; otherwise they are products of matrices by BLAS, whose last bits depend on the processor.
Which of the two it is depends on the share of values that are not zero, not on how rows are stored.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.compiled.lanes import aligned
from okbench.learners.compiled.rules.bkm import (
    TOGETHER,
    Entries,
    add_inner_products,
    add_sparse_slopes,
    gather,
    n_entries,
    sparse_angles,
    take_entries,
)
from okbench.learners.rows import Block

SPARSE_BELOW = 0.2  # share of values that are not zero


class Angles(Protocol):
    """Where the angles of some rows are made, particle after particle.

    `values` has a line for each of the rows, up to a multiple of TOGETHER; those behind the last
    row hold the angles of rows of zeros.
    """

    values: NDArray[Any]

    def take(self, chosen: NDArray[np.int64]) -> None:
        """Choose rows; there are as many at every call."""

    def find(self, scales: NDArray[Any]) -> None:
        """Fill `values` with the angles of a particle that has these scales."""

    def add_slopes(self, gradient: NDArray[Any]) -> None:
        """Add to `gradient` the derivative by each scale, if `values` holds that by each angle."""


def angles_of(block: Block, noise: NDArray[Any], count: int) -> Angles:
    """Angles for `count` rows of a block at a time."""
    n_values = np.prod(block.matrix.shape)
    stored = block.values.size if block.is_sparse else np.count_nonzero(block.dense)
    if stored < SPARSE_BELOW * n_values:
        return _SparseAngles(block, noise, count)
    return _DenseAngles(block, noise, count)


def _filled_up(count: int) -> int:
    return -(-count // TOGETHER) * TOGETHER


class _DenseAngles:
    def __init__(self, block: Block, noise: NDArray[Any], count: int) -> None:
        n_lines, (n_features, lanes) = _filled_up(count), noise.shape
        self.values = aligned(n_lines, lanes, kind=noise.dtype)
        self._block, self._noise = block, noise
        self._rows, self._scaled = np.zeros((2, n_lines, n_features), noise.dtype)
        self._product = aligned(n_features, lanes, kind=noise.dtype)

    def take(self, chosen: NDArray[np.int64]) -> None:
        if self._block.is_sparse:
            rows: Any = self._block.matrix[chosen]
            self._rows[: len(chosen)] = rows.toarray()
        else:
            gather(self._block.dense, chosen, self._rows)

    def find(self, scales: NDArray[Any]) -> None:
        np.multiply(self._rows, scales, out=self._scaled)
        np.matmul(self._scaled, self._noise, out=self.values)

    def add_slopes(self, gradient: NDArray[Any]) -> None:
        np.matmul(self._rows.T, self.values, out=self._product)
        add_inner_products(self._noise, self._product, gradient)


class _SparseAngles:
    def __init__(self, block: Block, noise: NDArray[Any], count: int) -> None:
        matrix: Any = block.matrix if block.is_sparse else sp.csr_array(block.dense)
        self.values = aligned(_filled_up(count), noise.shape[1], kind=noise.dtype)
        self._rows = matrix.data, matrix.indices, matrix.indptr
        self._noise = noise
        self._batch = self._sized(0)
        self._n_used = 0

    def take(self, chosen: NDArray[np.int64]) -> None:
        needed = n_entries(self._rows[2], chosen)
        if needed > len(self._batch.values):  # batches soon stop to be larger than all before
            self._batch = self._sized(needed + needed // 4)
        self._n_used = take_entries(self._rows, chosen, self._batch)

    def _sized(self, most: int) -> Entries:
        """A batch of no entries, and memory for so many."""
        values, by_column, scaled = np.empty((3, most), self._noise.dtype)
        columns, lines = np.empty((2, most), np.int32)
        starts = np.zeros(len(self.values) + 1, np.int32)
        column_starts, used = np.empty((2, len(self._noise) + 1), np.int32)
        return Entries(values, columns, starts, by_column, lines, column_starts, used, scaled)

    def find(self, scales: NDArray[Any]) -> None:
        sparse_angles(self._batch, scales, self._noise, self.values)

    def add_slopes(self, gradient: NDArray[Any]) -> None:
        add_sparse_slopes(self._batch, self._n_used, self._noise, self.values, gradient)
