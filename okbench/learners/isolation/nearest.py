"""Isolation by nearest neighbour (aNNE): the cells are the Voronoi cells of sampled points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.compiled.lanes import aligned
from okbench.learners.compiled.nearest import find_cells_dense, find_cells_sparse
from okbench.learners.contract import FloatArray
from okbench.learners.isolation.array_libraries import Product
from okbench.learners.isolation.references import as_entries, as_table
from okbench.learners.rows import Block

BLOCK_BYTES = 4 * 1024 * 1024  # of the closeness of a block of rows, so that it stays in cache
LEAST_ROWS, MOST_ROWS = 16, 512
SparseEntries = tuple[FloatArray, NDArray[np.int32], NDArray[np.int32]]  # values, indices, starts


@dataclass(frozen=True)
class Points:
    """What both forms of points share.

    Point k of partitioning i is number k × partitionings + i. Where points are different rows each,
    they are held in this order, and `places` is empty; else each row is held once, and `places`
    says where.
    """

    partitionings: int
    size: int  # points of a partitioning
    places: NDArray[np.int32]
    longest: float  # of the points' norms
    whole: bool  # whether all values are whole numbers


@dataclass(frozen=True)
class TablePoints(Points):
    """Points as a table; the last column is -‖z‖²/2."""

    points: FloatArray

    def cells(self, block: Block, product: Product, out: NDArray[np.generic]) -> None:
        """Fill in the cells of rows: rows × partitionings."""
        n_points, width = len(self.points), self.points.shape[1]
        size = min(max(LEAST_ROWS, min(MOST_ROWS, BLOCK_BYTES // (8 * n_points))), len(block))
        rows, scratch = aligned(size, width), aligned(size, n_points)
        rows[:, -1] = 1.0
        work = aligned(3, self.partitionings)
        for first in range(0, len(block), max(size, 1)):
            part = block[first : first + size].dense
            held, closeness = rows[: len(part)], scratch[: len(part)]
            held[:, :-1] = part
            product(held, self.points, closeness)
            find_cells_dense(
                held, 0, self.points, self.places, self.longest, self.whole, closeness, work,
                out[first : first + size],
            )  # fmt: skip


@dataclass(frozen=True)
class SparsePoints(Points):
    """Points as sparse rows, which stand twice: by columns and by points."""

    by_column: SparseEntries
    by_point: SparseEntries
    halves: FloatArray  # -‖z‖²/2

    def cells(self, block: Block, product: Product, out: NDArray[np.generic]) -> None:
        """Fill in the cells of rows: rows × partitionings. It needs no product of tables."""
        rows = as_entries(block)
        find_cells_sparse(
            (rows.data, rows.indices, rows.indptr, rows.shape[1]), self.by_column, self.by_point,
            self.halves, self.places, self.longest, self.whole, aligned(1, len(self.halves)),
            aligned(3, self.partitionings), out,
        )  # fmt: skip


def points_of(block: Block, samples: NDArray[np.int64]) -> TablePoints | SparsePoints:
    """The points whose row numbers are `samples`: partitionings × points."""
    count, size = samples.shape
    numbers = samples.T.ravel()
    rows, inverse = np.unique(numbers, return_inverse=True)
    places = inverse.astype(np.int32).ravel()
    if len(rows) == len(numbers):
        rows, places = numbers, np.empty(0, dtype=np.int32)
    held = Block(block.matrix[rows])
    squares = held.squared_norms
    shared = (
        count, size, places, float(np.sqrt(squares.max())),
        bool(np.all(held.values == np.floor(held.values))),
    )  # fmt: skip
    table = as_table(held)
    if table is not None:
        return TablePoints(*shared, np.ascontiguousarray(np.c_[table, -0.5 * squares]))
    by_point = as_entries(held)
    by_column = sp.csc_array(by_point)
    return SparsePoints(*shared, _entries(by_column), _entries(by_point), -0.5 * squares)


def _entries(matrix: sp.csr_array | sp.csc_array) -> SparseEntries:
    starts, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return matrix.data, indices, starts
