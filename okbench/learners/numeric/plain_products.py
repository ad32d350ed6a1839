"""The loops of `vector_products` in plain Python: the definition of the emitted ones, slower.

The emitted ones are inlined and have no licences of their own; these have FUSED, as the functions
around them.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from okbench.base.jit import Function, compiled

# Fused multiply-adds, which the emitted loops use as well.
_FUSED = frozenset({"contract"})
GROUP = 4  # vectors whose distances from the lanes are found together
PACKED = 64  # bytes of the widest registers: rows of bytes have a multiple of it


def plain(function: Function) -> Any:
    """Typed as the emitted functions are: as little as Numba's."""
    return cast(Any, compiled(fastmath=_FUSED)(function))


@plain
def products(
    values: Any, columns: Any, start: int, stop: int, matrix: Any, place: Any, width: int,
    out: Any, k: int,
) -> None:  # fmt: skip
    """out[k]: inner products of a sparse row with the first `width` lanes; place[c] is the matrix
    row of column c."""
    _clear(out, k, width)
    for e in range(start, stop):
        _add(values[e], matrix, place[columns[e]], width, out, k)


@plain
def direct_products(
    values: Any, columns: Any, start: int, stop: int, matrix: Any, width: int, out: Any, k: int
) -> None:
    """The same where column c has matrix row c."""
    _clear(out, k, width)
    for e in range(start, stop):
        _add(values[e], matrix, columns[e], width, out, k)


@plain
def matrix_product(rows: Any, first: int, matrix: Any, out: Any) -> None:
    """out: rows[first:first + len(out)] times the matrix. Each number is summed as in
    `direct_products`, whatever rows are taken together."""
    width = out.shape[1]
    for i in range(len(out)):
        _clear(out, i, width)
        for term in range(rows.shape[1]):
            _add(rows[first + i, term], matrix, term, width, out, i)


@plain
def scaled_products(
    values: Any, columns: Any, start: int, stop: int, matrix: Any, scales: Any, width: int,
    out: Any, k: int,
) -> None:  # fmt: skip
    """The same with each value times its column's scale."""
    _clear(out, k, width)
    for e in range(start, stop):
        _add(values[e] * scales[columns[e]], matrix, columns[e], width, out, k)


@plain
def sparse_product(values: Any, columns: Any, starts: Any, matrix: Any, out: Any) -> None:
    """out: sparse rows times the matrix, in its precision. The entries of row i stand from
    starts[i] to starts[i + 1]."""
    for i in range(len(out)):
        direct_products(values, columns, starts[i], starts[i + 1], matrix, matrix.shape[1], out, i)


@plain
def find_slopes(
    residuals: Any, weights: Any, cosines: Any, sines: Any, first: int, out: Any
) -> None:
    """Of a few rows, what a loss does as each angle rises, into the lines of `out` from `first`
    on: the sum over the classes m of residuals[i, m] times the cosines' derivatives and the sines'.
    `weights` holds those of the cosines and those of the sines of each class, one line each."""
    n_rows, width = cosines.shape
    for i in range(n_rows):
        for j in range(width):
            of_sines = of_cosines = out.dtype.type(0.0)
            for m in range(residuals.shape[1]):
                of_sines += residuals[i, m] * weights[2 * m * width + j]
                of_cosines += residuals[i, m] * weights[(2 * m + 1) * width + j]
            out[first + i, j] = of_cosines * cosines[i, j] - of_sines * sines[i, j]


@plain
def inner_products(
    columns: Any, start: int, stop: int, matrix: Any, other: Any, k: int, width: int, out: Any
) -> None:
    """out[e - start]: inner product of row columns[e] of the matrix with row k of the other, over
    `width` columns."""
    for e in range(start, stop):
        out[e - start] = inner_product(matrix, columns[e], other, k, width)


@plain
def inner_product(matrix: Any, row: int, other: Any, k: int, width: int) -> float:
    """Inner product of a row of the matrix and row k of the other, over `width` columns."""
    total = 0.0
    for j in range(width):
        total += matrix[row, j] * other[k, j]
    return total


@plain
def shrink_and_add(
    matrix: Any, start: int, stop: int, keeps: Any, gains: Any, other: Any, k: int, width: int
) -> None:
    """Multiply matrix[r] by keeps[r - start] and add gains[r - start] times row k of the other, for
    every r from `start` to `stop`, over `width` columns."""
    for r in range(start, stop):
        kept, gain = keeps[r - start], gains[r - start]
        for j in range(width):
            matrix[r, j] = matrix[r, j] * kept + gain * other[k, j]


@plain
def reaches(matrix: Any, k: int, width: int, limit: float) -> bool:
    """Whether one of the first `width` numbers of row k is further than `limit` from zero."""
    n_beyond = 0
    for j in range(width):
        n_beyond += abs(matrix[k, j]) > limit
    return n_beyond > 0


@plain
def put_last(items: Any, place: int, size: int) -> None:
    """Make an item the last of the first `size`; those behind it move up."""
    held = items[place]
    for i in range(place, size - 1):
        items[i] = items[i + 1]
    items[size - 1] = held


@plain
def distances(
    values: Any, columns: Any, start: int, stop: int, norm: float, matrix: Any, place: Any,
    norms: Any, width: int, out: Any, k: int,
) -> None:  # fmt: skip
    """out[k]: the L1 distances of a sparse row and the first `width` lanes; place[c] is the matrix
    row of column c. They are the sum of the two norms, less twice what is in common: the lesser of
    two numbers of one sign, in absolute value."""
    _clear(out, k, width)
    for e in range(start, stop):
        row, side = place[columns[e]], 1.0 if values[e] > 0.0 else -1.0
        for j in range(width):
            out[k, j] += max(min(side * matrix[row, j], side * values[e]), 0.0)
    for j in range(width):
        out[k, j] = (norm + norms[j]) - 2.0 * out[k, j]


@plain
def full_distances(
    values: Any, columns: Any, starts: Any, first: int, norms_of_rows: Any, matrix: Any,
    place: Any, norms: Any, width: int, out: Any, k: int,
) -> None:  # fmt: skip
    """out[k], out[k + 1], …: the same of GROUP rows from `first` on, which all have every column,
    in one order. The lanes are read once for all of them."""
    for r in range(GROUP):
        start, norm = starts[first + r], norms_of_rows[first + r]
        stop = start + len(place)
        distances(values, columns, start, stop, norm, matrix, place, norms, width, out, k + r)


@plain
def byte_distances(held: Any, first: int, lanes: Any, width: int, out: Any, k: int) -> None:
    """out[k]: the L1 distances of row `first` of `held` and the first `width` rows of `lanes`. Both
    are bytes, in rows of a multiple of PACKED."""
    for j in range(width):
        total = np.int64(0)
        for c in range(lanes.shape[1]):
            total += np.abs(np.int64(held[first, c]) - np.int64(lanes[j, c]))
        out[k, j] = total


@plain
def group_byte_distances(held: Any, first: int, lanes: Any, width: int, out: Any, k: int) -> None:
    """out[k], out[k + 1], …: the same of GROUP rows from `first` on. The lanes are read once for
    all of them."""
    for r in range(GROUP):
        byte_distances(held, first + r, lanes, width, out, k + r)


@plain
def _clear(out: Any, k: int, width: int) -> None:
    for j in range(width):
        out[k, j] = 0.0


@plain
def _add(factor: float, matrix: Any, row: int, width: int, out: Any, k: int) -> None:
    for j in range(width):
        out[k, j] += factor * matrix[row, j]
