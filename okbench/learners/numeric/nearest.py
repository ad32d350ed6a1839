"""Which point of each partitioning is nearest to a row, from products in single precision.

A point z is the nearer to x the larger x·z - ‖z‖²/2 is, its closeness here. A product of matrices
gives it for many points and rows at once, in single precision and in any order of summation.
`slack_of` bounds how far apart two computed numbers are that may be in the wrong order. Where more
than one point lies within that distance, the squared differences of the columns are added up in
doubles, one after the other, and of equal sums the first point counts as the nearest. So a cell
depends on neither the product, nor the rows beside a row, nor the form of the rows.

Points and rows are moved and scaled before they are rounded, by the same vector and the same power
of two. Rows are the columns of a product, and vectorised loops run along them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED

HALF_EPSILON = 2.0**-24  # the most that one rounding to single precision is off, relative
EXACT_BELOW = 2.0**22  # halves of whole numbers are exact in single precision below it
FARTHEST, NEAREST = 1e150, 1e-140  # norms whose squares doubles can hold, with digits to spare
LONGEST_SINGLE = 1e18  # norms of scaled rows whose products single precision can hold


@compiled()
def slack_of(norm: float, longest: float, width: int, scale: float, whole: bool) -> float:
    """How far apart two closenesses of a row must be to be in the right order.

    `norm` and `longest` are of the row and of the longest point, as moved and scaled; `whole` says
    that all values are whole numbers before they are scaled.

    Let u = 2⁻²⁴ and r = (‖x‖ + ‖z‖)². A closeness is a sum of width + 1 products of numbers that
    were rounded once, in any order, so that it is off by at most γ (‖x‖ ‖z‖ + ‖z‖²/2) <= γ r/2 with
    γ = n u / (1 - n u) and n = width + 3 (Higham 2002, section 3.1). The difference of two is off
    by twice as much. Five more roundings are more than what doubles, norms and numbers that vanish
    in single precision can add. Nothing is known where numbers overflow, or squares vanish.
    """
    reach = (norm + longest) * (norm + longest)
    unscaled = (norm + longest) / scale
    if not (norm < LONGEST_SINGLE and unscaled < FARTHEST):
        return np.inf
    if whole and unscaled * unscaled < EXACT_BELOW:
        return 0.0
    roundings = (width + 8) * HALF_EPSILON
    if unscaled < NEAREST or roundings >= 1.0:
        return np.inf
    return roundings / (1.0 - roundings) * reach


@compiled()
def round_rows(
    rows: Any, shift: Any, scale: float, longest: float, whole: bool, rounded: Any, slacks: Any
) -> None:
    """Fill in rows as they are multiplied, with a last column of ones, and their slacks."""
    width = len(shift)
    for r in range(len(rows)):
        squares, is_whole = 0.0, whole
        for j in range(width):
            value = (rows[r, j] - shift[j]) * scale
            rounded[r, j] = value
            squares += value * value
        if is_whole:
            for j in range(width):
                is_whole = is_whole and rows[r, j] == math.floor(rows[r, j])
        rounded[r, width] = 1.0
        slacks[r] = slack_of(math.sqrt(squares), longest, width, scale, is_whole)


@compiled(fastmath=FUSED)
def find_best(closeness: Any, lines: Any, best: Any, second: Any, number: Any) -> None:
    """The largest closeness of each row to the points of a partitioning, which stand in `lines`,
    the second largest, and the number of the largest."""
    stop = len(lines)
    for k in range(0, stop - 3, 4):
        a, b, c, d = lines[k], lines[k + 1], lines[k + 2], lines[k + 3]
        at = np.int32(k)
        for r in range(len(best)):
            high, low, held = best[r], second[r], number[r]
            found = closeness[a, r]
            lesser = high if found > high else found
            low = lesser if lesser > low else low
            held = at if found > high else held
            high = found if found > high else high
            found = closeness[b, r]
            lesser = high if found > high else found
            low = lesser if lesser > low else low
            held = np.int32(at + 1) if found > high else held
            high = found if found > high else high
            found = closeness[c, r]
            lesser = high if found > high else found
            low = lesser if lesser > low else low
            held = np.int32(at + 2) if found > high else held
            high = found if found > high else high
            found = closeness[d, r]
            lesser = high if found > high else found
            low = lesser if lesser > low else low
            held = np.int32(at + 3) if found > high else held
            high = found if found > high else high
            best[r], second[r], number[r] = high, low, held
    for k in range(stop - stop % 4, stop):
        a, at = lines[k], np.int32(k)
        for r in range(len(best)):
            high, low = best[r], second[r]
            found = closeness[a, r]
            lesser = high if found > high else found
            second[r] = lesser if lesser > low else low
            number[r] = at if found > high else number[r]
            best[r] = found if found > high else high


@compiled()
def find_cells(
    rows: Any, points: Any, lines: Any, offset: int, closeness: Any, slacks: Any, work: Any,
    number: Any, cells: Any, column: int,
) -> None:  # fmt: skip
    """Cells of rows (rows × partitionings) in the partitionings whose points stand in `lines`, from
    `column` on. `lines` has the place of every point, and its closenesses stand `offset` lines
    before it."""
    own = np.empty(lines.shape[1], dtype=np.int64)
    best, second = work[0], work[1]
    for i in range(len(lines)):
        for k in range(len(own)):
            own[k] = lines[i, k] - offset
        best[:], second[:], number[:] = -np.inf, -np.inf, 0
        find_best(closeness, own, best, second, number)
        for r in range(len(rows)):
            cell = int(number[r])
            least = best[r] - slacks[r]
            if slacks[r] > 0.0 and not second[r] < least:
                cell = -1
                nearest = np.inf
                for k in range(len(own)):
                    if slacks[r] < np.inf and closeness[own[k], r] < least:
                        continue
                    distance = squared_distance(rows, r, points, lines[i, k], nearest)
                    if cell < 0 or distance < nearest:
                        nearest, cell = distance, k
            cells[r, column + i] = cell


@compiled()
def settle(rows: Any, points: Any, lines: Any, slacks: Any, counts: Any, cells: Any) -> None:
    """Find again, by squared differences, the cells (rows × partitionings) of which not just one
    point may be the nearest, as `counts` (partitionings × rows) says. Where closenesses are exact,
    the cell is right already."""
    for i in range(lines.shape[0]):
        for r in range(len(rows)):
            if counts[i, r] == 1 or slacks[r] == 0.0:
                continue
            cell, nearest = -1, np.inf
            for k in range(lines.shape[1]):
                distance = squared_distance(rows, r, points, lines[i, k], nearest)
                if cell < 0 or distance < nearest:
                    nearest, cell = distance, k
            cells[r, i] = cell


@compiled()
def squared_distance(rows: Any, r: int, points: Any, p: int, enough: float) -> float:
    """The squared differences of a row and a point, added up in the order of the columns; the sum
    so far once it is above `enough`."""
    distance = 0.0
    for j in range(points.shape[1]):
        difference = rows[r, j] - points[p, j]
        distance += difference * difference
        if distance > enough:
            break
    return distance
