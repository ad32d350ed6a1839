"""Mini-batch gradient steps of a linear model over random features whose scales it may learn.

The model and its scratch memory are those of `rules.rrf`, where every row is a step of its own.
Here all rows of a mini-batch are scored by the same model, and their mean gradient moves it. The
angles may have phases besides; features that are cosines alone have no weights for their sines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, exp
from okbench.learners.numeric.fourier import COSINES, SINES, find_features
from okbench.learners.numeric.lanes import Entries, aligned, inlined
from okbench.learners.numeric.losses import step
from okbench.learners.numeric.rules.rrf import Model, Workspace, add, find_slopes
from okbench.learners.numeric.vector_products import (
    inner_product,
    inner_products,
    scaled_products,
)


class Descent(NamedTuple):
    """How a mini-batch moves the model."""

    loss: int
    step: float
    scale_step: float  # of the log-scales; 0 keeps them
    decay: float
    has_sines: bool


class Sums(NamedTuple):
    """Sums over a mini-batch: how the margins rise with the weights and with the scales."""

    weights: FloatArray  # as the model's
    scales: FloatArray  # one per input

    @classmethod
    def of(cls, model: Model) -> Sums:
        return cls(aligned(*model.weights.shape), np.zeros(len(model.noise)))


class Many(NamedTuple):
    """Models that differ in their weights alone, one below the other."""

    weights: FloatArray  # those of model m from row 2 · columns · m on
    sums: FloatArray  # over a mini-batch: how the margins rise with the weights
    steps: FloatArray
    decays: FloatArray
    mistakes: NDArray[np.int64]  # in a mini-batch
    bad: NDArray[np.int64]  # the first row of it whose score is not a finite number, or -1

    @classmethod
    def of(cls, model: Model, steps: FloatArray, decays: FloatArray) -> Many:
        sums = aligned(len(steps) * len(model.weights), model.weights.shape[1])
        weights = aligned(*sums.shape)
        weights[:] = np.tile(model.weights, (len(steps), 1))
        counts = np.zeros(len(steps), np.int64)
        return cls(weights, sums, steps, decays, counts, counts - 1)


@compiled(fastmath=FUSED)
def add_rows(
    rows: Entries, targets: Any, work: Workspace, phases: Any, descent: Descent, sums: Sums,
    scores: Any,
) -> tuple[int, int]:  # fmt: skip
    """Score rows and add their gradients to the sums: (mistakes, the first row whose score is not
    a finite number or -1)."""
    mistakes = 0
    for i in range(len(targets)):
        score_one(rows, i, work, phases, scores)
        for column in range(scores.shape[1]):
            if not abs(scores[i, column]) < np.inf:
                return mistakes, i
        gain, plus, minus, margin = step(descent.loss, scores, i, targets[i], 0.0)
        mistakes += margin < 0.0
        if gain == 0.0:
            continue
        if descent.scale_step != 0.0:
            start, stop = rows.starts[i], rows.stops[i]
            find_slopes(work.weights, plus, minus, work.features, work.angles)
            inner_products(
                rows.columns, start, stop, work.noise, work.angles, 0, work.angles.shape[1],
                work.rises,
            )  # fmt: skip
            for e in range(start, stop):
                sums.scales[rows.columns[e]] += gain * rows.values[e] * work.rises[e - start]
        add(sums.weights, plus, gain, work.features, work.components)
        if minus >= 0:
            add(sums.weights, minus, -gain, work.features, work.components)
    return mistakes, -1


@compiled(fastmath=FUSED)
def add_rows_to_many(
    rows: Entries, targets: Any, work: Workspace, phases: Any, loss: int, many: Many, scores: Any
) -> None:
    """`add_rows` for every model that has had finite scores so far: models × columns of scores."""
    many.mistakes[:] = 0
    n_columns = scores.shape[1]
    for i in range(len(targets)):
        find_features_of(rows, i, work, phases)
        features = work.features
        for m in range(len(many.steps)):
            if many.bad[m] >= 0:
                continue
            for column in range(n_columns):
                row = 2 * (m * n_columns + column)
                scores[m, column] = inner_product(many.weights, row, features, 0, features.size)
                if not abs(scores[m, column]) < np.inf:
                    many.bad[m] = i
            if many.bad[m] >= 0:
                continue
            gain, plus, minus, margin = step(loss, scores, m, targets[i], 0.0)
            many.mistakes[m] += margin < 0.0
            if gain == 0.0:
                continue
            add(many.sums, m * n_columns + plus, gain, features, work.components)
            if minus >= 0:
                add(many.sums, m * n_columns + minus, -gain, features, work.components)


@compiled(fastmath=FUSED)
def move_many_by_mean(many: Many, n_rows: int) -> None:
    """`move_by_mean` for every model that has had finite scores so far."""
    n_rows_each = len(many.weights) // len(many.steps)
    for m in range(len(many.steps)):
        if many.bad[m] >= 0:
            continue
        keep, rate = 1.0 - many.steps[m] * many.decays[m], many.steps[m] / n_rows
        for half in range(m * n_rows_each, (m + 1) * n_rows_each):
            move_row(many.weights, many.sums, half, keep, rate)


@compiled(fastmath=FUSED)
def move_by_mean(work: Workspace, descent: Descent, sums: Sums, n_rows: int) -> None:
    """Move the model by the mean of the gradients of `n_rows` rows, and clear the sums."""
    keep, rate = 1.0 - descent.step * descent.decay, descent.step / n_rows
    weights, log_scales, scales = work.weights, work.log_scales, work.scales
    for half in range(len(weights)):
        if half % 2 == COSINES or descent.has_sines:
            move_row(weights, sums.weights, half, keep, rate)
        else:
            for j in range(weights.shape[1]):
                sums.weights[half, j] = 0.0
    if descent.scale_step != 0.0:
        rate = descent.scale_step / n_rows
        for n in range(len(scales)):
            if sums.scales[n] != 0.0:
                log_scales[n] += rate * scales[n] * sums.scales[n]
                scales[n] = exp(log_scales[n])
                sums.scales[n] = 0.0


@compiled(fastmath=FUSED)
def score_in_lanes(rows: Entries, work: Workspace, phases: Any, scores: Any) -> None:
    """The scores of rows; nothing is learned."""
    for i in range(len(scores)):
        score_one(rows, i, work, phases, scores)


@inlined
def move_row(weights: Any, sums: Any, row: int, keep: float, rate: float) -> None:
    """Move a row of the weights by its sums, and clear these."""
    for j in range(weights.shape[1]):
        weights[row, j] = keep * weights[row, j] + rate * sums[row, j]
        sums[row, j] = 0.0


@inlined
def score_one(rows: Any, i: int, work: Any, phases: Any, scores: Any) -> None:
    """The features and the scores of row i."""
    find_features_of(rows, i, work, phases)
    features = work.features
    for column in range(scores.shape[1]):  # its halves lie one behind the other
        scores[i, column] = inner_product(work.weights, 2 * column, features, 0, features.size)


@inlined
def find_features_of(rows: Any, i: int, work: Any, phases: Any) -> None:
    """The features of row i."""
    angles, features = work.angles, work.features
    scaled_products(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], work.noise, work.scales,
        angles.shape[1], angles, 0,
    )  # fmt: skip
    for j in range(angles.shape[1]):
        angles[0, j] += phases[j]
    find_features(angles[0], features[COSINES], features[SINES])
