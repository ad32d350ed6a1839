"""Vectors side by side that may be merged, so that no row of the stream need be among them.

Which is shortest, and the oldest of equals, is found in sweeps over all lanes, not by walking them
in their order of age: so a lane has the ticket that its vector drew when it joined.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import aligned, dot, inlined, kernel_row, padded
from okbench.learners.compiled.rules.merging import TILE
from okbench.learners.contract import FloatArray

NOBODY = np.iinfo(np.int64).max  # the ticket of a lane without a vector


class Vectors(NamedTuple):
    """Vectors in lanes, all columns held, since merging fills them; clear lanes are zero.

    What has one number a lane is as long as whole tiles are.
    """

    matrix: FloatArray  # inputs × lanes
    place: NDArray[np.int32]  # the matrix row of an input: its own
    squared_norms: FloatArray
    coefficients: FloatArray  # columns × lanes
    squares: FloatArray  # of the coefficients' lengths, once `weigh` was called
    tickets: NDArray[np.int64]  # the lower the older; divided by their number they leave the lane
    free: NDArray[np.int32]  # behind as many as there are vectors, the lanes to fill next

    @classmethod
    def empty(cls, n_features: int, n_columns: int, slots: int) -> Vectors:
        lanes = -(-slots // TILE) * TILE
        return cls(
            matrix=aligned(n_features, padded(slots)),
            place=np.arange(n_features, dtype=np.int32),
            squared_norms=aligned(lanes),
            coefficients=aligned(n_columns, lanes),
            squares=aligned(lanes),
            tickets=np.full(lanes, NOBODY),
            free=np.arange(slots, dtype=np.int32),
        )

    def by_age(self, size: int) -> NDArray[np.int64]:
        """The lanes of the vectors, the oldest first."""
        return np.argsort(self.tickets)[:size]


@inlined
def score(rows: Any, i: int, vectors: Vectors, sharpness: float, kernel: Any, scores: Any) -> None:
    """Kernel of row i with the vectors, and its scores without the shared factor."""
    coefficients = vectors.coefficients
    kernel_row(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], rows.squared_norms[i],
        vectors.matrix, vectors.place, vectors.squared_norms, vectors.matrix.shape[1], sharpness,
        kernel, 0,
    )  # fmt: skip
    for column in range(len(coefficients)):
        scores[i, column] = dot(coefficients, column, kernel, 0, coefficients.shape[1])


@compiled(fastmath=FUSED)
def score_rows(rows: Any, vectors: Vectors, sharpness: float, kernel: Any, scores: Any) -> None:
    """The scores of rows without the shared factor; nothing is learned."""
    for i in range(len(scores)):
        score(rows, i, vectors, sharpness, kernel, scores)


@compiled()
def join(vectors: Vectors, size: int, rows: Any, i: int, position: int) -> int:
    """Put row i, met at `position` of the stream, into a free lane, without a coefficient."""
    lane = int(vectors.free[size])
    for e in range(rows.starts[i], rows.stops[i]):
        vectors.matrix[rows.columns[e], lane] = rows.values[e]
    vectors.squared_norms[lane] = rows.squared_norms[i]
    vectors.tickets[lane] = position * len(vectors.tickets) + lane
    return lane


@compiled()
def leave(vectors: Vectors, size: int, lane: int) -> None:
    """Free the lane of one of `size` vectors."""
    vectors.free[size - 1] = lane
    vectors.tickets[lane] = NOBODY
    for n in range(len(vectors.matrix)):
        vectors.matrix[n, lane] = 0.0
    vectors.squared_norms[lane] = 0.0
    for column in range(len(vectors.coefficients)):
        vectors.coefficients[column, lane] = 0.0


@compiled()
def lightest(vectors: Vectors) -> int:
    """The lane of the shortest coefficients, of equals the oldest vector's."""
    weigh(vectors.coefficients, vectors.squares)
    return oldest_of_least(vectors.squares, vectors.tickets)


@inlined
def weigh(coefficients: Any, squares: Any) -> None:
    """The squared length of every lane's coefficients."""
    for lane in range(len(squares)):
        squares[lane] = coefficients[0, lane] ** 2
    for column in range(1, len(coefficients)):
        for lane in range(len(squares)):
            squares[lane] += coefficients[column, lane] ** 2


@inlined
def oldest_of_least(values: Any, tickets: Any) -> int:
    """The lane of least value among those with a vector, of equals the oldest one's."""
    least = ticket = NOBODY
    for lane in range(len(tickets)):
        value, own = ordered(values[lane]), tickets[lane]
        least = min(least, value if own != NOBODY else NOBODY)
    for lane in range(len(tickets)):
        value, own = ordered(values[lane]), tickets[lane]
        ticket = min(ticket, own if value == least else NOBODY)
    return ticket % len(tickets)


@compiled()
def ordered(value: float) -> int:
    """An integer that compares as the number does, since LLVM finds minima of those in lanes."""
    bits = np.float64(value).view(np.int64)
    return int(bits ^ ((bits >> 63) & NOBODY))
