"""Sequential minimal optimisation of a support vector machine, with LIBSVM's choice of pairs.

The coefficients β of the rows, which are the dual variables times the signs of the labels, maximise
Σ yβ - ½ βᵀKβ under Σ β = 0, each between 0 and ±C. A step moves two of them by the same amount in
opposite directions (Fan, Chen and Lin 2005, WSS 2). Rows of the kernel are read from a cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray

CONVERGED, PAUSED = -1, -2  # why a walk ended; otherwise it is the row whose kernel is missing
NO_CURVATURE = 1e-12  # of two rows that are one to the kernel


class Duals(NamedTuple):
    """The dual problem and how far it is solved."""

    coefficients: FloatArray  # β
    lowest: FloatArray  # the bounds of each
    highest: FloatArray
    gradient: FloatArray  # of the objective: y - Kβ
    diagonal: FloatArray  # the kernel of each row with itself

    @classmethod
    def of(cls, signs: FloatArray, cost: float, diagonal: FloatArray) -> Self:
        """All coefficients at 0."""
        lowest, highest = np.minimum(0.0, cost * signs), np.maximum(0.0, cost * signs)
        return cls(np.zeros(len(signs)), lowest, highest, signs.copy(), diagonal)

    @property
    def bias(self) -> float:
        """What the scores Kβ lack: the gradient of the rows between their bounds, or the middle of
        what the others allow. Before the first step it stands for the class of most rows."""
        beta, lowest, highest, gradient, _ = self
        if not beta.any():
            return float(gradient.mean())
        is_free = (beta > lowest) & (beta < highest)
        if is_free.any():
            return float(gradient[is_free].mean())
        above, below = gradient[beta < highest], gradient[beta > lowest]
        return float((above.max() + below.min()) / 2.0)


class KernelCache(NamedTuple):
    """Rows of the kernel with all rows, in single precision; those used longest ago give way."""

    rows: NDArray[np.float32]
    place: NDArray[np.int64]  # of each row in the cache, or -1
    holders: NDArray[np.int64]  # the row at each place, or -1
    used: NDArray[np.int64]  # the step at which a place was last read

    @classmethod
    def empty(cls, n_rows: int, n_places: int) -> Self:
        """Room for some rows of the kernel."""
        return cls(
            np.empty((n_places, n_rows), np.float32),
            np.full(n_rows, -1),
            np.full(n_places, -1),
            np.full(n_places, -1),
        )

    def hold(self, rows: NDArray[np.int64], kernel: NDArray[np.float32], step: int) -> None:
        """Hold the kernel of some rows, which are not held yet, as if that step had read it."""
        for row, values in zip(rows, kernel, strict=True):
            place = int(np.argmin(self.used))
            if self.holders[place] >= 0:
                self.place[self.holders[place]] = -1
            self.rows[place] = values
            self.holders[place], self.place[row] = row, place
            self.used[place] = step


@compiled()
def _steepest(duals: Duals) -> int:
    """The row whose coefficient should rise most, the last of equals; -1 if none can rise."""
    beta, _, highest, gradient, _ = duals
    chosen, most = -1, -np.inf
    for t in range(len(beta)):
        if gradient[t] >= most and beta[t] < highest[t]:
            chosen, most = t, gradient[t]
    return chosen


@compiled()
def _partner(duals: Duals, i: int, kernel: Any) -> tuple[int, float]:
    """The row whose coefficient should sink for the largest gain, and how far from the optimum the
    problem is."""
    beta, lowest, _, gradient, diagonal = duals
    chosen, largest, least = -1, 0.0, np.inf
    own = gradient[i]
    for t in range(len(beta)):
        if not beta[t] > lowest[t]:
            continue
        least = min(least, gradient[t])
        slope = own - gradient[t]
        if slope > 0.0:
            curvature = diagonal[i] + diagonal[t] - 2.0 * kernel[t]
            gain = slope * slope / (curvature if curvature > 0.0 else NO_CURVATURE)
            if gain >= largest:
                chosen, largest = t, gain
    return chosen, own - least


@compiled()
def _move(duals: Duals, i: int, j: int, kernel: Any, other: Any) -> None:
    """Raise coefficient i and lower coefficient j to the optimum of the two, or to a bound."""
    beta, lowest, highest, gradient, diagonal = duals
    curvature = diagonal[i] + diagonal[j] - 2.0 * kernel[j]
    best = (gradient[i] - gradient[j]) / (curvature if curvature > 0.0 else NO_CURVATURE)
    up, down = highest[i] - beta[i], beta[j] - lowest[j]
    length = min(best, up, down)
    beta[i] = highest[i] if length == up else beta[i] + length
    beta[j] = lowest[j] if length == down else beta[j] - length
    for t in range(len(beta)):
        gradient[t] -= length * (kernel[t] - other[t])


@compiled()
def optimise(
    duals: Duals, cache: KernelCache, tolerance: float, first: int, last: int
) -> tuple[int, int]:
    """Make the steps from `first` to `last`: (why it ended or the missing row, steps made so far).

    It has converged when no pair of rows violates the optimality by the tolerance or more.
    """
    rows, place, _, used = cache
    for made in range(first, last):
        i = _steepest(duals)
        if i < 0:
            return CONVERGED, made
        if place[i] < 0:
            return i, made
        kernel = rows[place[i]]
        j, violation = _partner(duals, i, kernel)
        if j < 0 or violation < tolerance:
            return CONVERGED, made
        used[place[i]] = made
        if place[j] < 0:
            return j, made
        used[place[j]] = made
        _move(duals, i, j, kernel, rows[place[j]])
    return PAUSED, last
