"""Which point of each partitioning is nearest to a sparse row, from sums along its columns.

The closenesses of `numeric.nearest`, in doubles, are added up from the points that hold a column
of the row. Where more than one point lies within the distance in which two computed numbers may be
in the wrong order, the squared differences of the columns decide, added up one after the other as
for rows of a table. Where all values are whole numbers and all sums exact, nothing can be in the
wrong order.

Points stand partitioning-fastest: point k of partitioning i is number k × partitionings + i.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.lanes import inlined
from okbench.learners.numeric.nearest import NEAREST

EPSILON = 2.0**-52
EXACT_BELOW = 2.0**52  # sums of products of whole numbers are exact below it
LARGEST, SECOND, NUMBER = 0, 1, 2  # of `work`, by partitioning


@compiled()
def _slack_of(values: Any, start: int, stop: int, width: int, longest: float, whole: bool) -> float:
    """How far apart two computed numbers of this row must be to be in the right order.

    `longest` is the norm of the longest point, `whole` says whether all points are whole numbers.
    Each number is off by at most (width + 3) roundings of (‖x‖ + ‖z‖)², and so is half the sum that
    decides in its place. Nothing is known where squares vanish.
    """
    squares = 0.0
    for e in range(start, stop):
        squares += values[e] * values[e]
        whole = whole and values[e] == math.floor(values[e])
    norm = math.sqrt(squares)
    reach = (norm + longest) * (norm + longest)
    if whole and reach < EXACT_BELOW:
        return 0.0
    if norm + longest < NEAREST:
        return np.inf
    return 2.0 * (width + 8) * EPSILON * reach


@compiled(fastmath=FUSED)
def _find_best(closeness: Any, work: Any) -> None:
    """The best point of every partitioning; `closeness` has a number for each point."""
    n_partitionings = work.shape[1]
    stop = len(closeness) // n_partitionings
    for k in range(0, stop - 3, 4):
        at, number = k * n_partitionings, float(k)
        for i in range(n_partitionings):
            best = work[LARGEST, i], work[SECOND, i], work[NUMBER, i]
            best = _better(best, closeness[at + i], number)
            best = _better(best, closeness[at + n_partitionings + i], number + 1.0)
            best = _better(best, closeness[at + 2 * n_partitionings + i], number + 2.0)
            best = _better(best, closeness[at + 3 * n_partitionings + i], number + 3.0)
            work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = best
    for k in range(stop - stop % 4, stop):
        for i in range(n_partitionings):
            best = work[LARGEST, i], work[SECOND, i], work[NUMBER, i]
            best = _better(best, closeness[k * n_partitionings + i], float(k))
            work[LARGEST, i], work[SECOND, i], work[NUMBER, i] = best


@compiled(fastmath=FUSED)
def _find_best_at(closeness: Any, places: Any, work: Any) -> None:
    """The same where point p has the number places[p]: several points may be one row."""
    n_partitionings = work.shape[1]
    for k in range(len(places) // n_partitionings):
        for i in range(n_partitionings):
            best = work[LARGEST, i], work[SECOND, i], work[NUMBER, i]
            best = _better(best, closeness[places[k * n_partitionings + i]], float(k))
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
def find_cells_sparse(
    row_entries: Any, by_column: Any, by_point: Any, halves: Any, places: Any, longest: float,
    whole: bool, closeness: Any, work: Any, cells: Any,
) -> None:  # fmt: skip
    """Cells of sparse rows: rows × partitionings. Points stand twice, by columns and by points,
    each as (values, indices, starts); `halves` are their -‖z‖²/2, and `closeness` is scratch
    memory."""
    values, columns, starts, width = row_entries
    held, holders, begins = by_column
    size = max(len(places), len(halves)) // work.shape[1]
    for row in range(len(cells)):
        start, stop = starts[row], starts[row + 1]
        slack = _slack_of(values, start, stop, width, longest, whole)
        closeness[:] = halves
        for e in range(start, stop):
            for h in range(begins[columns[e]], begins[columns[e] + 1]):
                closeness[holders[h]] += values[e] * held[h]
        work[LARGEST], work[SECOND], work[NUMBER] = -np.inf, -np.inf, 0.0
        if len(places):
            _find_best_at(closeness, places, work)
        else:
            _find_best(closeness, work)
        for i in range(work.shape[1]):
            cell = int(work[NUMBER, i])
            least = work[LARGEST, i] - slack
            if slack > 0.0 and not work[SECOND, i] < least:
                nearest, cell = np.inf, -1
                for k in range(size):
                    point = k * work.shape[1] + i
                    place = places[point] if len(places) else point
                    if closeness[place] < least:
                        continue
                    distance = _sparse_distance(values, columns, start, stop, by_point, place)
                    if cell < 0 or distance < nearest:
                        nearest, cell = distance, k
            cells[row, i] = cell


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
