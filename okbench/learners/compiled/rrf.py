"""The walk of a linear model over random features whose scales it learns as well."""

from __future__ import annotations

from typing import Any, NamedTuple

from okbench.jit import compiled
from okbench.learners.compiled.elementary import (
    FUSED,
    SINCOS_REACH,
    exp_sweep,
    sincos,
    sincos_sweep,
)
from okbench.learners.compiled.lanes import REASSOCIATED, inlined
from okbench.learners.compiled.losses import step
from okbench.learners.contract import FloatArray

COSINES, SINES = 0, 1  # halves of the features, and of the weights of a column


class Model(NamedTuple):
    """Angles of a row x are (x · scales) noise; its features are their cosines and sines.

    Lanes behind the last component are padding: their noise and their features are zero.
    """

    components: int
    noise: FloatArray  # inputs × lanes
    log_scales: FloatArray  # one an input
    scales: FloatArray  # their exponentials
    weights: FloatArray  # 2 columns × lanes: cosines and sines of a column below each other
    features: FloatArray  # 2 × lanes, of the row at hand
    slopes: FloatArray  # 1 × lanes: how its margin rises with each angle
    moved: FloatArray  # inputs + 3: room for something of each that the row holds


class Rates(NamedTuple):
    """How far a model moves."""

    loss: int
    epsilon: float
    step: float
    scale_step: float  # of the log-scales; 0 keeps them
    keep: float  # what the weights are multiplied by at every row


@compiled(fastmath=FUSED)
def learn_rows(
    values: Any, columns: Any, starts: Any, targets: Any, model: Model, rates: Rates, scores: Any
) -> int:
    """Score, then learn, every row; how many had a loss."""
    _, _, _, _, weights, features, slopes, _ = model
    updates = 0
    for i in range(len(targets)):
        score_row(values, columns, starts[i], starts[i + 1], model, scores, i)
        gain, plus, minus, _ = step(rates.loss, scores, i, targets[i], rates.epsilon)
        if gain != 0.0 and rates.scale_step != 0.0:
            find_slopes(weights, plus, minus, features, slopes)
            rate = rates.scale_step * gain
            move_scales(values, columns, starts[i], starts[i + 1], model, rate)
        if rates.keep != 1.0:
            for half in range(len(weights)):
                for j in range(weights.shape[1]):
                    weights[half, j] *= rates.keep
        if gain != 0.0:
            updates += 1
            add(weights, plus, rates.step * gain, features)
            if minus >= 0:
                add(weights, minus, -rates.step * gain, features)
    return updates


@compiled(fastmath=FUSED)
def score_rows(values: Any, columns: Any, starts: Any, model: Model, scores: Any) -> None:
    """`learn_rows` without learning."""
    for i in range(len(scores)):
        score_row(values, columns, starts[i], starts[i + 1], model, scores, i)


@inlined
def score_row(
    values: Any, columns: Any, start: int, stop: int, model: Model, scores: Any, i: int
) -> None:
    """The features of a row, and its scores."""
    components, noise, _, scales, weights, features, _, _ = model
    find_angles(values, columns, start, stop, noise, scales, features)
    find_features(features, components)
    for column in range(scores.shape[1]):
        scores[i, column] = score(weights, column, features)


@inlined
def scaled(values: Any, columns: Any, scales: Any, e: int, stop: int) -> tuple[int, float]:
    """Column and scaled value of entry e; behind the last one, nothing."""
    if e < stop:
        return columns[e], values[e] * scales[columns[e]]
    return 0, 0.0


@inlined
def find_angles(
    values: Any, columns: Any, start: int, stop: int, noise: Any, scales: Any, angles: Any
) -> None:
    """(x · scales) noise, in the place of the sines, eight entries of x a sweep."""
    for j in range(angles.shape[1]):
        angles[SINES, j] = 0.0
    for e in range(start, stop, 8):
        a, p = scaled(values, columns, scales, e, stop)
        b, q = scaled(values, columns, scales, e + 1, stop)
        c, r = scaled(values, columns, scales, e + 2, stop)
        d, s = scaled(values, columns, scales, e + 3, stop)
        a1, p1 = scaled(values, columns, scales, e + 4, stop)
        b1, q1 = scaled(values, columns, scales, e + 5, stop)
        c1, r1 = scaled(values, columns, scales, e + 6, stop)
        d1, s1 = scaled(values, columns, scales, e + 7, stop)
        for j in range(angles.shape[1]):
            angles[SINES, j] += (
                p * noise[a, j] + q * noise[b, j] + r * noise[c, j] + s * noise[d, j]
            ) + (p1 * noise[a1, j] + q1 * noise[b1, j] + r1 * noise[c1, j] + s1 * noise[d1, j])


@inlined
def move_scales(
    values: Any, columns: Any, start: int, stop: int, model: Model, rate: float
) -> None:
    """Move each log-scale g by rate · dm/dg, with dm/dg = exp(g) x (noise slopes)."""
    _, noise, log_scales, scales, _, _, slopes, moved = model
    find_rises(columns, start, stop, noise, slopes, moved)
    for e in range(start, stop):
        n, k = columns[e], e - start
        moved[k] = log_scales[n] + rate * scales[n] * values[e] * moved[k]
        log_scales[n] = moved[k]
    exp_sweep(moved, 0, stop - start)
    for e in range(start, stop):
        scales[columns[e]] = moved[e - start]


@compiled(fastmath=REASSOCIATED)
def find_rises(columns: Any, start: int, stop: int, noise: Any, slopes: Any, moved: Any) -> None:
    """Inner products of the slopes with the noise of the inputs a row holds, four a sweep."""
    last = stop - 1
    for e in range(start, stop, 4):
        a, b = columns[e], columns[min(e + 1, last)]
        c, d = columns[min(e + 2, last)], columns[min(e + 3, last)]
        p = q = r = s = 0.0
        for j in range(slopes.shape[1]):
            slope = slopes[0, j]
            p += noise[a, j] * slope
            q += noise[b, j] * slope
            r += noise[c, j] * slope
            s += noise[d, j] * slope
        k = e - start  # there is room for the three behind the last
        moved[k], moved[k + 1], moved[k + 2], moved[k + 3] = p, q, r, s


@inlined
def find_features(features: Any, components: int) -> None:
    """Cosines and sines of the angles that stand in the place of the sines."""
    lanes = features.shape[1]
    far = 0
    for j in range(lanes):
        far += abs(features[SINES, j]) > SINCOS_REACH
    if far:
        sincos_sweep(features[SINES], features[SINES], features[COSINES], 0, lanes)
    else:
        for j in range(lanes):
            features[SINES, j], features[COSINES, j] = sincos(features[SINES, j])
    for j in range(components, lanes):
        features[COSINES, j] = 0.0


@compiled(fastmath=REASSOCIATED)
def score(weights: Any, column: int, features: Any) -> float:
    """Inner product of a column's weights with the features."""
    row = 2 * column
    total = 0.0
    for j in range(features.shape[1]):
        total += weights[row, j] * features[COSINES, j]
        total += weights[row + SINES, j] * features[SINES, j]
    return total


@inlined
def add(weights: Any, column: int, factor: float, features: Any) -> None:
    """Add factor times the features to a column's weights."""
    row = 2 * column
    for j in range(features.shape[1]):
        weights[row, j] += factor * features[COSINES, j]
        weights[row + SINES, j] += factor * features[SINES, j]


@inlined
def find_slopes(weights: Any, plus: int, minus: int, features: Any, slopes: Any) -> None:
    """How the score of column `plus`, less that of `minus`, rises with every angle."""
    row = 2 * plus
    for j in range(features.shape[1]):
        cosine, sine = features[COSINES, j], features[SINES, j]
        slopes[0, j] = cosine * weights[row + SINES, j] - sine * weights[row, j]
    if minus >= 0:
        row = 2 * minus
        for j in range(features.shape[1]):
            cosine, sine = features[COSINES, j], features[SINES, j]
            slopes[0, j] -= cosine * weights[row + SINES, j] - sine * weights[row, j]
