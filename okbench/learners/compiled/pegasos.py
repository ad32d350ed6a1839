"""Vectors side by side that may be merged, so that no row of the stream need be among them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import aligned, dot, inlined, kernel_row
from okbench.learners.compiled.merging import TILE
from okbench.learners.contract import FloatArray


class Vectors(NamedTuple):
    """Vectors in lanes, all columns held, since merging fills them; clear lanes are zero."""

    matrix: FloatArray  # inputs × lanes
    place: NDArray[np.int32]  # the matrix row of an input: its own
    squared_norms: FloatArray
    coefficients: FloatArray  # columns × lanes
    order: NDArray[np.int32]  # slots, the oldest vector's first, then the free ones

    @classmethod
    def empty(cls, n_features: int, n_columns: int, slots: int) -> Vectors:
        lanes = -(-slots // TILE) * TILE
        return cls(
            aligned(n_features, lanes),
            np.arange(n_features, dtype=np.int32),
            aligned(lanes),
            aligned(n_columns, lanes),
            np.arange(slots, dtype=np.int32),
        )


@inlined
def score(rows: Any, i: int, vectors: Vectors, sharpness: float, kernel: Any, scores: Any) -> None:
    """Kernel of row i with the vectors, and its scores without the shared factor."""
    matrix, place, norms, coefficients, _ = vectors
    width = matrix.shape[1]
    kernel_row(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], rows.squared_norms[i],
        matrix, place, norms, width, sharpness, kernel, 0,
    )  # fmt: skip
    for column in range(len(coefficients)):
        scores[i, column] = dot(coefficients, column, kernel, 0, width)


@compiled(fastmath=FUSED)
def score_rows(rows: Any, vectors: Vectors, sharpness: float, kernel: Any, scores: Any) -> None:
    """The scores of rows without the shared factor; nothing is learned."""
    for i in range(len(scores)):
        score(rows, i, vectors, sharpness, kernel, scores)


@inlined
def join(vectors: Vectors, size: int, rows: Any, i: int) -> int:
    """Put row i into a free slot, without a coefficient; the slot."""
    slot = vectors.order[size]
    for e in range(rows.starts[i], rows.stops[i]):
        vectors.matrix[rows.columns[e], slot] = rows.values[e]
    vectors.squared_norms[slot] = rows.squared_norms[i]
    return slot


@inlined
def leave(vectors: Vectors, size: int, age: int) -> None:
    """Free the slot of the vector that is `age` joins younger than the oldest."""
    order, matrix = vectors.order, vectors.matrix
    slot = order[age]
    for later in range(age + 1, size):
        order[later - 1] = order[later]
    order[size - 1] = slot
    for n in range(len(matrix)):
        matrix[n, slot] = 0.0
    vectors.squared_norms[slot] = 0.0
    for column in range(len(vectors.coefficients)):
        vectors.coefficients[column, slot] = 0.0
