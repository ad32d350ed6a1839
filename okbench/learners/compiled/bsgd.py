"""The walk of budgeted Pegasos: what leaves, or which two become one, when the budget is full.

At row n all coefficients are multiplied by 1 - 1/n and one of 1 / (λ n) is added, so that all
share the factor 1 / (λ n). It is left out here: what a row added stays as it is, no row costs a
sweep over the coefficients, and of those that are equal the oldest is the smallest.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.jit import compiled
from okbench.learners.compiled.budget import add
from okbench.learners.compiled.elementary import FUSED, exp
from okbench.learners.compiled.lanes import inlined
from okbench.learners.compiled.losses import HINGE, step
from okbench.learners.compiled.merging import (
    LOG_KERNEL,
    LOSS,
    M1,
    M2,
    TILE,
    H,
    search,
    search_in_table,
    value,
)
from okbench.learners.compiled.pegasos import Vectors, join, leave, score
from okbench.learners.compiled.sweeps import products
from okbench.learners.contract import FloatArray

SAME = 1.0 - 0.5e-8  # the kernel of vectors that count as identical: 1 to eight decimals


class Rule(NamedTuple):
    """BSGD in numbers."""

    budget: int
    decay: float
    sharpness: float
    merges: bool
    looks_up: bool  # the best place between two vectors, in a table


class Room(NamedTuple):
    """To choose a partner in."""

    tile: FloatArray
    table: FloatArray  # of `placed`, or nothing
    values: FloatArray  # entries of a vector, one an input
    columns: NDArray[np.int32]
    log_kernels: FloatArray  # 1 × lanes
    losses: FloatArray  # one a lane
    places: FloatArray


@compiled(fastmath=FUSED)
def learn_rows(
    rows: Any, targets: Any, seen: int, vectors: Vectors, size: int, rule: Rule, room: Room,
    kernel: Any, scores: Any,
) -> tuple[int, int]:  # fmt: skip
    """Score, then learn, every row: (size, rows that had a loss)."""
    coefficients, n_columns = vectors.coefficients, scores.shape[1]
    unit = 2.0 if n_columns == 1 else 1.0  # a single column is the lead over another
    updates = 0
    for i in range(len(targets)):
        score(rows, i, vectors, rule.sharpness, kernel, scores)
        before = seen + i
        for column in range(n_columns):
            scores[i, column] *= 1.0 / (before * rule.decay) if before > 0 else 0.0
        gain, plus, minus, _ = step(HINGE, scores, i, targets[i], 0.0)
        if gain == 0.0:
            continue
        updates += 1
        change = unit * gain
        if before == 0:  # the first row has weight 1, not 1 / λ, against the class that follows
            change *= rule.decay
            minus = (plus + 1) % n_columns if minus >= 0 else minus
        if size == rule.budget:
            twin = youngest_twin(vectors.order, size, kernel)
            if twin >= 0:
                if rule.merges:
                    add(coefficients, twin, plus, minus, change)
                continue
        add(coefficients, join(vectors, size, rows, i), plus, minus, change)
        size += 1
        if size > rule.budget:
            age = lightest(coefficients, vectors.order, size)
            if rule.merges:
                age = merge(vectors, size, age, rule, room)
            leave(vectors, size, age)
            size -= 1
    return size, updates


@inlined
def youngest_twin(order: Any, size: int, kernel: Any) -> int:
    """The slot of the youngest vector that is the row itself, or -1."""
    for age in range(size - 1, -1, -1):
        if kernel[0, order[age]] >= SAME:
            return int(order[age])
    return -1


@compiled()
def lightest(coefficients: Any, order: Any, size: int) -> int:
    """The vector with the shortest coefficients, the oldest of equals; its age."""
    chosen, least = 0, math.inf
    for age in range(size):
        square = 0.0
        for column in range(len(coefficients)):
            square += coefficients[column, order[age]] ** 2
        if square < least:
            chosen, least = age, square
    return chosen


@compiled(fastmath=FUSED)
def merge(vectors: Vectors, size: int, a_age: int, rule: Rule, room: Room) -> int:
    """Merge a vector with the partner that makes it cost least; the partner's age, to leave.

    Vectors a and b become h a + (1 - h) b, with coefficients α_a k^((1-h)²) + α_b k^(h²), where k
    is their kernel.
    """
    matrix, _, norms, coefficients, order = vectors
    a, tile = order[a_age], room.tile
    compare(vectors, a, rule.sharpness, room)
    for first in range(0, matrix.shape[1], TILE):
        share(coefficients, a, first, room.log_kernels, tile)
        if rule.looks_up:
            search_in_table(tile, room.table)
        else:
            search(tile)
        find_losses(coefficients, a, first, tile)
        for j in range(TILE):
            room.losses[first + j] = tile[LOSS + j]
            room.places[first + j] = tile[H + j]
    b_age, least = 1 if a_age == 0 else 0, math.inf
    for age in range(size):
        if age != a_age and room.losses[order[age]] < least:
            b_age, least = age, room.losses[order[age]]
    b = order[b_age]
    h, log_kernel = room.places[b], room.log_kernels[0, b]
    of_a, of_b = exp((1.0 - h) ** 2 * log_kernel), exp(h**2 * log_kernel)
    for column in range(len(coefficients)):
        merged = of_a * coefficients[column, a] + of_b * coefficients[column, b]
        coefficients[column, a] = merged
    place = max(h, 0.0)  # only the position is held back, as in the authors' program
    square = 0.0
    for n in range(len(matrix)):
        x = place * matrix[n, a] + (1.0 - place) * matrix[n, b]
        matrix[n, a] = x
        square += x * x
    norms[a] = square
    return b_age


@compiled(fastmath=FUSED)
def compare(vectors: Vectors, a: int, sharpness: float, room: Room) -> None:
    """The logarithm of the kernel of a vector with every lane."""
    matrix, place, norms, _, _ = vectors
    _, _, values, columns, log_kernels, _, _ = room
    n_held = 0
    for n in range(len(matrix)):
        if matrix[n, a] != 0.0:
            values[n_held], columns[n_held] = matrix[n, a], n
            n_held += 1
    width, norm = matrix.shape[1], norms[a]
    products(values, columns, 0, n_held, matrix, place, width, log_kernels, 0)
    for j in range(width):
        distance = norm + norms[j] - 2.0 * log_kernels[0, j]
        log_kernels[0, j] = sharpness * (distance if distance > 0.0 else 0.0)


@compiled(fastmath=FUSED)
def share(coefficients: Any, a: int, first: int, log_kernels: Any, tile: Any) -> None:
    """What the search for a tile begins with: kernels, and both vectors' shares of a merge."""
    for j in range(TILE):
        tile[LOG_KERNEL + j] = log_kernels[0, first + j]
        tile[M1 + j] = tile[M2 + j] = 0.0
    for column in range(len(coefficients)):
        of_a = coefficients[column, a]
        for j in range(TILE):
            of_b = coefficients[column, first + j]
            total = of_a + of_b
            total = 1e-4 if total == 0.0 else total
            tile[M1 + j] += of_a / total
            tile[M2 + j] += of_b / total


@compiled(fastmath=FUSED)
def find_losses(coefficients: Any, a: int, first: int, tile: Any) -> None:
    """The squared distance between the sum of two vectors and what they are merged to."""
    for j in range(TILE):
        tile[LOSS + j] = 0.0
    for column in range(len(coefficients)):
        of_a = coefficients[column, a]
        for j in range(TILE):
            log_kernel, of_b = tile[LOG_KERNEL + j], coefficients[column, first + j]
            merged = value(of_a, of_b, log_kernel, tile[H + j])
            both = of_a * of_a + of_b * of_b + 2.0 * exp(log_kernel) * of_a * of_b
            tile[LOSS + j] += both - merged * merged
