"""The walk of a budgeted expansion that hands the vectors it drops over to random features."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.fourier import find_features
from okbench.learners.numeric.lanes import aligned, dot, inlined
from okbench.learners.numeric.losses import step
from okbench.learners.numeric.pegasos import (
    join_dense,
    leave_dense,
    oldest_of_least,
    score_row,
    weigh,
)
from okbench.learners.numeric.supports import Supports, scale
from okbench.learners.numeric.vector_products import products

ANGLES, COSINES, SINES = 0, 1, 2  # rows of the scratch memory


class Features(NamedTuple):
    """Random features of the kernel; lanes behind the last component are padding."""

    components: int
    frequencies: FloatArray  # inputs × lanes
    weights: FloatArray  # 2 columns × lanes: cosines and sines of a column below each other


class DualWorkspace(NamedTuple):
    """The features, and where those of one row are made: no part of the model.

    In one tuple, because the walk is a sixth slower where the scratch memory is handed on apart.
    """

    components: int
    frequencies: FloatArray
    weights: FloatArray
    scratch: FloatArray  # 3 × lanes: ANGLES, COSINES, SINES

    @classmethod
    def of(cls, features: Features) -> DualWorkspace:
        return cls(*features, scratch=aligned(3, features.weights.shape[1]))


class Rule(NamedTuple):
    """DualSGD in numbers."""

    budget: int
    handed_over: int  # vectors, when the budget is full; no more than it
    loss: int
    epsilon: float
    decay: float
    formula: Any
    stale: bool  # a recycled row of coefficients keeps what is not overwritten


@compiled(fastmath=FUSED)
def learn_dual(
    rows: Any, targets: Any, seen: int, vectors: Supports, size: int, features: DualWorkspace,
    leftover: Any, rule: Rule, kernel: Any, scores: Any,
) -> tuple[int, int]:  # fmt: skip
    """Score, then learn, every row: (size, rows that had a loss)."""
    coefficients, n_columns = vectors.coefficients, scores.shape[1]
    lanes, order = vectors.lanes, vectors.order
    matrix = lanes.matrix
    lengths = np.empty(coefficients.shape[1])
    updates = 0
    for i in range(len(targets)):
        dual_score(rows, i, vectors, features, rule.formula, kernel, scores)
        gain, plus, minus, _ = step(rule.loss, scores, i, targets[i], rule.epsilon)
        updates += gain != 0.0
        t = seen + i
        for held in (coefficients, leftover, features.weights):
            scale(held, t / (t + 1.0))
        if size == rule.budget:
            if rule.stale:
                keep_leftover(vectors, size, leftover)
            find_lengths(coefficients, lengths)
            for _ in range(rule.handed_over):
                place = oldest_of_least(lengths, order, size)
                hand_over(matrix, coefficients, order[place], features)
                leave_dense(lanes, coefficients, order, size, place)
                size -= 1
        lane = join_dense(vectors, size, rows, i, t)
        recycled = size - (rule.budget - leftover.shape[1])
        if rule.stale and recycled >= 0:
            for column in range(n_columns):
                coefficients[column, lane] = leftover[column, recycled]
        change = gain / (rule.decay * (t + 1.0))
        coefficients[plus, lane] = change
        if minus >= 0 and t > 0:  # nobody has a score to be the runner-up at first
            coefficients[minus, lane] = -change
        size += 1
    return size, updates


@compiled(fastmath=FUSED)
def score_dual(
    rows: Any,
    vectors: Supports,
    features: DualWorkspace,
    formula: Any,
    kernel: Any,
    scores: Any,
) -> None:
    """Scores of rows; nothing is learned."""
    for i in range(len(scores)):
        dual_score(rows, i, vectors, features, formula, kernel, scores)


@inlined
def dual_score(
    rows: Any, i: int, vectors: Supports, features: DualWorkspace, formula: Any, kernel: Any,
    scores: Any,
) -> None:  # fmt: skip
    """Scores of row i."""
    components, frequencies, weights, scratch = features
    score_row(rows, i, vectors, formula, kernel, scores)
    products(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], frequencies,
        vectors.lanes.place, scratch.shape[1], scratch, ANGLES,
    )  # fmt: skip
    find_padded_features(components, scratch)
    for column in range(scores.shape[1]):
        cosines = dot(weights, 2 * column, scratch, COSINES, scratch.shape[1])
        sines = dot(weights, 2 * column + 1, scratch, SINES, scratch.shape[1])
        scores[i, column] += (cosines + sines) / math.sqrt(components)


@compiled(fastmath=FUSED)
def find_padded_features(components: int, scratch: Any) -> None:
    """The features of the angles; those of the padding are zero."""
    find_features(scratch[ANGLES], scratch[COSINES], scratch[SINES])
    for j in range(components, scratch.shape[1]):
        scratch[COSINES, j] = 0.0


@compiled(fastmath=FUSED)
def hand_over(matrix: Any, coefficients: Any, lane: int, features: DualWorkspace) -> None:
    """Add the features of a vector to the weights, times its coefficients."""
    components, frequencies, weights, scratch = features
    scratch[ANGLES] = 0.0
    for n in range(len(frequencies)):
        x = matrix[n, lane]
        if x != 0.0:
            for j in range(scratch.shape[1]):
                scratch[ANGLES, j] += x * frequencies[n, j]
    find_padded_features(components, scratch)
    for column in range(len(coefficients)):
        coefficient = coefficients[column, lane] / math.sqrt(components)
        for j in range(scratch.shape[1]):
            weights[2 * column, j] += coefficient * scratch[COSINES, j]
            weights[2 * column + 1, j] += coefficient * scratch[SINES, j]


@compiled()
def find_lengths(coefficients: Any, lengths: Any) -> None:
    """The lengths of the vectors' coefficients.

    Many are equal but for the rounding of all they were multiplied by, which decides then, as it
    does in the authors' program: the root is taken, because it rounds as well.
    """
    weigh(coefficients, lengths)
    for lane in range(len(lengths)):
        lengths[lane] = math.sqrt(lengths[lane])


@inlined
def keep_leftover(vectors: Supports, size: int, leftover: Any) -> None:
    """Remember the coefficients of the youngest, whose places are about to be free."""
    n_kept = leftover.shape[1]
    for k in range(n_kept):
        slot = vectors.order[size - n_kept + k]
        for column in range(len(leftover)):
            leftover[column, k] = vectors.coefficients[column, slot]
