"""Vectors side by side, so that one row meets all of them in a single vectorised sweep.

The one way in which rows meet support vectors here: a budget's supports are lanes that rows sweep
over, and in an unbounded expansion a block of rows are lanes that supports sweep over.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numba
import numpy as np
from numpy.typing import NDArray

from okbench.learners.compiled.elementary import FUSED, exp
from okbench.learners.compiled.jit import Function, compiled
from okbench.learners.contract import FloatArray
from okbench.learners.rows import Block

LANES = 16  # lane counts are multiples of it: two of the widest registers
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


def aligned(*shape: int) -> FloatArray:
    """Zeros that begin on a cache line."""
    size = int(np.prod(shape))
    raw = np.zeros(size + CACHE_LINE // 8)
    first = -raw.ctypes.data % CACHE_LINE // 8
    return cast(FloatArray, raw[first : first + size].reshape(shape))


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
def entry(values: Any, columns: Any, place: Any, e: int, stop: int) -> tuple[int, float]:
    """The matrix row and value of entry e; behind the last one, zeros."""
    if e < stop:
        return place[columns[e]], values[e]
    return 0, 0.0


@inlined
def products(
    values: Any, columns: Any, start: int, stop: int, matrix: Any, place: Any, width: int, out: Any,
    k: int,
) -> None:  # fmt: skip
    """out[k]: inner products of a sparse row with the first `width` lanes, four entries a sweep."""
    for j in range(width):
        out[k, j] = 0.0
    for e in range(start, stop, 4):
        a, p = entry(values, columns, place, e, stop)
        b, q = entry(values, columns, place, e + 1, stop)
        c, r = entry(values, columns, place, e + 2, stop)
        d, s = entry(values, columns, place, e + 3, stop)
        for j in range(width):
            out[k, j] += p * matrix[a, j] + q * matrix[b, j] + r * matrix[c, j] + s * matrix[d, j]


@compiled(fastmath=FUSED)
def products_of_four(
    values: Any, columns: Any, start: int, stop: int, matrix: Any, place: Any, width: int, out: Any
) -> None:
    """The same for four full rows, end to end, each a multiple of four entries long."""
    for k in range(4):
        for j in range(width):
            out[k, j] = 0.0
    length = stop - start
    for e in range(start, stop, 4):
        a, b = place[columns[e]], place[columns[e + 1]]
        c, d = place[columns[e + 2]], place[columns[e + 3]]
        p, q, r, s = values[e], values[e + 1], values[e + 2], values[e + 3]
        f = e + length
        p1, q1, r1, s1 = values[f], values[f + 1], values[f + 2], values[f + 3]
        f += length
        p2, q2, r2, s2 = values[f], values[f + 1], values[f + 2], values[f + 3]
        f += length
        p3, q3, r3, s3 = values[f], values[f + 1], values[f + 2], values[f + 3]
        for j in range(width):
            w, x, y, z = matrix[a, j], matrix[b, j], matrix[c, j], matrix[d, j]
            out[0, j] += p * w + q * x + r * y + s * z
            out[1, j] += p1 * w + q1 * x + r1 * y + s1 * z
            out[2, j] += p2 * w + q2 * x + r2 * y + s2 * z
            out[3, j] += p3 * w + q3 * x + r3 * y + s3 * z


@compiled(fastmath=FUSED)
def gaussian(half_sharpness: float, squared_distance: float) -> float:
    """The kernel, as a square: `exp` flushes subnormal results, and the sign of a score hangs on
    them where a row is far from all supports."""
    root = exp(half_sharpness * squared_distance)
    return root * root


@inlined
def kernel_row(
    values: Any, columns: Any, start: int, stop: int, norm: float, matrix: Any, place: Any,
    norms: Any, width: int, sharpness: float, out: Any, k: int,
) -> None:  # fmt: skip
    """out[k]: kernel of a sparse row with the first `width` lanes."""
    products(values, columns, start, stop, matrix, place, width, out, k)
    for j in range(width):
        out[k, j] = gaussian(0.5 * sharpness, (norm + norms[j]) - 2.0 * out[k, j])


@compiled(fastmath=REASSOCIATED)
def dot(matrix: Any, row: int, other: Any, k: int, width: int) -> float:
    """Inner product of row `row` of one matrix and row k of the other, over `width` columns."""
    total = 0.0
    for j in range(width):
        total += matrix[row, j] * other[k, j]
    return total


@compiled(fastmath=FUSED)
def kernel_rows(rows: Any, lanes: Any, sharpness: float, out: Any) -> None:
    """Kernel of every row and every lane; clear lanes stand for a row of zeros."""
    values, columns, starts, stops, row_norms = rows
    matrix, place, _, _, _, norms = lanes
    for i in range(len(starts)):
        kernel_row(
            values, columns, starts[i], stops[i], row_norms[i], matrix, place, norms,
            out.shape[1], sharpness, out, i,
        )  # fmt: skip
