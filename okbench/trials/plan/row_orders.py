"""Orders of rows that are made while they are walked through, in memory that does not grow with the
number of rows.

A block-shuffled order cuts the rows into blocks of 256 that follow each other in the file and
permutes the blocks. The rows of 256 such blocks, a window, are permuted together. So a learner
meets the rows of one block within 65,536 rows, and the file is read in long stretches; up to 65,536
rows it is a uniform permutation. It is another kind of order than a permutation of all rows: where
rows of a kind stand together in the file, the parts of a window are less alike than those of a
permutation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

BLOCK = 256  # rows that follow each other in the file
WINDOW = 256  # blocks whose rows are permuted together

Numbers: TypeAlias = NDArray[np.int64]
Stretch: TypeAlias = tuple[int, int]  # first row, row after the last


class FileOrder:
    """All rows as they come in the file. Its windows are stretches of it."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, places: slice) -> Numbers:
        begin, end, _ = places.indices(self._rows)
        return np.arange(begin, end)

    def window_of(self, place: int) -> int:
        """The window in which the order stands at a place."""
        return place // (BLOCK * WINDOW)

    def stretches(self, window: int) -> list[Stretch]:
        """The rows of a window as stretches of the file; none after the last window."""
        begin = window * BLOCK * WINDOW
        return [(begin, min(self._rows, begin + BLOCK * WINDOW))] if begin < self._rows else []

    def places_in(self, window: int, span: Stretch) -> Numbers:
        """Where the rows of a span that are in a window stand among those of its stretches."""
        begin = window * BLOCK * WINDOW
        return np.arange(span[0] - begin, min(span[1] - begin, BLOCK * WINDOW))


class BlockShuffled:
    """The first `shuffled` rows in a block-shuffled order, the others behind them as they come."""

    def __init__(self, shuffled: int, rows: int, entropy: Sequence[int]) -> None:
        self._shuffled, self._rows = shuffled, rows
        self._entropy = tuple(entropy)
        self._rest = FileOrder(rows)
        blocks = -(-shuffled // BLOCK)
        self._blocks = self._generator(0).permutation(blocks)
        self._windows = -(-blocks // WINDOW)
        # the last block of the file may be a short one; windows behind it begin earlier by as much
        short = np.flatnonzero(self._blocks == blocks - 1)
        self._short_at = int(short[0]) if blocks else 0
        self._lacking = blocks * BLOCK - shuffled
        self._permutation: tuple[int, Numbers] = (-1, np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, places: slice) -> Numbers:
        begin, end, _ = places.indices(self._rows)
        at, parts = begin, [np.empty(0, dtype=np.int64)]
        while at < min(end, self._shuffled):
            window = self.window_of(at)
            rows = np.concatenate([np.arange(*stretch) for stretch in self.stretches(window)])
            parts.append(rows[self.places_in(window, (at, end))])
            at += len(parts[-1])
        return np.concatenate([*parts, np.arange(max(begin, self._shuffled), end)])

    def window_of(self, place: int) -> int:
        """The window in which the order stands at a place."""
        if place >= self._shuffled:
            return self._windows + self._rest.window_of(place - self._shuffled)
        window = place // (BLOCK * WINDOW)
        return window + (place >= self._begin(window + 1))

    def stretches(self, window: int) -> list[Stretch]:
        """The rows of a window as stretches of the file; none after the last window."""
        if window >= self._windows:
            behind = self._shuffled + (window - self._windows) * BLOCK * WINDOW
            end = min(self._rows, behind + BLOCK * WINDOW)
            return [(behind, end)] if behind < end else []
        blocks = np.sort(self._blocks[window * WINDOW : (window + 1) * WINDOW]) * BLOCK
        return [(first, min(self._shuffled, first + BLOCK)) for first in blocks.tolist()]

    def places_in(self, window: int, span: Stretch) -> Numbers:
        """Where the rows of a span that are in a window stand among those of its stretches."""
        if window >= self._windows:
            behind = self._shuffled
            inner = span[0] - behind, span[1] - behind
            return self._rest.places_in(window - self._windows, inner)
        begin = self._begin(window)
        if self._permutation[0] != window:
            rows = sum(last - first for first, last in self.stretches(window))
            self._permutation = window, self._generator(1, window).permutation(rows)
        return self._permutation[1][span[0] - begin : span[1] - begin]

    def _begin(self, window: int) -> int:
        """The place of the first row of a window."""
        blocks = min(window * WINDOW, len(self._blocks))
        return blocks * BLOCK - (self._lacking if self._short_at < blocks else 0)

    def _generator(self, *key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=key))


class LaterRows:
    """An order without its first rows."""

    def __init__(self, order: LazyOrder, first: int) -> None:
        self._order, self._first = order, min(first, len(order))

    def __len__(self) -> int:
        return len(self._order) - self._first

    def __getitem__(self, places: slice) -> Numbers:
        begin, end, _ = places.indices(len(self))
        return self._order[begin + self._first : end + self._first]

    def window_of(self, place: int) -> int:
        """The window in which the order stands at a place."""
        return self._order.window_of(place + self._first)

    def stretches(self, window: int) -> list[Stretch]:
        """The rows of a window as stretches of the file; none after the last window."""
        return self._order.stretches(window)

    def places_in(self, window: int, span: Stretch) -> Numbers:
        """Where the rows of a span that are in a window stand among those of its stretches."""
        return self._order.places_in(window, (span[0] + self._first, span[1] + self._first))


LazyOrder: TypeAlias = FileOrder | BlockShuffled | LaterRows
RowOrder: TypeAlias = Numbers | LazyOrder


def behind(order: RowOrder, first: int) -> RowOrder:
    """An order without its first rows."""
    return order[first:] if isinstance(order, np.ndarray) else LaterRows(order, first)
