"""The rows of a trial, handed out block by block in its order.

Rows that are mapped from a file and met window by window are read ahead by one window, and given
back to the system when their window is over: the process then holds two windows of them at most.
Rows in a permutation of all rows are left to the system.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.datasets.mapped_rows import MappedRows, rows_at
from okbench.trials.plan.row_orders import BlockShuffled, FileOrder, RowOrder
from okbench.trials.run.block_sizes import Span


class RowStream:
    """Hands out the rows of a dataset in an order, forwards only for the memory it promises."""

    def __init__(self, dataset: Dataset, order: RowOrder) -> None:
        self._dataset, self._order = dataset, order
        self._mapped = MappedRows.of(dataset)
        self._window = -1

    def take(self, span: Span) -> tuple[Any, Any, NDArray[Any]]:
        """Rows, their labels, and the labels once more, where no learner can write."""
        if self._mapped is not None and isinstance(self._order, BlockShuffled | FileOrder):
            self._turn_to(self._order, self._order.window_of(span[0]), self._mapped)
        picked, dataset = self._order[span[0] : span[1]], self._dataset
        return rows_at(dataset.X, picked), dataset.y[picked], dataset.y[picked]

    def _turn_to(self, order: BlockShuffled | FileOrder, window: int, mapped: MappedRows) -> None:
        if window == self._window:
            return
        mapped.give_back()
        if window != self._window + 1 or self._window < 0:
            mapped.read_ahead(order.stretches(window))
        mapped.read_ahead(order.stretches(window + 1))
        self._window = window
