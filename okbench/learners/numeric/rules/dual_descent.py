"""Dual coordinate descent of a linear machine with hinge loss and no bias (Hsieh et al. 2008)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.rules.linear import add, score

STILL = 1e-12  # a projected gradient that counts as zero
LEAST, MOST = 0, 1  # places of `bounds`


class Duals(NamedTuple):
    """The dual variables of rows, and what shrinking remembers of the last pass."""

    values: FloatArray  # one per row, from 0 to the box
    signs: FloatArray  # of the labels
    squared_norms: FloatArray  # of the features
    order: NDArray[np.int64]  # of the rows: those that are active come first
    bounds: FloatArray  # least and most projected gradient of the last pass

    @classmethod
    def of(cls, features: FloatArray, signs: FloatArray) -> Self:
        """Variables of zero, all active."""
        n_rows = len(features)
        norms = np.einsum("ij,ij->i", features, features)
        bounds = np.array([-np.inf, np.inf])
        return cls(np.zeros(n_rows), signs, norms, np.arange(n_rows), bounds)


@compiled(fastmath=FUSED)
def descend(
    features: Any, duals: Duals, n_active: int, box: float, weights: Any, column: int
) -> tuple[int, float]:
    """One pass over the active rows, in their order: (rows still active, spread of the projected
    gradients). Row `column` of the weights is Σ dual · sign · features."""
    values, signs, norms, order, bounds = duals
    low, high = bounds[LEAST], bounds[MOST]
    least, most = np.inf, -np.inf
    place = 0
    while place < n_active:
        i = order[place]
        value, sign = values[i], signs[i]
        gradient = sign * score(weights, column, features[i]) - 1.0
        at_zero, at_box = value == 0.0, value == box
        if (at_zero and gradient > high) or (at_box and gradient < low):
            n_active -= 1
            order[place], order[n_active] = order[n_active], i
            continue
        place += 1
        held = (at_zero and gradient > 0.0) or (at_box and gradient < 0.0)
        projected = 0.0 if held else gradient
        least, most = min(least, projected), max(most, projected)
        if abs(projected) > STILL:
            values[i] = min(max(value - gradient / norms[i], 0.0), box)
            add(weights, column, (values[i] - value) * sign, features[i])
    bounds[LEAST] = least if least < 0.0 else -np.inf
    bounds[MOST] = most if most > 0.0 else np.inf
    return n_active, most - least
