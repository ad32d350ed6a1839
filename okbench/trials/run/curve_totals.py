"""Totals of the costs of the first rows of a stage, asked for up to the last block alone."""

from __future__ import annotations

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


def totals_of(metric: Metric, rows: int) -> Totals:
    """Totals for a stage of so many rows, as the costs of the metric need them."""
    if metric.forgetting:
        return _Forgetting(rows, metric.forgetting)
    return _OfAllRows(rows) if metric.needs_rows else _ByBlock()


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
