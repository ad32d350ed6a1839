"""Vectors side by side, so that one row meets all of them in a single vectorised sweep.

The one way in which rows meet support vectors here: a budget's supports are lanes that rows sweep
over, and in an unbounded expansion a block of rows are lanes that supports sweep over.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import Function, compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, LIFT
from okbench.learners.numeric.kernels import lifted
from okbench.learners.numeric.vector_products import LANES, products
from okbench.learners.rows import Block

CACHE_LINE = 64  # bytes; vectors that straddle two lines cost nearly twice as much
REASSOCIATED = frozenset({"contract", "reassoc", "nsz"})  # sums in any order; NaN stays NaN


def inlined(function: Function) -> Function:
    """For functions that take many arrays and do little: handing those over costs as much again.

    What is inlined is compiled with the licences of the function it ends up in: FUSED, all of them.
    """
    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)


class Entries(NamedTuple):
    """Sparse rows: the entries of row i stand from starts[i] to stops[i]."""

    values: FloatArray
    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    squared_norms: FloatArray

    @classmethod
    def of(cls, block: Block) -> Entries:
        starts = block.starts.astype(np.int64)
        return cls(block.values, block.columns, starts[:-1], starts[1:], block.squared_norms)


class Lanes(NamedTuple):
    """Vectors as lanes: the value of lane j in column c is matrix[place[c], j].

    Only columns that some lane holds have a place; the others read row 0, which stays zero. So the
    memory follows what is held, however wide the rows are.
    """

    matrix: FloatArray
    place: NDArray[np.int32]
    holders: NDArray[np.int32]  # lanes that hold the column of a matrix row
    free: NDArray[np.int32]  # matrix rows without a column, as a stack
    n_free: NDArray[np.int64]  # one number
    squared_norms: FloatArray

    @classmethod
    def empty(cls, n_features: int, n_lanes: int, n_rows: int) -> Lanes:
        """Lanes for vectors of n_features, with room for n_rows columns to begin with."""
        n_lanes = padded(n_lanes)
        n_rows = min(n_rows, n_features)
        return cls(
            aligned(n_rows + 1, n_lanes),
            np.zeros(n_features, dtype=np.int32),
            np.zeros(n_rows + 1, dtype=np.int32),
            np.arange(n_rows + 1, 0, -1, dtype=np.int32)[1:],
            np.array([n_rows]),
            aligned(n_lanes),
        )

    @classmethod
    def dense(cls, n_features: int, n_lanes: int) -> Lanes:
        """Lanes that hold every column, each in the matrix row of its own number."""
        return cls(
            aligned(n_features, padded(n_lanes)),
            np.arange(n_features, dtype=np.int32),
            np.zeros(0, dtype=np.int32),
            np.zeros(0, dtype=np.int32),
            np.zeros(1, dtype=np.int64),
            aligned(padded(n_lanes)),
        )

    def has_room_for(self, n_entries: int) -> bool:
        """Whether vectors of n_entries in all can be set without more matrix rows."""
        return int(self.n_free[0]) >= n_entries or len(self.matrix) > len(self.place)

    def widened(self, n_more: int) -> Lanes:
        """The same lanes with room for n_more columns, or for all there are."""
        n_old = len(self.matrix) - 1
        n_rows = min(len(self.place), n_old + max(n_more, n_old))
        wider = Lanes.empty(len(self.place), self.matrix.shape[1], n_rows)
        wider.matrix[: n_old + 1] = self.matrix
        wider.holders[: n_old + 1] = self.holders
        n_free = int(self.n_free[0])
        fresh = n_rows - n_old
        wider.free[fresh : fresh + n_free] = self.free[:n_free]
        wider.n_free[0] = fresh + n_free
        return wider._replace(place=self.place, squared_norms=self.squared_norms)


@compiled()
def padded(count: int) -> int:
    """The lanes that `count` vectors take."""
    return -(-count // LANES) * LANES


def aligned(*shape: int, kind: Any = np.float64) -> NDArray[Any]:
    """Zeros that begin on a cache line."""
    size, width = math.prod(shape), np.dtype(kind).itemsize
    raw = np.zeros(size + CACHE_LINE // width, kind)
    first = -raw.__array_interface__["data"][0] % CACHE_LINE // width
    return raw[first : first + size].reshape(shape)


@inlined
def set_lane(lanes: Any, lane: int, rows: Any, i: int) -> None:
    """Put row i into a clear lane."""
    for e in range(rows.starts[i], rows.stops[i]):
        column = rows.columns[e]
        place = lanes.place[column]
        if place == 0:
            lanes.n_free[0] -= 1
            place = lanes.free[lanes.n_free[0]]
            lanes.place[column] = place
        lanes.holders[place] += 1
        lanes.matrix[place, lane] = rows.values[e]
    lanes.squared_norms[lane] = rows.squared_norms[i]


@inlined
def clear_lane(lanes: Any, lane: int, rows: Any, i: int) -> None:
    """Take row i out of its lane."""
    for e in range(rows.starts[i], rows.stops[i]):
        column = rows.columns[e]
        place = lanes.place[column]
        lanes.matrix[place, lane] = 0.0
        lanes.holders[place] -= 1
        if lanes.holders[place] == 0:
            lanes.place[column] = 0
            lanes.free[lanes.n_free[0]] = place
            lanes.n_free[0] += 1
    lanes.squared_norms[lane] = 0.0


@inlined
def lifted_row(rows: Any, i: int, lanes: Any, width: int, formula: Any, out: Any, k: int) -> None:
    """out[k]: LIFT × the kernel of row i with the first `width` lanes."""
    norm, norms = rows.squared_norms[i], lanes.squared_norms
    products(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], lanes.matrix, lanes.place, width,
        out, k,
    )  # fmt: skip
    for j in range(width):
        out[k, j] = lifted(formula, norm, norms[j], out[k, j])


@inlined
def kernel_row(rows: Any, i: int, lanes: Any, width: int, formula: Any, out: Any, k: int) -> None:
    """out[k]: kernel of row i with the first `width` lanes."""
    lifted_row(rows, i, lanes, width, formula, out, k)
    for j in range(width):
        out[k, j] /= LIFT


@compiled(fastmath=REASSOCIATED)
def dot(matrix: Any, row: int, other: Any, k: int, width: int) -> float:
    """Inner product of row `row` of one matrix and row k of the other, over `width` columns."""
    total = 0.0
    for j in range(width):
        total += matrix[row, j] * other[k, j]
    return total


@compiled(fastmath=FUSED)
def kernel_rows(rows: Any, lanes: Any, formula: Any, out: Any) -> None:
    """Kernel of every row and every lane; clear lanes stand for a row of zeros."""
    for i in range(len(rows.starts)):
        kernel_row(rows, i, lanes, out.shape[1], formula, out, i)
