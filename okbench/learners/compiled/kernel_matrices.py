"""Kernels of all pairs of rows: the additive χ² kernel, and shares of equal cells."""

from __future__ import annotations

from typing import Any

from okbench.base.jit import compiled
from okbench.learners.compiled.lanes import Entries


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


@compiled()
def fill_shares(cells: Any, others: Any, scratch: Any, out: Any) -> None:
    """Fill in the share of partitionings in which a row of `cells` and a column of `others` are in
    the same cell; `scratch` holds a whole number per column."""
    n_partitionings = cells.shape[1]
    for i in range(len(out)):
        for k in range(out.shape[1]):
            scratch[k] = 0
        for p in range(n_partitionings):
            cell = cells[i, p]
            for k in range(out.shape[1]):
                scratch[k] += others[p, k] == cell
        for k in range(out.shape[1]):
            out[i, k] = scratch[k] / n_partitionings
