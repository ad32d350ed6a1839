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
PART = 1024  # rows whose largest value is looked for at once
NUMBERS = frozenset({"nnan", "nsz"})  # no value here is NaN: maxima are found in vector registers


class Duals(NamedTuple):
    """The dual problem and how far it is solved."""

    coefficients: FloatArray  # β
    lowest: FloatArray  # the bounds of each
    highest: FloatArray
    gradient: FloatArray  # of the objective: y - Kβ
    diagonal: FloatArray  # the kernel of each row with itself
    rises: NDArray[np.bool_]  # whether each is below its upper bound
    sinks: NDArray[np.bool_]  # whether each is above its lower bound
    pair: NDArray[np.int64]  # the rows of the next step, or -1 where one is not chosen yet

    @classmethod
    def of(cls, signs: FloatArray, cost: float, diagonal: FloatArray) -> Self:
        """All coefficients at 0."""
        lowest, highest = np.minimum(0.0, cost * signs), np.maximum(0.0, cost * signs)
        start, pair = np.zeros(len(signs)), np.full(2, -1)
        return cls(
            start, lowest, highest, signs.copy(), diagonal, start < highest, start > lowest, pair
        )

    @property
    def bias(self) -> float:
        """What the scores Kβ lack: the gradient of the rows between their bounds, or the middle of
        what the others allow. Before the first step it stands for the class of most rows."""
        if not self.coefficients.any():
            return float(self.gradient.mean())
        is_free = self.rises & self.sinks
        if is_free.any():
            return float(self.gradient[is_free].mean())
        above, below = self.gradient[self.rises], self.gradient[self.sinks]
        return float((above.max() + below.min()) / 2.0)

    @property
    def urgency(self) -> FloatArray:
        """How much each row violates the optimality: more of them first."""
        rising = np.where(self.rises, self.gradient, -np.inf)
        return np.maximum(rising, np.where(self.sinks, -self.gradient, -np.inf))


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


@compiled(fastmath=NUMBERS)
def _largest(gradient: Any, rises: Any) -> float:
    """The largest gradient of those that may rise."""
    most = -np.inf
    for t in range(len(gradient)):
        most = max(most, gradient[t] if rises[t] else -np.inf)
    return most


@compiled()
def _steepest(gradient: Any, rises: Any) -> int:
    """The row whose coefficient should rise most, the last of equals; -1 if none can rise."""
    most, part = -np.inf, 0
    for first in range(0, len(gradient), PART):
        value = _largest(gradient[first : first + PART], rises[first : first + PART])
        if value >= most:
            most, part = value, first
    for t in range(min(part + PART, len(gradient)) - 1, part - 1, -1):
        if rises[t] and gradient[t] == most:
            return t
    return -1


@compiled()
def _gain(slope: float, curvature: float) -> float:
    """What the objective gains by a step of two rows."""
    if slope <= 0.0:
        return 0.0
    return slope * slope / (curvature if curvature > 0.0 else NO_CURVATURE)


@compiled(fastmath=NUMBERS)
def _best(
    own: float, own_diagonal: float, gradient: Any, diagonal: Any, kernel: Any, sinks: Any
) -> tuple[float, float]:
    """The largest gain, and the least gradient of those that may sink."""
    largest, least = 0.0, np.inf
    for t in range(len(gradient)):
        gain = _gain(own - gradient[t], own_diagonal + diagonal[t] - 2.0 * kernel[t])
        largest = max(largest, gain if sinks[t] else 0.0)
        least = min(least, gradient[t] if sinks[t] else np.inf)
    return largest, least


@compiled()
def _partner(duals: Duals, i: int, kernel: Any) -> tuple[int, float]:
    """The row whose coefficient should sink for the largest gain, the last of equals, and how far
    from the optimum the problem is."""
    gradient, diagonal, sinks = duals.gradient, duals.diagonal, duals.sinks
    own, own_diagonal, n_rows = gradient[i], diagonal[i], len(gradient)
    largest, least, part = 0.0, np.inf, 0
    for first in range(0, n_rows, PART):
        last = min(first + PART, n_rows)
        gain, lower = _best(
            own, own_diagonal, gradient[first:last], diagonal[first:last], kernel[first:last],
            sinks[first:last],
        )  # fmt: skip
        least = min(least, lower)
        if gain >= largest:
            largest, part = gain, first
    for t in range(min(part + PART, n_rows) - 1, part - 1, -1):
        gain = _gain(own - gradient[t], own_diagonal + diagonal[t] - 2.0 * kernel[t])
        if sinks[t] and gain == largest > 0.0:
            return t, own - least
    return -1, own - least


@compiled()
def _move(duals: Duals, i: int, j: int, kernel: Any, other: Any) -> None:
    """Raise coefficient i and lower coefficient j to the optimum of the two, or to a bound."""
    beta, lowest, highest, gradient, diagonal, rises, sinks, _ = duals
    curvature = diagonal[i] + diagonal[j] - 2.0 * kernel[j]
    best = (gradient[i] - gradient[j]) / (curvature if curvature > 0.0 else NO_CURVATURE)
    up, down = highest[i] - beta[i], beta[j] - lowest[j]
    length = min(best, up, down)
    beta[i] = highest[i] if length == up else beta[i] + length
    beta[j] = lowest[j] if length == down else beta[j] - length
    for t in (i, j):
        rises[t], sinks[t] = beta[t] < highest[t], beta[t] > lowest[t]
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
    pair = duals.pair
    for made in range(first, last):
        if pair[0] < 0:
            pair[0] = _steepest(duals.gradient, duals.rises)
        i = pair[0]
        if i < 0:
            return CONVERGED, made
        if place[i] < 0:
            return i, made
        kernel = rows[place[i]]
        used[place[i]] = made
        if pair[1] < 0:
            pair[1], violation = _partner(duals, i, kernel)
            if pair[1] < 0 or violation < tolerance:
                return CONVERGED, made
        j = pair[1]
        if place[j] < 0:
            return j, made
        used[place[j]] = made
        _move(duals, i, j, kernel, rows[place[j]])
        pair[:] = -1
    return PAUSED, last
