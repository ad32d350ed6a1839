"""Different values and sums, found a block at a time: labels of a file that is larger than the
memory are mapped from the disk, and a copy of all of them would be 8 bytes a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 18  # labels
_SUMMED = 1 << 24  # targets whose squares are summed at once


def distinct_values(y: NDArray[Any], at_most: int | None = None) -> NDArray[Any]:
    """The different labels in order. Beyond `at_most` of them, only one more is looked for."""
    return distinct_in(_blocks(y, _BLOCK), y[:0], at_most)


def distinct_in(
    blocks: Iterable[NDArray[Any]], found: NDArray[Any], at_most: int | None = None
) -> NDArray[Any]:
    """The different values of blocks in order, with those that were `found` before."""
    fresh, n_fresh = [], 0
    for block in blocks:
        fresh.append(np.unique(block))
        n_fresh += len(fresh[-1])
        if n_fresh > len(found):  # so rarely that all is sorted in the time of one sort
            found, fresh, n_fresh = np.unique(np.concatenate([found, *fresh])), [], 0
        if at_most is not None and len(found) > at_most:
            return found[: at_most + 1]
    return np.unique(np.concatenate([found, *fresh]))


def largest_class(y: NDArray[Any]) -> int:
    """How many rows the most frequent label has."""
    labels = distinct_values(y)
    counts = np.zeros(len(labels), dtype=np.int64)
    for block in _blocks(y, _BLOCK):
        found, times = np.unique(block, return_counts=True)
        counts[np.searchsorted(labels, found)] += times
    return int(counts.max())


def squared_deviations(y: NDArray[Any]) -> float:
    """The sum of squares around the mean."""
    mean = y.mean()
    return float(sum(float(np.square(block - mean).sum()) for block in _blocks(y, _SUMMED)))


def _blocks(y: NDArray[Any], size: int) -> Iterator[NDArray[Any]]:
    for start in range(0, len(y), size):
        yield y[start : start + size]
