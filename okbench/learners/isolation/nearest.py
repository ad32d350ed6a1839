"""Isolation by nearest neighbour (aNNE): the cells are the Voronoi cells of sampled points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray
from okbench.learners.isolation.array_libraries import Lines, finder_of
from okbench.learners.isolation.references import as_entries, as_table
from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.nearest import round_rows
from okbench.learners.numeric.nearest_sparse import find_cells_sparse
from okbench.learners.rows import Block


class Points(Protocol):
    """The points of a map, as what finds the nearest of them."""

    def cells(self, block: Block, library: str, out: NDArray[Any]) -> None:
        """Fill in the cells of rows: rows × partitionings."""
        ...


SparseEntries = tuple[FloatArray, NDArray[np.int32], NDArray[np.int32]]  # values, indices, starts


class PointTable(NamedTuple):
    """Points as the rows of a table, in doubles and as they are multiplied.

    `single` has them moved by `shift`, scaled by the power of two `scale`, and rounded to single
    precision; its last column is -‖z‖²/2.
    """

    points: FloatArray
    single: NDArray[np.float32]
    shift: FloatArray
    scale: float
    longest: float  # of the norms as moved and scaled
    whole: bool  # whether all values are whole numbers, and those of `shift` are

    def cells(
        self, block: Block, library: str, several: Sequence[Lines], out: Sequence[NDArray[Any]]
    ) -> None:
        """Fill in the cells of rows (rows × partitionings) in every map whose points stand in
        these lines."""
        finder = finder_of(library, self.points, self.single, several)
        size = min(finder.rows, max(1, len(block)))
        rounded = np.zeros((size, self.single.shape[1]), dtype=np.float32)
        for first in range(0, len(block), size):
            part = slice(first, first + size)
            rows = block[part].dense
            held, slacks = rounded[: len(rows)], np.empty(len(rows))
            round_rows(rows, self.shift, self.scale, self.longest, self.whole, held, slacks)
            finder.find(rows, held, slacks, [cells[part] for cells in out])

    @staticmethod
    @np.errstate(all="ignore")  # where numbers overflow, distances decide alone
    def of(table: FloatArray) -> PointTable:
        """The rows of a table."""
        whole = bool(np.all(table == np.floor(table)))
        shift = table.mean(axis=0, dtype=np.float64)
        shift = np.rint(shift) if whole else shift
        moved = table - shift
        largest = float(np.abs(moved).max(initial=0.0))
        scale = math.ldexp(1.0, min(1023, -math.frexp(largest)[1])) if largest > 0.0 else 1.0
        moved *= scale
        squares = np.einsum("ij,ij->i", moved, moved)
        single = np.empty((len(table), table.shape[1] + 1), dtype=np.float32)
        single[:, :-1], single[:, -1] = moved, -0.5 * squares
        return PointTable(table, single, shift, scale, float(np.sqrt(squares.max())), whole)


@dataclass(frozen=True)
class TablePoints:
    """The points of a map, as rows of a table that has each row once."""

    lines: Lines
    table: PointTable

    def cells(self, block: Block, library: str, out: NDArray[Any]) -> None:
        """Fill in the cells of rows: rows × partitionings."""
        self.table.cells(block, library, [self.lines], [out])


@dataclass(frozen=True)
class SparsePoints:
    """Points as sparse rows, which stand twice: by columns and by points.

    Point k of partitioning i is number k × partitionings + i. Where points are different rows each,
    they are held in this order, and `places` is empty; else each row is held once, and `places`
    says where.
    """

    partitionings: int
    places: NDArray[np.int32]
    longest: float  # of the points' norms
    whole: bool  # whether all values are whole numbers
    by_column: SparseEntries
    by_point: SparseEntries
    halves: FloatArray  # -‖z‖²/2

    def cells(self, block: Block, library: str, out: NDArray[Any]) -> None:
        """Fill in the cells of rows: rows × partitionings. No library is needed, as there is no
        product of tables."""
        rows = as_entries(block)
        find_cells_sparse(
            (rows.data, rows.indices, rows.indptr, rows.shape[1]), self.by_column, self.by_point,
            self.halves, self.places, self.longest, self.whole, aligned(len(self.halves)),
            aligned(3, self.partitionings), out,
        )  # fmt: skip

    @staticmethod
    def of(block: Block, partitionings: int, places: NDArray[np.int32]) -> SparsePoints:
        """Points that are sparse rows."""
        squares, by_point = block.squared_norms, as_entries(block)
        return SparsePoints(
            partitionings, places, float(np.sqrt(squares.max())),
            bool(np.all(block.values == np.floor(block.values))),
            _entries(sp.csc_array(by_point)), _entries(by_point), -0.5 * squares,
        )  # fmt: skip


def points_of(block: Block, samples: NDArray[np.int64]) -> TablePoints | SparsePoints:
    """The points whose row numbers are `samples`: partitionings × points."""
    table = as_table(block[:0])
    numbers = samples.ravel() if table is not None else samples.T.ravel()
    rows, inverse = np.unique(numbers, return_inverse=True)
    places = inverse.astype(np.int32).ravel()
    if len(rows) == len(numbers):
        rows, places = numbers, np.arange(len(numbers), dtype=np.int32)
    held = Block(block.matrix[rows])
    if table is not None:
        return TablePoints(places.reshape(samples.shape), PointTable.of(held.dense))
    are_distinct = len(rows) == len(numbers)
    return SparsePoints.of(held, len(samples), places[:0] if are_distinct else places)


def _entries(matrix: sp.csr_array | sp.csc_array) -> SparseEntries:
    starts, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return matrix.data, indices, starts
