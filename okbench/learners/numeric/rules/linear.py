"""The walk of a linear model over features, one row after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.fourier import find_features
from okbench.learners.numeric.lanes import REASSOCIATED
from okbench.learners.numeric.losses import step

# How the numbers a map projects a row to become its features.
AS_THEY_ARE = 0
COSINES_THEN_SINES = 1


@compiled()
def learn_on_map(
    finish: int,
    projected: Any,
    first: int,
    targets: Any,
    weights: Any,
    scores: Any,
    loss: int,
    epsilon: float,
    rate: float,
) -> int:
    """Score, then learn, every projected row; row 0 of them is row `first` of targets and scores.

    Returns how many rows changed the weights.
    """
    features = np.empty(weights.shape[1])
    updates = 0
    for i in range(projected.shape[0]):
        row = first + i
        make_features(finish, projected, i, features)
        for column in range(weights.shape[0]):
            scores[row, column] = score(weights, column, features)
        gain, plus, minus, _ = step(loss, scores, row, targets[row], epsilon)
        if gain != 0.0:
            updates += 1
            add(weights, plus, rate * gain, features)
            if minus >= 0:
                add(weights, minus, -rate * gain, features)
    return updates


@compiled()
def score_on_map(finish: int, projected: Any, first: int, weights: Any, scores: Any) -> None:
    """`learn_on_map` without learning."""
    features = np.empty(weights.shape[1])
    for i in range(projected.shape[0]):
        make_features(finish, projected, i, features)
        for column in range(weights.shape[0]):
            scores[first + i, column] = score(weights, column, features)


@compiled()
def make_features(finish: int, projected: Any, i: int, features: Any) -> None:
    """The features of projected row i."""
    if finish == COSINES_THEN_SINES:
        width = projected.shape[1]
        find_features(projected[i], features[:width], features[width:])
    else:
        for j in range(projected.shape[1]):
            features[j] = projected[i, j]


@compiled(fastmath=REASSOCIATED)
def score(weights: Any, column: int, features: Any) -> float:
    """Inner product of a column's weights with the features."""
    total = 0.0
    for j in range(features.shape[0]):
        total += weights[column, j] * features[j]
    return total


@compiled(fastmath=FUSED)
def add(matrix: Any, row: int, factor: float, vector: Any) -> None:
    """Add factor times the vector to a matrix row."""
    for j in range(vector.shape[0]):
        matrix[row, j] += factor * vector[j]
