"""The rows of a trial, handed out block by block in its order.

Rows that are mapped from a file and met window by window are read a window at a time, so that the
process holds one window of them; the system has the next one ready by then. Rows beyond the memory
leave the system's cache with their window. Rows in a permutation of all rows are picked one by one
out of the memory, or of the mapped file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.datasets.mapped_rows import MappedRows, rows_at
from okbench.trials.plan.row_orders import LazyOrder, RowOrder
from okbench.trials.plan.rows_in_memory import beyond_memory
from okbench.trials.run.block_sizes import Span


class RowStream:
    """Hands out the rows of a dataset in an order."""

    def __init__(self, dataset: Dataset, order: RowOrder) -> None:
        self._dataset, self._order = dataset, order
        self._windows: _Windows | None = None
        if not isinstance(order, np.ndarray):
            mapped = MappedRows.of(dataset)
            kept = not beyond_memory(dataset)
            self._windows = _Windows(mapped, order, kept) if mapped else None

    def take(self, span: Span) -> tuple[Any, Any, NDArray[Any]]:
        """Rows, their labels, and the labels once more, where no learner can write."""
        if self._windows is None:
            numbers, dataset = self._order[span[0] : span[1]], self._dataset
            return rows_at(dataset.X, numbers), dataset.y[numbers], dataset.y[numbers]
        X, y = self._windows.take(span)
        return X, y, y.copy()


class _Windows:
    """The window of an order that is in memory. The system keeps those before it if they are
    `kept` for the next trial."""

    def __init__(self, mapped: MappedRows, order: LazyOrder, kept: bool) -> None:
        self._mapped, self._order, self._kept = mapped, order, kept
        self._window = -1
        self._X: Any = None
        self._y: Any = None

    def take(self, span: Span) -> tuple[Any, NDArray[Any]]:
        """Rows and their labels, of one window as a rule."""
        parts: list[tuple[Any, NDArray[Any]]] = []
        at = span[0]
        while at < span[1] or not parts:
            window = self._order.window_of(at)
            self._turn_to(window)
            places = self._order.places_in(window, (at, span[1]))
            parts.append((rows_at(self._X, places), self._y[places]))
            at += len(places)
        if len(parts) == 1:
            return parts[0]
        blocks = [X for X, _ in parts]
        together = np.concatenate if isinstance(blocks[0], np.ndarray) else _stacked
        return together(blocks), np.concatenate([y for _, y in parts])

    def _turn_to(self, window: int) -> None:
        if window != self._window:
            self._X, self._y = self._mapped.read(self._order.stretches(window))
            if not self._kept:
                self._mapped.release(self._order.stretches(window))
            self._mapped.read_ahead(self._order.stretches(window + 1))
            self._window = window


def _stacked(blocks: list[Any]) -> Any:
    return sp.csr_array(sp.vstack(blocks, "csr"))
