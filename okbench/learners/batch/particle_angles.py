"""The angles of rows under the frequencies of a particle: rows × scales × noise.

Rows are handed over once for all particles (`take`), and each particle then has its angles and the
gradient of its scales from them. Where few values of the rows are not zero, the loops over rows
make angles as they go and skip the zeros; otherwise angles are products of matrices by BLAS, whose
last bits depend on the processor, of a part of the rows after the other.
Which of the two it is depends on the share of values that are not zero, not on how rows are stored.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.rules.bkm import (
    TOGETHER,
    Entries,
    add_inner_products,
    gather,
    n_entries,
    take_entries,
)
from okbench.learners.rows import Block

SPARSE_BELOW = 0.2  # share of values that are not zero
MULTIPLIED = 100  # rows at a time, at most: their angles and slopes are the memory of a mini-batch


class Angles(Protocol):
    """What the loops of `rules.bkm` take the angles of some rows from, particle after particle.

    There is a line for each of the rows, up to a multiple of TOGETHER; those behind the last row
    are of rows of zeros. A part of the lines is looked at in turn.
    """

    parts: tuple[slice, ...]
    values: NDArray[Any]  # the angles of a part, or of as few rows as are made together
    entries: Entries  # the rows if they are sparse

    def take(self, chosen: NDArray[np.int64]) -> None:
        """Choose rows; there are as many at every call."""

    def find(self, scales: NDArray[Any], part: slice) -> NDArray[Any]:
        """The angles of a particle that has these scales, or where they are to be made."""

    def add_slopes(self, gradient: NDArray[Any], part: slice) -> None:
        """Add to `gradient` the derivative by each scale, if `values` holds that by each angle."""


def angles_of(block: Block, noise: NDArray[Any], count: int) -> Angles:
    """Angles for `count` rows of a block at a time."""
    n_values = np.prod(block.matrix.shape)
    stored = block.values.size if block.is_sparse else np.count_nonzero(block.dense)
    if stored < SPARSE_BELOW * n_values:
        return _SparseAngles(block, noise, count)
    return _DenseAngles(block, noise, count)


def n_lines(angles: Angles) -> int:
    """The number of lines of all parts."""
    return int(angles.parts[-1].stop)


def _filled_up(count: int) -> int:
    return -(-count // TOGETHER) * TOGETHER


class _DenseAngles:
    def __init__(self, block: Block, noise: NDArray[Any], count: int) -> None:
        lines, (n_features, lanes) = _filled_up(count), noise.shape
        most = _filled_up(-(-lines // -(-lines // MULTIPLIED)))
        self.parts: tuple[slice, ...] = tuple(
            slice(i, min(i + most, lines)) for i in range(0, lines, most)
        )
        self.values = aligned(most, lanes, kind=noise.dtype)
        self.entries = _sized(0, 0, noise.dtype)
        self._block, self._noise = block, noise
        self._rows = np.zeros((lines, n_features), noise.dtype)
        self._scaled = np.zeros((most, n_features), noise.dtype)
        self._product = aligned(n_features, lanes, kind=noise.dtype)

    def take(self, chosen: NDArray[np.int64]) -> None:
        if self._block.is_sparse:
            rows: Any = self._block.matrix[chosen]
            self._rows[: len(chosen)] = rows.toarray()
        else:
            gather(self._block.dense, chosen, self._rows)

    def find(self, scales: NDArray[Any], part: slice) -> NDArray[Any]:
        rows = self._rows[part]
        scaled, values = self._scaled[: len(rows)], self.values[: len(rows)]
        np.multiply(rows, scales, out=scaled)
        return np.matmul(scaled, self._noise, out=values)

    def add_slopes(self, gradient: NDArray[Any], part: slice) -> None:
        rows = self._rows[part]
        np.matmul(rows.T, self.values[: len(rows)], out=self._product)
        add_inner_products(self._noise, self._product, gradient)


class _SparseAngles:
    def __init__(self, block: Block, noise: NDArray[Any], count: int) -> None:
        matrix: Any = block.matrix if block.is_sparse else sp.csr_array(block.dense)
        self.parts: tuple[slice, ...] = (slice(0, _filled_up(count)),)
        self.values = aligned(TOGETHER, noise.shape[1], kind=noise.dtype)
        self.entries = _sized(_filled_up(count), 0, noise.dtype)
        self._rows = matrix.data, matrix.indices, matrix.indptr

    def take(self, chosen: NDArray[np.int64]) -> None:
        needed = n_entries(self._rows[2], chosen)
        if needed > len(self.entries.values):  # batches soon stop to be larger than all before
            lines = len(self.entries.starts) - 1
            self.entries = _sized(lines, needed + needed // 4, self.values.dtype)
        take_entries(self._rows, chosen, self.entries)

    def find(self, scales: NDArray[Any], part: slice) -> NDArray[Any]:
        return self.values

    def add_slopes(self, gradient: NDArray[Any], part: slice) -> None:
        """The loop over rows has added them."""


def _sized(lines: int, most: int, kind: Any) -> Entries:
    """Rows without entries, and memory for so many entries."""
    values, work = np.empty((2, most), kind)
    return Entries(values, np.empty(most, np.int32), np.zeros(lines + 1, np.int64), work)
