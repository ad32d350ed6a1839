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
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, exp
from okbench.learners.numeric.lanes import Lanes, aligned, inlined
from okbench.learners.numeric.losses import add_step, lead_factor, next_column, step
from okbench.learners.numeric.merging import (
    ALIKE,
    KERNEL,
    LOG_KERNEL,
    LOSS,
    M1,
    M2,
    OF_A,
    OF_B,
    TILE_SIZE,
    H,
    search,
    search_in_table,
)
from okbench.learners.numeric.pegasos import (
    join_dense,
    leave_dense,
    oldest_of_least,
    score_row,
    weigh,
)
from okbench.learners.numeric.supports import TILE, Supports
from okbench.learners.numeric.vector_products import products
from okbench.learners.numeric.walks import RowStream

SAME = 1.0 - 0.5e-8  # the kernel of vectors that count as identical: 1 to eight decimals
NO_SUM = 1e-4  # stands for a sum of two coefficients that is 0, in the authors' program


class BSGDRule(NamedTuple):
    """BSGD in numbers."""

    budget: int
    loss: int
    formula: Any
    decay: float
    merges: bool
    looks_up: bool  # the best place between two vectors, in a table


class Partners(NamedTuple):
    """Scratch to choose a partner in, and the table of places if they are looked up."""

    table: FloatArray  # of `placed`, or nothing
    tile: FloatArray
    values: FloatArray  # entries of a vector, one per input
    columns: NDArray[np.int32]
    log_kernels: FloatArray  # 1 × lanes
    squares: FloatArray  # of the coefficients' lengths, one per lane
    losses: FloatArray
    places: FloatArray

    @classmethod
    def of(cls, supports: Supports, table: FloatArray) -> Partners:
        n_features = len(supports.lanes.place)
        per_lane = aligned(4, supports.coefficients.shape[1])
        return cls(
            table=table,
            tile=aligned(TILE_SIZE),
            values=aligned(n_features),
            columns=np.zeros(n_features, dtype=np.int32),
            log_kernels=per_lane[:1],
            squares=per_lane[1],
            losses=per_lane[2],
            places=per_lane[3],
        )


@compiled(fastmath=FUSED)
def learn_bsgd(
    stream: RowStream,
    supports: Supports,
    size: int,
    rule: BSGDRule,
    partners: Partners,
    kernel: Any,
) -> tuple[int, int]:
    """Score, then learn, every row: (size, rows that had a loss)."""
    rows, targets, scores, seen = stream
    lanes, coefficients, order = supports.lanes, supports.coefficients, supports.order
    squares, n_columns = partners.squares, scores.shape[1]
    updates = 0
    for i in range(len(targets)):
        score_row(rows, i, supports, rule.formula, kernel, scores)
        before = seen + i
        for column in range(n_columns):
            scores[i, column] *= 1.0 / (before * rule.decay) if before > 0 else 0.0
        gain, plus, minus, _ = step(rule.loss, scores, i, targets[i], 0.0)
        if gain == 0.0:
            continue
        updates += 1
        change = lead_factor(minus) * gain
        if before == 0:  # the first row has weight 1, not 1 / λ, against the class that follows
            change *= rule.decay
            minus = next_column(plus, minus, n_columns)
        if size == rule.budget:
            twin = youngest_twin(order, size, kernel)
            if twin >= 0:
                if rule.merges:
                    add_step(coefficients, twin, plus, minus, change)
                continue
        slot = join_dense(supports, size, rows, i, before)
        add_step(coefficients, slot, plus, minus, change)
        size += 1
        if size > rule.budget:
            weigh(coefficients, squares)
            leaver = oldest_of_least(squares, order, size)
            if rule.merges:
                stays = order[leaver]
                measure_kernels(lanes, stays, rule.formula, partners)
                no_sum = NO_SUM * rule.decay * (before + 1.0)
                weigh_partners(coefficients, stays, rule.looks_up, no_sum, partners)
                leaver = unite(lanes, coefficients, order, stays, size, partners)
            leave_dense(lanes, coefficients, order, size, leaver)
            size -= 1
    return size, updates


@inlined
def youngest_twin(order: Any, size: int, kernel: Any) -> int:
    """The slot of the youngest support that is the row itself, or -1."""
    n_same = 0
    for lane in range(kernel.shape[1]):  # no support at all is the rule, seen in one sweep
        n_same += kernel[0, lane] >= SAME
    place = size - 1 if n_same > 0 else -1
    while place >= 0 and not kernel[0, order[place]] >= SAME:
        place -= 1
    return int(order[place]) if place >= 0 else -1


@compiled(fastmath=FUSED)
def measure_kernels(lanes: Lanes, a: int, formula: Any, partners: Partners) -> None:
    """The logarithm of the kernel of a vector with every lane."""
    matrix, norms = lanes.matrix, lanes.squared_norms
    log_kernels, values, columns = partners.log_kernels, partners.values, partners.columns
    n_held = 0
    for n in range(len(matrix)):
        values[n_held], columns[n_held] = matrix[n, a], n
        n_held += matrix[n, a] != 0.0
    width, norm = matrix.shape[1], norms[a]
    products(values, columns, 0, n_held, matrix, lanes.place, width, log_kernels, 0)
    for j in range(width):
        distance = norm + norms[j] - 2.0 * log_kernels[0, j]
        log_kernels[0, j] = formula.sharpness * (distance if distance > 0.0 else 0.0)


@compiled(fastmath=FUSED)
def weigh_partners(
    coefficients: Any, a: int, looks_up: bool, no_sum: float, partners: Partners
) -> None:
    """Where a vector and each lane would be merged, and what that would cost."""
    tile, losses = partners.tile, partners.losses
    for first in range(0, len(losses), TILE):
        share(coefficients, a, first, no_sum, partners.log_kernels, tile)
        if looks_up:
            search_in_table(tile, partners.table)
        else:
            search(tile)
        find_losses(coefficients, a, first, tile)
        for j in range(TILE):
            losses[first + j] = tile[LOSS + j]
            partners.places[first + j] = tile[H + j]
    losses[a] = math.inf


@compiled(fastmath=FUSED)
def unite(
    lanes: Lanes, coefficients: Any, order: Any, a: int, size: int, partners: Partners
) -> int:
    """Merge a vector with the partner that makes it cost least, of equals the oldest; the partner's
    place, to leave.

    Vectors a and b become h a + (1 - h) b, with coefficients α_a k^((1-h)²) + α_b k^(h²), where k
    is their kernel.
    """
    matrix = lanes.matrix
    losses, squares = partners.losses, partners.squares
    least, place_of_b = losses[order[oldest_of_least(losses, order, size)]], 0
    b = order[0]  # a loss is a difference of numbers as large as both squares
    while place_of_b < size - 1 and not losses[b] - least <= ALIKE * (squares[a] + squares[b]):
        place_of_b += 1
        b = order[place_of_b]
    h, log_kernel = partners.places[b], partners.log_kernels[0, b]
    of_a, of_b = exp((1.0 - h) ** 2 * log_kernel), exp(h**2 * log_kernel)
    for column in range(len(coefficients)):
        merged = of_a * coefficients[column, a] + of_b * coefficients[column, b]
        coefficients[column, a] = merged
    place = max(h, 0.0)  # only the position is held back, as in the authors' program
    norm = 0.0
    for n in range(len(matrix)):
        x = place * matrix[n, a] + (1.0 - place) * matrix[n, b]
        matrix[n, a] = x
        norm += x * x
    lanes.squared_norms[a] = norm
    return place_of_b


@inlined
def share(
    coefficients: Any, a: int, first: int, no_sum: float, log_kernels: Any, tile: Any
) -> None:
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
            total = no_sum if abs(total) <= ALIKE * (abs(of_a) + abs(of_b)) else total
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
