"""Mini-batches: which rows a stochastic gradient step takes, and in what form.

batches = mini_batches(draws.stream("batches"), n_rows, 200)
for _ in range(updates_in(epochs, n_rows, 200)):
    chosen = next(batches)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray
from okbench.learners.draws import NamedDraws
from okbench.learners.numeric.lanes import Entries
from okbench.learners.rows import Block


def mini_batches(
    draws: NamedDraws,
    n_rows: int,
    size: int,
    how: Literal["choice", "permutation"] = "choice",
) -> Iterator[NDArray[np.int64]]:
    """Mini-batches without end, each of `size` different rows, or of all rows if there are fewer.

    Every mini-batch is drawn from all rows, so that two of them may share rows. It is a choice
    without replacement, or the first rows of a fresh permutation: the same distribution, but
    another draw, so that recorded runs of either kind can be repeated.
    """
    size = min(size, n_rows)
    while True:
        yield draws.choice(n_rows, size) if how == "choice" else draws.permutation(n_rows)[:size]


def updates_in(epochs: int, n_rows: int, size: int) -> int:
    """The number of mini-batches in so many epochs; an epoch has as many as cover all rows once."""
    return epochs * -(-n_rows // size)


class Picked:
    """Chosen rows as sparse ones, in memory that is allocated once for all mini-batches.

    Sparse rows stay where they are. Dense rows are copied, because reading all of them as sparse
    ones would take the columns of every row.
    """

    def __init__(self, block: Block, size: int) -> None:
        size = min(size, len(block))
        self._starts, self._stops = np.empty(size, np.int64), np.empty(size, np.int64)
        self._norms = np.empty(0)  # which no gradient step asks for
        if block.is_sparse:
            self._first, self._values, self._columns = block.starts, block.values, block.columns
            return
        n_features = block.dense.shape[1]
        self._rows, self._copied = block.dense, np.empty((size, n_features))
        self._values = self._copied.ravel()
        self._columns = np.tile(np.arange(n_features, dtype=np.int32), size)
        self._starts[:] = np.arange(size) * n_features
        self._stops[:] = self._starts + n_features

    def take(self, chosen: NDArray[np.int64]) -> Entries:
        """These rows; the next call overwrites them."""
        starts, stops = self._starts[: len(chosen)], self._stops[: len(chosen)]
        if hasattr(self, "_copied"):
            np.take(self._rows, chosen, axis=0, out=self._copied[: len(chosen)], mode="clip")
        else:
            np.take(self._first[:-1], chosen, out=starts, mode="clip")
            np.take(self._first[1:], chosen, out=stops, mode="clip")
        return Entries(self._values, self._columns, starts, stops, self._norms)


def taken(values: FloatArray, chosen: NDArray[np.int64], out: FloatArray) -> FloatArray:
    """The values of chosen rows, in memory of the caller."""
    return np.take(values, chosen, out=out[: len(chosen)], mode="clip")
