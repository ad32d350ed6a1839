"""Signed feature hashing: rows of any number of columns in a fixed number of them.

Weinberger, Dasgupta, Langford, Smola, Attenberg 2009 (Feature hashing for large scale multitask
learning): a hash of the column's number says which new column it is added to, and another bit of it
with which sign, so that inner products keep their expected value. Columns that meet in one new
column collide; how many do is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.datasets.prepare.label_values import distinct_in
from okbench.datasets.readers.multi_file_rows import Matrix, csr_of, mixed_bits, starts_of


@dataclass(frozen=True)
class Collisions:
    """Of the columns that hold values, how many share their new column with another one."""

    columns: int
    sharing: int
    into: int

    @classmethod
    def of(cls, blocks: Iterable[Matrix], into: int) -> Collisions:
        """Count those of some rows; memory is in proportion to the columns that hold values."""
        columns = (sp.csr_array(block).indices for block in blocks)
        used = distinct_in(columns, np.empty(0, dtype=np.int64))
        _, times = np.unique(_places(used, into)[0], return_counts=True)
        return cls(len(used), int(times[times > 1].sum()), into)

    @property
    def words(self) -> str:
        """The count as a sentence."""
        return (
            f"{self.columns:,} columns that hold values hashed to {self.into:,}: {self.sharing:,} "
            f"share theirs with another ({self.sharing / max(1, self.columns):.1%})"
        )


def hashed(block: Matrix, into: int) -> sp.csr_array:
    """Rows with their columns hashed; values that meet are added up, and zeros dropped."""
    rows = sp.csr_array(block)
    columns, signs = _places(rows.indices, into)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((columns, row))  # stable: values are added in the order of their columns
    keys = row[order] * into + columns[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    values: Any = np.add.reduceat(rows.data[order] * signs[order], first) if len(first) else keys
    filled = first[values != 0.0]
    counts = np.bincount(row[order][filled], minlength=rows.shape[0]).astype(np.int64)
    kept = columns[order][filled].astype(np.int32)
    return csr_of(np.asarray(values[values != 0.0], dtype=float), kept, starts_of(counts), into)


def _places(columns: NDArray[Any], into: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The new column of each, and its sign."""
    bits = mixed_bits(columns.astype(np.uint64) + np.uint64(1))
    places = ((bits >> np.uint64(1)) % np.uint64(into)).astype(np.int64)
    return places, np.where(bits & np.uint64(1), 1.0, -1.0)
