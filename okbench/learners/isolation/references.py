"""Which rows make the partitionings of an isolation map, and in what form they are kept."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.contract import Draws, FloatArray
from okbench.learners.rows import Block

DENSE_COLUMNS = 1024  # sparse rows of no more columns are taken as a table


def sub_samples(draws: Draws, n_rows: int, count: int, size: int) -> NDArray[np.int64]:
    """`count` samples of `size` different row numbers each: count × size.

    As in the authors' program, no row is drawn twice, across the samples, until all rows have been
    drawn; then they are drawn anew, except those that the current sample holds already.
    """
    stream = draws.stream("samples")
    chosen = np.empty((count, size), dtype=np.int64)
    pool = stream.permutation(n_rows)
    for sample in chosen:
        taken = pool[:size]
        pool = pool[size:]
        sample[: len(taken)] = taken
        if len(taken) < size:
            fresh = stream.permutation(n_rows)
            is_held = np.zeros(n_rows, dtype=np.bool_)
            is_held[taken] = True
            fresh = fresh[~is_held[fresh]]
            missing = size - len(taken)
            sample[len(taken) :] = fresh[:missing]
            pool = fresh[missing:]
    return chosen


def as_table(block: Block) -> FloatArray | None:
    """Rows as a dense table, or None where they are too wide to be one."""
    if block.is_sparse and block.matrix.shape[1] > DENSE_COLUMNS:
        return None
    return block.dense


def as_entries(block: Block) -> sp.csr_array:
    """Rows as sparse ones."""
    return block.matrix if block.is_sparse else sp.csr_array(block.matrix)
