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

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED, exp
from okbench.learners.compiled.lanes import inlined
from okbench.learners.compiled.losses import HINGE, step
from okbench.learners.compiled.rules.budget import add
from okbench.learners.compiled.rules.merging import (
    KERNEL,
    LOG_KERNEL,
    LOSS,
    M1,
    M2,
    OF_A,
    OF_B,
    TILE,
    H,
    search,
    search_in_table,
)
from okbench.learners.compiled.rules.pegasos import (
    NOBODY,
    Vectors,
    join,
    leave,
    lightest,
    oldest_of_least,
    score,
)
from okbench.learners.compiled.vector_products import products
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
            twin = youngest_twin(vectors.tickets, kernel)
            if twin >= 0:
                if rule.merges:
                    add(coefficients, twin, plus, minus, change)
                continue
        add(coefficients, join(vectors, size, rows, i, before), plus, minus, change)
        size += 1
        if size > rule.budget:
            lane = lightest(vectors)
            if rule.merges:
                compare(vectors, lane, rule.sharpness, room)
                weigh_partners(coefficients, lane, rule.looks_up, room)
                lane = unite(vectors, lane, room)
            leave(vectors, size, lane)
            size -= 1
    return size, updates


@inlined
def youngest_twin(tickets: Any, kernel: Any) -> int:
    """The lane of the youngest vector that is the row itself, or -1."""
    youngest = -1
    for lane in range(len(tickets)):
        ticket = tickets[lane] if tickets[lane] != NOBODY else -1
        youngest = max(youngest, ticket if kernel[0, lane] >= SAME else -1)
    return youngest % len(tickets) if youngest >= 0 else -1


@compiled(fastmath=FUSED)
def compare(vectors: Vectors, a: int, sharpness: float, room: Room) -> None:
    """The logarithm of the kernel of a vector with every lane."""
    matrix, norms, log_kernels = vectors.matrix, vectors.squared_norms, room.log_kernels
    n_held = 0
    for n in range(len(matrix)):
        room.values[n_held], room.columns[n_held] = matrix[n, a], n
        n_held += matrix[n, a] != 0.0
    width, norm = matrix.shape[1], norms[a]
    products(room.values, room.columns, 0, n_held, matrix, vectors.place, width, log_kernels, 0)
    for j in range(width):
        distance = norm + norms[j] - 2.0 * log_kernels[0, j]
        log_kernels[0, j] = sharpness * (distance if distance > 0.0 else 0.0)


@compiled(fastmath=FUSED)
def weigh_partners(coefficients: Any, a: int, looks_up: bool, room: Room) -> None:
    """Where a vector and each lane would be merged, and what that would cost."""
    tile, losses = room.tile, room.losses
    for first in range(0, len(losses), TILE):
        share(coefficients, a, first, room.log_kernels, tile)
        if looks_up:
            search_in_table(tile, room.table)
        else:
            search(tile)
        find_losses(coefficients, a, first, tile)
        for j in range(TILE):
            losses[first + j] = tile[LOSS + j]
            room.places[first + j] = tile[H + j]
    losses[a] = math.inf


@compiled(fastmath=FUSED)
def unite(vectors: Vectors, a: int, room: Room) -> int:
    """Merge a vector with the partner that makes it cost least; the partner's lane, to leave.

    Vectors a and b become h a + (1 - h) b, with coefficients α_a k^((1-h)²) + α_b k^(h²), where k
    is their kernel.
    """
    matrix, coefficients = vectors.matrix, vectors.coefficients
    b = oldest_of_least(room.losses, vectors.tickets)
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
    vectors.squared_norms[a] = square
    return b


@inlined
def share(coefficients: Any, a: int, first: int, log_kernels: Any, tile: Any) -> None:
    """What the search for a tile begins with: kernels, and both vectors' shares of a merge."""
    for j in range(TILE):
        tile[LOG_KERNEL + j] = log_kernels[0, first + j]
        tile[KERNEL + j] = exp(log_kernels[0, first + j])
        tile[M1 + j] = tile[M2 + j] = 0.0
    for column in range(len(coefficients)):
        of_a = coefficients[column, a]
        for j in range(TILE):
            of_b = coefficients[column, first + j]
            total = of_a + of_b
            total = 1e-4 if total == 0.0 else total
            tile[M1 + j] += of_a / total
            tile[M2 + j] += of_b / total


@inlined
def find_losses(coefficients: Any, a: int, first: int, tile: Any) -> None:
    """The squared distance between the sum of two vectors and what they are merged to."""
    for j in range(TILE):
        h, log_kernel = tile[H + j], tile[LOG_KERNEL + j]
        tile[OF_A + j] = exp((1.0 - h) * (1.0 - h) * log_kernel)
        tile[OF_B + j] = exp(h * h * log_kernel)
        tile[LOSS + j] = 0.0
    for column in range(len(coefficients)):
        of_a = coefficients[column, a]
        for j in range(TILE):
            of_b = coefficients[column, first + j]
            merged = of_b * tile[OF_B + j] + of_a * tile[OF_A + j]
            both = of_a * of_a + of_b * of_b + 2.0 * tile[KERNEL + j] * of_a * of_b
            tile[LOSS + j] += both - merged * merged
