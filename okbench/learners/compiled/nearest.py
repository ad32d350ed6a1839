"""Which point of each partitioning is nearest to a row.

A point z is the nearer to x the larger x·z - ‖z‖²/2 is, its closeness here. Products of matrices
give it for many rows and points at once, and may add up in any order. `slack_of` bounds how far
apart two computed numbers are that may be in the wrong order. Where more than one point lies within
that distance, the squared differences of the columns are added up one after the other, and of equal
sums the point with the lowest number counts as the nearest. So a cell depends on neither the
product, nor the rows beside a row, nor the form of the rows. Where all values are whole numbers and
all sums exact, nothing can be in the wrong order.

Points stand partitioning-fastest: point k of partitioning i is number k × partitionings + i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import inlined

EPSILON = 2.0**-52
EXACT_BELOW = 2.0**52  # sums of products of whole numbers are exact below it
LARGEST, SECOND, NUMBER = 0, 1, 2  # of `work`, by partitioning


@compiled()
def slack_of(values: Any, start: int, stop: int, width: int, longest: float, whole: bool) -> float:
    """How far apart two computed numbers of this row must be to be in the right order.

    `longest` is the norm of the longest point, `whole` says whether all points are whole numbers.
    Each number is off by at most (width + 3) roundings of (‖x‖ + ‖z‖)², and so is half the sum that
    decides in its place.
    """
    squares = 0.0
    for e in range(start, stop):
        squares += values[e] * values[e]
        whole = whole and values[e] == math.floor(values[e])
    norm = math.sqrt(squares)
    reach = (norm + longest) * (norm + longest)
    if whole and reach < EXACT_BELOW:
        return 0.0
    return 2.0 * (width + 8) * EPSILON * reach


@compiled(fastmath=FUSED)
def find_largest(closeness: Any, row: int, work: Any) -> None:
    """Fill in `work`, where the columns of `closeness` are points."""
    n_partitionings = work.shape[1]
    size = closeness.shape[1] // n_partitionings
    for i in range(n_partitionings):
        work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = -np.inf, -np.inf, 0.0
    for k in range(0, size - 3, 4):
        first, number = k * n_partitionings, float(k)
        for i in range(n_partitionings):
            best = work[LARGEST, i], work[SECOND, i], work[NUMBER, i]
            at = first + i
            best = _better(best, closeness[row, at], number)
            best = _better(best, closeness[row, at + n_partitionings], number + 1.0)
            best = _better(best, closeness[row, at + 2 * n_partitionings], number + 2.0)
            best = _better(best, closeness[row, at + 3 * n_partitionings], number + 3.0)
            work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = best
    for k in range(size - size % 4, size):
        for i in range(n_partitionings):
            best = work[LARGEST, i], work[SECOND, i], work[NUMBER, i]
            best = _better(best, closeness[row, k * n_partitionings + i], float(k))
            work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = best


@compiled(fastmath=FUSED)
def find_largest_at(closeness: Any, row: int, places: Any, work: Any) -> None:
    """The same where point p has column places[p]: several points may be one row."""
    n_partitionings = work.shape[1]
    for i in range(n_partitionings):
        work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = -np.inf, -np.inf, 0.0
    for k in range(len(places) // n_partitionings):
        first = k * n_partitionings
        for i in range(n_partitionings):
            best = work[LARGEST, i], work[SECOND, i], work[NUMBER, i]
            best = _better(best, closeness[row, places[first + i]], float(k))
            work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = best


@inlined
def _better(best: Any, found: float, number: float) -> Any:
    """(largest, second, number of the largest) once another number was found."""
    largest, second, held = best
    closer = found > largest
    lesser = largest if closer else found
    return (
        found if closer else largest,
        lesser if lesser > second else second,
        number if closer else held,
    )


@compiled()
def find_cells_dense(
    rows: Any, first: int, points: Any, places: Any, longest: float, whole: bool, closeness: Any,
    work: Any, cells: Any,
) -> None:  # fmt: skip
    """Cells of rows[first:first + len(closeness)], from their closeness to all points.

    The last column of `points` is no value of theirs.
    """
    width = points.shape[1] - 1
    for r in range(len(closeness)):
        row = first + r
        slack = slack_of(rows[row], 0, width, width, longest, whole)
        if len(places):
            find_largest_at(closeness, r, places, work)
        else:
            find_largest(closeness, r, work)
        for i in range(work.shape[1]):
            cells[row, i] = int(work[NUMBER, i])
            if slack > 0.0 and not work[SECOND, i] < work[LARGEST, i] - slack:
                least = work[LARGEST, i] - slack
                nearest, cell = np.inf, -1
                for k in range(_size(closeness, places, work)):
                    column = _column(places, k * work.shape[1] + i)
                    if closeness[r, column] < least:
                        continue
                    distance = 0.0
                    for j in range(width):
                        difference = rows[row, j] - points[column, j]
                        distance += difference * difference
                    if cell < 0 or distance < nearest:
                        nearest, cell = distance, k
                cells[row, i] = cell


@compiled()
def find_cells_sparse(
    row_entries: Any, by_column: Any, by_point: Any, halves: Any, places: Any, longest: float,
    whole: bool, closeness: Any, work: Any, cells: Any,
) -> None:  # fmt: skip
    """Cells of sparse rows. Points stand twice, by columns and by points, each as (values, indices,
    starts); `halves` are their -‖z‖²/2, and `closeness` is scratch memory for one row."""
    values, columns, starts, width = row_entries
    held, holders, begins = by_column
    for row in range(len(cells)):
        start, stop = starts[row], starts[row + 1]
        slack = slack_of(values, start, stop, width, longest, whole)
        for p in range(len(halves)):
            closeness[0, p] = halves[p]
        for e in range(start, stop):
            for h in range(begins[columns[e]], begins[columns[e] + 1]):
                closeness[0, holders[h]] += values[e] * held[h]
        if len(places):
            find_largest_at(closeness, 0, places, work)
        else:
            find_largest(closeness, 0, work)
        for i in range(work.shape[1]):
            cells[row, i] = int(work[NUMBER, i])
            if slack > 0.0 and not work[SECOND, i] < work[LARGEST, i] - slack:
                least = work[LARGEST, i] - slack
                nearest, cell = np.inf, -1
                for k in range(_size(closeness, places, work)):
                    column = _column(places, k * work.shape[1] + i)
                    if closeness[0, column] < least:
                        continue
                    distance = _sparse_distance(values, columns, start, stop, by_point, column)
                    if cell < 0 or distance < nearest:
                        nearest, cell = distance, k
                cells[row, i] = cell


@compiled()
def _size(closeness: Any, places: Any, work: Any) -> int:
    """Points of a partitioning."""
    return (len(places) if len(places) else closeness.shape[1]) // work.shape[1]


@compiled()
def _column(places: Any, point: int) -> int:
    return int(places[point]) if len(places) else point


@compiled()
def _sparse_distance(
    values: Any, columns: Any, start: int, stop: int, by_point: Any, point: int
) -> float:
    """The squared differences of a row and a point, added up in the order of the columns."""
    held, places, begins = by_point
    e, h, end = start, begins[point], begins[point + 1]
    distance = 0.0
    while e < stop or h < end:
        if h == end or (e < stop and columns[e] < places[h]):
            difference = values[e]
            e += 1
        elif e == stop or places[h] < columns[e]:
            difference = held[h]
            h += 1
        else:
            difference = values[e] - held[h]
            e += 1
            h += 1
        distance += difference * difference
    return distance
