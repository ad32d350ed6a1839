"""The Laplacian kernel psi^(-‖x - z‖₁ / d), and rows as it takes them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Rows
from okbench.learners.numeric.lanes import Entries
from okbench.learners.numeric.rules.laplacian import (
    LaplacianWork,
    all_bytes,
    clear_pixels,
    kernel_laplacian,
    set_pixels,
)
from okbench.learners.origin import Origin
from okbench.learners.rows import Block, row_sums

# Comparing bytes costs as much as this many values, and a share of the columns beside them.
LEAST_VALUES, LEAST_SHARE = 24, 0.1
MOST_COLUMNS = 2**24  # whose differences have a sum of 32 bits


class Points(NamedTuple):
    """Rows of a number of columns, and whether they are compared as bytes with others that are."""

    entries: Entries
    n_features: int
    in_bytes: bool

    @classmethod
    def of(cls, block: Block) -> Points:
        return cls(entries_of(block), block.matrix.shape[1], is_in_bytes(block))

    def of_rows(self, places: Any) -> Points:
        """Some of the rows."""
        starts, stops, norms = (array[places] for array in self.entries[2:])
        return self._replace(
            entries=self.entries._replace(starts=starts, stops=stops, squared_norms=norms)
        )


class Others(NamedTuple):
    """Rows that others are compared with: with a line of bytes for each, or with none."""

    entries: Entries
    pixels: NDArray[np.uint8]

    @classmethod
    def of(cls, points: Points) -> Others:
        n_rows = len(points.entries.starts) if points.in_bytes else 0
        pixels = clear_pixels(n_rows, points.n_features)
        set_pixels(points.entries, 0, n_rows, pixels)
        return cls(points.entries, pixels)


def rate_of(psi: int, n_features: int) -> float:
    """What the L1 distance is multiplied by in the kernel's exponent to the base 2."""
    return -math.log2(psi) / max(1, n_features)


def is_in_bytes(block: Block) -> bool:
    """Whether rows are best compared as bytes: whole numbers from 0 to 255 and not too few."""
    n_rows, n_columns = block.matrix.shape
    least = n_rows * (LEAST_VALUES + LEAST_SHARE * n_columns)
    are_enough = len(block.values) >= least and n_columns <= MOST_COLUMNS
    return are_enough and bool(all_bytes(block.values))


def entries_of(block: Block) -> Entries:
    """Rows for the walks of this kernel: with sums of absolute values for norms."""
    starts, norms = block.starts.astype(np.int64), _absolute_sums(block)
    return Entries(block.values, block.columns, starts[:-1], starts[1:], norms)


def laplacian_kernel(X: Rows, Z: Rows, psi: int) -> FloatArray:
    """psi^(-‖x - z‖₁ / d) of every row of X and every row of Z, which have d columns."""
    block = Block.of(X)
    n_features = block.matrix.shape[1]
    against = Block.of(Z, n_features)
    origin = Origin.for_psi(psi, n_features).chosen(against)
    rows, others = Points.of(origin.moved(block)), Others.of(Points.of(origin.moved(against)))
    out = np.empty((len(rows.entries.starts), len(others.entries.starts)))
    fill_kernel(rows, others, rate_of(psi, rows.n_features), out)
    return out


def fill_kernel(rows: Points, others: Others, rate: float, out: NDArray[Any]) -> None:
    """Fill in the kernel of rows and as many others as `out` has columns."""
    if not rows.in_bytes:
        others = others._replace(pixels=others.pixels[:0])
    work = LaplacianWork.of(rows.n_features, 1)
    work = work.with_room_for(rows.entries, 0, len(out), len(others.pixels) > 0)
    kernel_laplacian(rows.entries, *others, rate, work, out)


def _absolute_sums(block: Block) -> FloatArray:
    """The sum of the absolute values of each row."""
    if not block.is_sparse:
        return np.abs(block.dense).sum(axis=1)
    return row_sums(np.abs(block.values), block.starts)
