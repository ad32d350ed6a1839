"""Isolation maps of several psi at the cost of little more than the largest.

The map of a psi is made of the first psi of the points that are drawn for the largest psi. Products
of rows with points are computed once, and the nearest point is looked at after every psi of them.
Trees are grown for each psi; those of all smaller psi together have as many nodes as the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from okbench.learners.base import arrays_in
from okbench.learners.contract import Draws, Rows, RowsError, SettingsError, not_begun
from okbench.learners.isolation.forest import Forest, forest_of, tree_uniforms
from okbench.learners.isolation.maps import Cells, cell_type, check_map_settings
from okbench.learners.isolation.nearest import SparsePoints, TablePoints, points_of
from okbench.learners.isolation.references import sub_samples
from okbench.learners.rows import Block


class NestedMaps:
    """Isolation maps of ascending `psis`, of the points that are drawn for the last of them."""

    name = "NestedMaps"
    _forests: tuple[Forest, ...] = ()
    _points: TablePoints | SparsePoints | None = None

    def __init__(
        self,
        partitionings: int = 100,
        psis: Sequence[int] = (4, 16, 64, 256),
        map: str = "iforest",
        library: str = "numpy",
    ) -> None:
        self.partitionings = partitionings
        self.psis = tuple(psis)
        self.map = map
        self.library = library

    @property
    def psi(self) -> int:
        """The largest, of whose points all maps are made."""
        return self.psis[-1]

    def fit(self, X: Rows, draws: Draws | None = None) -> Self:
        """Draw rows and make the partitionings of every psi."""
        if not self.psis or self.psis[0] < 2 or np.any(np.diff(self.psis) <= 0):
            raise SettingsError(f"{self.name}: psis = {self.psis}: they ascend, and are 2 or more")
        check_map_settings(self)
        block = Block.of(X)
        if not len(block):
            raise RowsError(f"{self.name}: there are no rows to make partitionings of")
        draws = draws or Draws()
        self.sizes = np.minimum(self.psis, len(block)).astype(np.int64)
        samples = sub_samples(draws, len(block), int(self.partitionings), int(self.sizes[-1]))
        self._forests, self._points = (), None
        if self.map == "iforest":
            uniforms = tree_uniforms(draws, *samples.shape)
            self._forests = tuple(
                forest_of(block, samples[:, :size], uniforms) for size in self.sizes
            )
        else:
            self._points = points_of(block, samples)
        self._n_features = block.matrix.shape[1]
        return self

    def transform(self, X: Rows) -> Cells:
        """The cells of rows for every psi: psis × rows × partitionings."""
        if self._points is None and not self._forests:
            raise not_begun(f"{self.name} has no partitionings yet: fit() it first")
        block = Block.of(X, self._n_features)
        shape = len(self.sizes), len(block), int(self.partitionings)
        found = np.empty(shape, dtype=cell_type(int(self.sizes[-1])))
        for forest, cells in zip(self._forests, found, strict=False):
            forest.cells(block, cells)
        if self._points is not None:
            with np.errstate(all="ignore"):  # what overflows is decided by exact distances
                self._points.cells(block, str(self.library), self.sizes, found)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that hold the partitionings."""
        held: list[Any] = [*self._forests, *([self._points] if self._points else [])]
        return sum(array.nbytes for made in held for array in arrays_in(vars(made).values()))
