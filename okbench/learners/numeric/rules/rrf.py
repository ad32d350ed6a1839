"""The walk of a linear model over random features whose scales it learns as well."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, exp
from okbench.learners.numeric.fourier import (
    COSINES,
    SINES,
    Scratch,
    find_features,
    find_near_features,
)
from okbench.learners.numeric.lanes import inlined
from okbench.learners.numeric.losses import step
from okbench.learners.numeric.vector_products import (
    inner_product,
    inner_products,
    scaled_products,
)


class Model(NamedTuple):
    """Angles of a row x are (x · scales) noise; its features are their cosines and sines.

    Lanes behind the last component are padding: their noise and their weights are zero.
    """

    components: int
    noise: FloatArray  # inputs × lanes
    log_scales: FloatArray  # one per input
    scales: FloatArray  # their exponentials
    weights: FloatArray  # 2 columns × lanes: cosines and sines of a column below each other


class Workspace(NamedTuple):
    """A model, and where the features of one row are made: no part of it, and held by a caller.

    In one tuple, because the walk is slower where the scratch memory is handed on apart.
    """

    components: int
    noise: FloatArray
    log_scales: FloatArray
    scales: FloatArray
    weights: FloatArray
    features: FloatArray  # 2 × lanes
    angles: FloatArray  # 1 × lanes; then how the margin rises with each of them
    rises: FloatArray  # how the margin rises with each input that the row holds

    @classmethod
    def of(cls, model: Model) -> Workspace:
        angles, features = Scratch.empty(model.weights.shape[1])
        return cls(*model, features, angles, np.empty(len(model.noise)))


class Rates(NamedTuple):
    """How far a model moves."""

    loss: int
    epsilon: float
    step: float
    scale_step: float  # of the log-scales; 0 keeps them
    keep: float  # what the weights are multiplied by at every row


@compiled()
def learn_with_scales(rows: Any, targets: Any, work: Workspace, rates: Rates, scores: Any) -> int:
    """Score, then learn, every row; how many had a loss."""
    row, updates = learn_near(rows, targets, work, rates, scores, 0, -1)
    while row < len(scores):
        find_features(work.angles[0], work.features[COSINES], work.features[SINES])
        row, more = learn_near(rows, targets, work, rates, scores, row, row)
        updates += more
    return updates


@compiled()
def score_with_scales(rows: Any, work: Workspace, scores: Any) -> None:
    """`learn_with_scales` without learning."""
    row = score_near(rows, work, scores, 0, -1)
    while row < len(scores):
        find_features(work.angles[0], work.features[COSINES], work.features[SINES])
        row = score_near(rows, work, scores, row, row)


@compiled(fastmath=FUSED)
def learn_near(
    rows: Any, targets: Any, work: Workspace, rates: Rates, scores: Any, first: int, known: int,
) -> tuple[int, int]:  # fmt: skip
    """`learn_with_scales` from row `first` up to the next with an angle that `sincos` cannot reach:
    (that row, rows that had a loss). The features of row `known` are there already."""
    values, columns, starts = rows
    components, noise, log_scales, scales, weights, features, angles, rises = work
    updates = 0
    for i in range(first, len(scores)):
        start, stop = starts[i], starts[i + 1]
        if i != known:
            scaled_products(
                values, columns, start, stop, noise, scales, angles.shape[1], angles, 0
            )  # fmt: skip
            if not find_near_features(angles, features):
                return i, updates
        for column in range(scores.shape[1]):  # its halves lie one behind the other
            scores[i, column] = inner_product(weights, 2 * column, features, 0, features.size)
        gain, plus, minus, _ = step(rates.loss, scores, i, targets[i], rates.epsilon)
        if gain != 0.0 and rates.scale_step != 0.0:
            find_slopes(weights, plus, minus, features, angles)
            inner_products(columns, start, stop, noise, angles, 0, angles.shape[1], rises)
            rate = rates.scale_step * gain
            move_scales(values, columns, start, stop, log_scales, scales, rises, rate)
        if rates.keep != 1.0:
            for half in range(len(weights)):
                for j in range(weights.shape[1]):
                    weights[half, j] *= rates.keep
        if gain != 0.0:
            updates += 1
            add(weights, plus, rates.step * gain, features, components)
            if minus >= 0:
                add(weights, minus, -rates.step * gain, features, components)
    return len(scores), updates


@compiled(fastmath=FUSED)
def score_near(rows: Any, work: Workspace, scores: Any, first: int, known: int) -> int:
    """`learn_near` without learning."""
    values, columns, starts = rows
    _, noise, _, scales, weights, features, angles, _ = work
    for i in range(first, len(scores)):
        if i != known:
            scaled_products(
                values, columns, starts[i], starts[i + 1], noise, scales, angles.shape[1],
                angles, 0,
            )  # fmt: skip
            if not find_near_features(angles, features):
                return i
        for column in range(scores.shape[1]):  # its halves lie one behind the other
            scores[i, column] = inner_product(weights, 2 * column, features, 0, features.size)
    return len(scores)


@inlined
def find_slopes(weights: Any, plus: int, minus: int, features: Any, slopes: Any) -> None:
    """How the score of column `plus`, less that of `minus`, rises with every angle."""
    row = 2 * plus
    for j in range(slopes.shape[1]):
        cosine, sine = features[COSINES, j], features[SINES, j]
        slopes[0, j] = cosine * weights[row + SINES, j] - sine * weights[row, j]
    if minus >= 0:
        row = 2 * minus
        for j in range(slopes.shape[1]):
            cosine, sine = features[COSINES, j], features[SINES, j]
            slopes[0, j] -= cosine * weights[row + SINES, j] - sine * weights[row, j]


@inlined
def move_scales(
    values: Any, columns: Any, start: int, stop: int, log_scales: Any, scales: Any, rises: Any,
    rate: float,
) -> None:  # fmt: skip
    """Move each log-scale g by rate · dm/dg, with dm/dg = exp(g) x (noise slopes)."""
    for e in range(start, stop):
        n = columns[e]
        log_scales[n] += rate * scales[n] * values[e] * rises[e - start]
        scales[n] = exp(log_scales[n])


@inlined
def add(weights: Any, column: int, factor: float, features: Any, components: int) -> None:
    """Add factor times the features to a column's weights."""
    row = 2 * column
    for j in range(features.shape[1]):
        weights[row, j] += factor * features[COSINES, j]
        weights[row + SINES, j] += factor * features[SINES, j]
    for j in range(components, features.shape[1]):  # padding has cosines of 1
        weights[row, j] = 0.0
