"""Kernels of all pairs of rows: the additive χ² kernel, and shares of equal cells."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.numeric.lanes import Entries


@compiled()
def fill_chi_square(rows: Entries, others: Entries, scratch: Any, out: Any) -> None:
    """Fill in Σ 2 x z / (|x| + |z|) over the columns of every row and every other one; `scratch`
    holds a zero per column."""
    for i in range(len(out)):
        for e in range(rows.starts[i], rows.stops[i]):
            scratch[rows.columns[e]] = rows.values[e]
        for k in range(out.shape[1]):
            total = 0.0
            for e in range(others.starts[k], others.stops[k]):
                value, other = others.values[e], scratch[others.columns[e]]
                if other != 0.0 and value != 0.0:
                    total += 2.0 * value * other / (abs(value) + abs(other))
            out[i, k] = total
        for e in range(rows.starts[i], rows.stops[i]):
            scratch[rows.columns[e]] = 0.0


class Members(NamedTuple):
    """Rows by their cells: those in cell c of partitioning p stand in order from starts[p, c] to
    starts[p, c + 1] in rows[p]."""

    rows: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, cells: Any, size: int) -> Self:
        """Of the cells of rows, rows × partitionings, which are below `size`."""
        n_rows, n_partitionings = cells.shape
        members = cls(
            np.empty((n_partitionings, n_rows), np.int32),
            np.zeros((n_partitionings, size + 1), np.int64),
        )
        _sort(cells, members)
        return members


@compiled()
def _sort(cells: Any, members: Members) -> None:
    """Fill in which rows are in each cell."""
    rows, starts = members
    for p in range(len(rows)):
        for k in range(len(cells)):
            starts[p, cells[k, p] + 1] += 1
        for c in range(1, starts.shape[1]):
            starts[p, c] += starts[p, c - 1]
        for k in range(len(cells)):
            cell = cells[k, p]
            rows[p, starts[p, cell]] = k
            starts[p, cell] += 1
        for c in range(starts.shape[1] - 1, 0, -1):  # each start is the next one's now
            starts[p, c] = starts[p, c - 1]
        starts[p, 0] = 0


@compiled()
def fill_shares(cells: Any, others: Members, scratch: Any, out: Any) -> None:
    """Fill in the share of partitionings in which a row of `cells` and each other row are in the
    same cell; `scratch` holds a whole number per column."""
    rows, starts = others
    n_partitionings = cells.shape[1]
    for i in range(len(out)):
        for k in range(out.shape[1]):
            scratch[k] = 0
        for p in range(n_partitionings):
            cell = cells[i, p]
            for m in range(starts[p, cell], starts[p, cell + 1]):
                scratch[rows[p, m]] += 1
        for k in range(out.shape[1]):
            out[i, k] = scratch[k] / n_partitionings
