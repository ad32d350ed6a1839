"""Isolation by trees (iForest): the cells are the leaves of random trees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import Draws, FloatArray
from okbench.learners.isolation.references import as_entries, as_table
from okbench.learners.numeric.forest import (
    UNUSED,
    find_leaves_dense,
    find_leaves_sparse,
    grow_dense,
    grow_sparse,
)
from okbench.learners.rows import Block

MOST_BYTES = 8 * 1024 * 1024  # of sparse rows that are made dense at a time


@dataclass(frozen=True)
class Forest:
    """Trees of one depth, each a row of its arrays.

    Rows of many columns are looked up by the columns that trees look at: then `places` has the
    number of each column among them, and attributes are these numbers; else it is empty.
    """

    depth: int
    attributes: NDArray[np.int32]  # trees × inner nodes
    thresholds: FloatArray
    leaves: NDArray[np.int32]  # trees × nodes of the lowest level: the numbers of their leaves
    places: NDArray[np.int32]

    def numbered(self, width: int) -> Forest:
        """The same forest for rows of many columns."""
        used, numbers = np.unique(self.attributes, return_inverse=True)
        places = np.full(width, UNUSED, dtype=np.int32)
        places[used] = np.arange(len(used))
        attributes = numbers.reshape(self.attributes.shape).astype(np.int32)
        return replace(self, attributes=attributes, places=places)

    @property
    def columns(self) -> NDArray[np.int32]:
        """The column that each inner node looks at."""
        if not len(self.places):
            return self.attributes
        used = np.flatnonzero(self.places != UNUSED).astype(np.int32)
        return used[self.attributes]

    def cells(self, block: Block, out: NDArray[np.generic]) -> None:
        """Fill in the leaves of rows: rows × trees."""
        trees = self.attributes, self.thresholds, self.leaves, self.depth
        nodes = np.zeros(len(self.attributes), dtype=np.uint64)
        if len(self.places):
            rows = as_entries(block)
            row_values = np.zeros((1, 1 + int(self.places.max(initial=0))))
            parts = rows.data, rows.indices, rows.indptr, self.places
            find_leaves_sparse(*parts, *trees, row_values, nodes, out)
            return
        size = max(1, MOST_BYTES // (8 * max(1, block.matrix.shape[1])))
        size = size if block.is_sparse else max(1, len(block))
        for first in range(0, len(block), size):
            rows = slice(first, first + size)
            find_leaves_dense(block[rows].dense, *trees, nodes, out[rows])


def tree_uniforms(draws: Draws, count: int, size: int) -> FloatArray:
    """Two uniforms for each inner node of trees of `size` rows, a row for each tree."""
    inner = _inner_nodes(size)
    return draws.stream("trees").uniforms(2 * count * inner).reshape(count, 2 * inner)


def forest_of(block: Block, samples: NDArray[np.int64], uniforms: FloatArray) -> Forest:
    """A tree for every sample of rows (trees × rows). A tree of fewer rows than the uniforms are
    meant for takes the first of them."""
    count, size = samples.shape
    depth, inner = (size - 1).bit_length(), _inner_nodes(size)
    trees = (
        np.zeros((count, inner), dtype=np.int32),
        np.zeros((count, inner)),
        np.zeros((count, inner + 1), dtype=np.int32),
    )
    for tree, sample in enumerate(samples):
        if not block.is_sparse:
            work = *_nodes(size, inner), *_marks(block.dense.shape[1])
            grow_dense(block.dense, sample, uniforms[tree], *trees, tree, work)
            continue
        rows = Block(block.matrix[sample])
        table = as_table(rows)
        if table is not None:
            work = *_nodes(size, inner), *_marks(table.shape[1])
            grow_dense(table, np.arange(size), uniforms[tree], *trees, tree, work)
            continue
        entries = as_entries(rows)
        names, columns = np.unique(entries.indices, return_inverse=True)
        work = *_nodes(size, inner), *_ranges(len(names))
        held = entries.data, columns.ravel(), entries.indptr, names
        grow_sparse(*held, uniforms[tree], *trees, tree, work)
    forest = Forest(depth, *trees, np.empty(0, dtype=np.int32))
    return forest if as_table(block[:0]) is not None else forest.numbered(block.matrix.shape[1])


def _inner_nodes(size: int) -> int:
    return int(2 ** (size - 1).bit_length()) - 1


def _nodes(size: int, inner: int) -> tuple[NDArray[np.int64], ...]:
    """Scratch of one tree: the order of its rows, and where each node's rows begin and end."""
    nodes = 2 * inner + 1
    return tuple(np.empty(count, dtype=np.int64) for count in (size, nodes, nodes))


def _marks(width: int) -> tuple[NDArray[np.generic], ...]:
    """Scratch of dense rows: whether each column varies in a node, and which ones are left."""
    return np.empty(width, dtype=np.uint8), np.empty(width, dtype=np.int64)


def _ranges(width: int) -> tuple[NDArray[np.generic], ...]:
    """Scratch of sparse rows: the range of every column, in how many rows of a node it is, and the
    columns used there."""
    counts, touched = np.zeros(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    return np.empty(width), np.empty(width), counts, touched
