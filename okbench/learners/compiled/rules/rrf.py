"""The walk of a linear model over random features whose scales it learns as well."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED, SINCOS_REACH, exp, sincos
from okbench.learners.compiled.lanes import inlined
from okbench.learners.compiled.losses import step
from okbench.learners.compiled.vector_products import (
    inner_product,
    inner_products,
    reaches,
    scaled_products,
)
from okbench.learners.contract import FloatArray

COSINES, SINES = 0, 1  # halves of the features, and of the weights of a column


class Model(NamedTuple):
    """Angles of a row x are (x · scales) noise; its features are their cosines and sines.

    Lanes behind the last component are padding: their noise and their weights are zero.
    """

    components: int
    noise: FloatArray  # inputs × lanes
    log_scales: FloatArray  # one an input
    scales: FloatArray  # their exponentials
    weights: FloatArray  # 2 columns × lanes: cosines and sines of a column below each other
    features: FloatArray  # 2 × lanes, of the row at hand
    angles: FloatArray  # 1 × lanes; then how the margin rises with each of them
    rises: FloatArray  # how the margin rises with each input that the row holds


class Rates(NamedTuple):
    """How far a model moves."""

    loss: int
    epsilon: float
    step: float
    scale_step: float  # of the log-scales; 0 keeps them
    keep: float  # what the weights are multiplied by at every row


@compiled()
def walk(rows: Any, targets: Any, learns: bool, model: Model, rates: Rates, scores: Any) -> int:
    """Score every row, and learn it where that is asked for; how many had a loss."""
    row, updates = walk_on(rows, targets, learns, model, rates, scores, 0, -1)
    while row < len(scores):
        find_far_features(model.angles, model.features)
        row, more = walk_on(rows, targets, learns, model, rates, scores, row, row)
        updates += more
    return updates


@compiled(fastmath=FUSED)
def walk_on(
    rows: Any, targets: Any, learns: bool, model: Model, rates: Rates, scores: Any, first: int,
    known: int,
) -> tuple[int, int]:  # fmt: skip
    """`walk` from row `first` up to the next with an angle that `sincos` does not reach: (that row,
    rows that had a loss).

    The features of row `known` are there already. Those of far angles are made elsewhere, because
    with a call in this loop every row would load the constants of `sincos` anew.
    """
    values, columns, starts = rows
    components, noise, _, scales, weights, features, angles, _ = model
    lanes = angles.shape[1]
    updates = 0
    for i in range(first, len(scores)):
        start, stop = starts[i], starts[i + 1]
        if i != known:
            scaled_products(values, columns, start, stop, noise, scales, lanes, angles, 0)
            if reaches(angles, 0, lanes, SINCOS_REACH):
                return i, updates
            for j in range(lanes):
                features[SINES, j], features[COSINES, j] = sincos(angles[0, j])
        for column in range(scores.shape[1]):  # its halves lie one behind the other
            scores[i, column] = inner_product(weights, 2 * column, features, 0, 2 * lanes)
        if not learns:
            continue
        gain, plus, minus, _ = step(rates.loss, scores, i, targets[i], rates.epsilon)
        if gain != 0.0 and rates.scale_step != 0.0:
            find_slopes(weights, plus, minus, features, angles)
            move_scales(values, columns, start, stop, model, rates.scale_step * gain)
        if rates.keep != 1.0:
            for half in range(len(weights)):
                for j in range(lanes):
                    weights[half, j] *= rates.keep
        if gain != 0.0:
            updates += 1
            add(weights, plus, rates.step * gain, features, components)
            if minus >= 0:
                add(weights, minus, -rates.step * gain, features, components)
    return len(scores), updates


@compiled()
def find_far_features(angles: Any, features: Any) -> None:
    """Cosines and sines of angles beyond the reach of `sincos`."""
    for j in range(angles.shape[1]):
        angle = angles[0, j]
        features[SINES, j], features[COSINES, j] = math.sin(angle), math.cos(angle)


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
    values: Any, columns: Any, start: int, stop: int, model: Model, rate: float
) -> None:
    """Move each log-scale g by rate · dm/dg, with dm/dg = exp(g) x (noise slopes)."""
    _, noise, log_scales, scales, _, _, slopes, rises = model
    inner_products(columns, start, stop, noise, slopes, 0, slopes.shape[1], rises)
    for e in range(start, stop):
        n = columns[e]
        log_scales[n] += rate * scales[n] * values[e] * rises[e - start]
        scales[n] = exp(log_scales[n])


@inlined
def add(weights: Any, column: int, factor: float, features: Any, components: int) -> None:
    """Add factor times the features to a column's weights."""
    row, lanes = 2 * column, features.shape[1]
    for j in range(lanes):
        weights[row, j] += factor * features[COSINES, j]
        weights[row + SINES, j] += factor * features[SINES, j]
    for j in range(components, lanes):  # padding has cosines of 1
        weights[row, j] = 0.0
