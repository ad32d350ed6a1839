"""Supports that may be merged, so that no row of the stream need be among them.

Their lanes hold every column, because a merged vector may. They share the table, its order of age
and its free slots with the supports of `walks`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.lanes import Lanes, dot, inlined, kernel_row
from okbench.learners.numeric.supports import Supports
from okbench.learners.numeric.vector_products import put_last

LARGEST = np.iinfo(np.int64).max


@inlined
def score_row(
    rows: Any, i: int, supports: Supports, formula: Any, kernel: Any, scores: Any
) -> None:
    """Kernel of row i with the supports, and its scores without the shared factor."""
    coefficients, lanes = supports.coefficients, supports.lanes
    kernel_row(rows, i, lanes, lanes.matrix.shape[1], formula, kernel, 0)
    for column in range(len(coefficients)):
        scores[i, column] = dot(coefficients, column, kernel, 0, coefficients.shape[1])


@compiled(fastmath=FUSED)
def score_rows_of(rows: Any, supports: Supports, formula: Any, kernel: Any, scores: Any) -> None:
    """The scores of rows without the shared factor; nothing is learned."""
    for i in range(len(scores)):
        score_row(rows, i, supports, formula, kernel, scores)


@compiled()
def join_dense(supports: Supports, size: int, rows: Any, i: int, position: int) -> int:
    """Put row i, met at `position` of the stream, into a free slot, without a coefficient."""
    slot = int(supports.order[size])
    matrix, values, columns = supports.lanes.matrix, rows.values, rows.columns
    for e in range(rows.starts[i], rows.stops[i]):
        matrix[columns[e], slot] = values[e]
    supports.lanes.squared_norms[slot] = rows.squared_norms[i]
    supports.rows[slot] = position
    return slot


@compiled()
def leave_dense(lanes: Lanes, coefficients: Any, order: Any, size: int, place: int) -> None:
    """Free the slot of the support that is `place` joins younger than the oldest."""
    matrix, slot = lanes.matrix, order[place]
    put_last(order, place, size)
    for n in range(len(matrix)):
        matrix[n, slot] = 0.0
    lanes.squared_norms[slot] = 0.0
    for column in range(len(coefficients)):
        coefficients[column, slot] = 0.0


@inlined
def weigh(coefficients: Any, squares: Any) -> None:
    """The squared length of every lane's coefficients."""
    for lane in range(len(squares)):
        squares[lane] = coefficients[0, lane] ** 2
    for column in range(1, len(coefficients)):
        for lane in range(len(squares)):
            squares[lane] += coefficients[column, lane] ** 2


@compiled()
def oldest_of_least(values: Any, order: Any, size: int) -> int:
    """The place in the order of age of the support with the least value, of equals the first.

    The values of free slots become infinite, so that one sweep over all slots finds the least.
    """
    for place in range(size, len(order)):
        values[order[place]] = math.inf
    least = LARGEST
    for slot in range(len(order)):
        least = min(least, _as_integer(values[slot]))
    place = 0
    while _as_integer(values[order[place]]) != least:
        place += 1
    return place


@compiled()
def _as_integer(value: float) -> int:
    """An integer that compares as the number does, since LLVM finds minima of those in lanes."""
    bits = np.float64(value).view(np.int64)
    return int(bits ^ ((bits >> 63) & LARGEST))
