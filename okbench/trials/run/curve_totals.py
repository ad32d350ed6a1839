"""Totals of the costs of the first rows of a stage, asked for up to the last block alone."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from okbench.protocols.metrics import Forgetting, Metric


class Totals(Protocol):
    """What the rows of a stage cost together."""

    def add(self, costs: NDArray[np.float64]) -> None:
        """Take in the costs of a further block."""

    def after(self, rows: int) -> float:
        """The total of the first `rows` rows, which reach into the last block."""


MOST_KEPT = 1 << 23  # costs of a stage that are kept one by one: 64 MB


def totals_of(metric: Metric, rows: int) -> Totals:
    """Totals for a stage of so many rows, as the costs of the metric need them."""
    if not metric.needs_rows:
        return _ByBlock()
    if metric.forgetting:
        return _Forgetting(rows, metric.forgetting)
    return _OfAllRows(rows) if rows <= MOST_KEPT else _Exact()


class _ByBlock:
    """Whole costs: their sums are exact, so one number stands for all earlier blocks."""

    def __init__(self) -> None:
        self._earlier = 0
        self._rows = 0
        self._last: NDArray[np.float64] = np.empty(0)

    def add(self, costs: NDArray[np.float64]) -> None:
        self._earlier += int(self._last.sum())
        self._rows += len(self._last)
        self._last = costs

    def after(self, rows: int) -> int:
        return self._earlier + int(self._last[: rows - self._rows].sum())


class _OfAllRows:
    """Costs whose sums are rounded: all are kept and summed in one go, pairwise, so that a total
    does not depend on where blocks end."""

    def __init__(self, rows: int) -> None:
        self._costs = np.empty(rows)
        self._rows = 0

    def add(self, costs: NDArray[np.float64]) -> None:
        self._costs[self._rows : self._rows + len(costs)] = costs
        self._rows += len(costs)

    def after(self, rows: int) -> float:
        with np.errstate(over="ignore"):  # squares that outgrew the numbers add up to infinity
            return float(self._costs[:rows].sum())


class _Forgetting(_OfAllRows):
    """Weighted sums, each over all rows that count, for the same reason."""

    def __init__(self, rows: int, forgetting: Forgetting) -> None:
        super().__init__(rows)
        self._forgetting = forgetting

    def after(self, rows: int) -> float:
        counted = self._costs[self._forgetting.first(rows) : rows]
        if (factor := self._forgetting.factor) == 1.0:
            with np.errstate(over="ignore"):
                return float(counted.sum())
        ages = np.arange(len(counted) - 1, -1, -1)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return float((counted * factor**ages).sum())


class _Exact:
    """The same in memory that does not grow with the rows: earlier blocks are added up without
    rounding, so that again no total depends on where they end; it is rounded once."""

    def __init__(self) -> None:
        self._earlier = 0  # in units of the smallest number there is
        self._rows = 0
        self._last: NDArray[np.float64] = np.empty(0)
        self._beyond = 0.0  # the sum of costs that are no finite numbers

    def add(self, costs: NDArray[np.float64]) -> None:
        self._earlier += _exact_sum(self._last)
        self._beyond += _infinite_sum(self._last)
        self._rows += len(self._last)
        self._last = costs

    def after(self, rows: int) -> float:
        part = self._last[: rows - self._rows]
        beyond = self._beyond + _infinite_sum(part)
        if beyond != 0.0:  # infinite, or no number
            return beyond
        try:
            return (self._earlier + _exact_sum(part)) / _UNITS
        except OverflowError:
            return math.inf


_UNITS = 1 << 1074  # smallest numbers that make 1
_HALF = 1 << 26  # a number has 53 bits: two halves, of which thousands add up exactly


def _exact_sum(costs: NDArray[np.float64]) -> int:
    """The sum of finite costs in units of the smallest number: numbers of one exponent are whole
    multiples of one unit, and their sums are exact."""
    fractions, exponents = np.frexp(costs[np.isfinite(costs)])
    found, places = np.unique(np.maximum(exponents, -1021), return_inverse=True)
    digits = np.ldexp(fractions, 53 + np.minimum(exponents + 1021, 0))
    high = np.floor(digits / _HALF)
    total = 0
    for part, size in ((high, _HALF), (digits - high * _HALF, 1)):
        sums = np.bincount(places, weights=part, minlength=len(found))
        for exponent, sum_ in zip(found.tolist(), sums.tolist(), strict=True):
            total += int(sum_) * size << exponent + 1021
    return total


def _infinite_sum(costs: NDArray[np.float64]) -> float:
    finite = np.isfinite(costs)
    with np.errstate(invalid="ignore"):
        return 0.0 if finite.all() else float(costs[~finite].sum())
