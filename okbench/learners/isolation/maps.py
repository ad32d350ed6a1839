"""Maps of rows to features: cells of isolation partitionings, and roots for the χ² kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.base import arrays_in
from okbench.learners.contract import (
    Draws,
    FloatArray,
    Rows,
    RowsError,
    SettingsError,
    not_begun,
)
from okbench.learners.isolation.array_libraries import LIBRARIES, described
from okbench.learners.isolation.forest import Forest, forest_of, tree_uniforms
from okbench.learners.isolation.nearest import Points, SparsePoints, points_of
from okbench.learners.isolation.references import sub_samples
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Declared, Whole

KINDS = ("iforest", "nearest")
Cells = NDArray[Any]  # rows × partitionings, whole numbers of 16 bits where they fit
MakePoints = Callable[[Block, NDArray[np.int64]], Points]
_FITS_16_BITS = 2**16


class FittedMap(NamedTuple):
    """What a map was made to be, whatever is set later."""

    partitions: Forest | Points
    partitionings: int
    psi: int  # as it was asked for
    size: int  # cells of a partitioning: psi, or the rows if there were fewer
    n_features: int
    library: str


class MapSettings(Declared):
    """The settings of an isolation map."""

    partitionings = Whole(100, at_least=1, meaning="number of random partitionings (t)")
    psi = Whole(16, at_least=2, meaning="rows from which a partitioning is made (ψ)")
    map = Choice("iforest", KINDS, meaning="cells: leaves of trees, or nearest points")
    library = Choice("numpy", LIBRARIES, meaning="what multiplies rows with points")


class Timed:
    """A map that counts the seconds which it takes from its last fit on."""

    seconds: float = 0.0

    @contextmanager
    def _counted(self) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begun


@learner("IsolationMap", paper="ik", version=1)
class IsolationMap(MapSettings, Timed):
    """The feature map of the isolation kernel (Ting et al. 2019).

    A row becomes its cells in random partitionings. Each of `partitionings` is made from `psi` rows
    drawn from those that are fitted, or from all of them if there are fewer. `map` is "iforest"
    (the cells are the leaves of an isolation tree) or "nearest" (a cell is where one of the rows is
    nearer than the others). A row becomes one whole number for each partitioning, below `size`;
    `indicators` makes zeros and ones of them. The kernel of two rows is the share of partitionings
    in which their numbers are equal.

    Trees end at the depth log2 psi. Of points at equal distance the first drawn is the nearest.
    `library` multiplies rows with points: "numpy", or "torch" if PyTorch is installed.
    """

    fitted: FittedMap | None = None

    def fit(self, X: Rows, draws: Draws | None = None, make: MakePoints = points_of) -> Self:
        """Draw rows and make the partitionings; `make` takes the rows that are drawn as points."""
        self.check_settings()
        if not isinstance(draws, Draws | None):
            raise SettingsError(f"{self.name}: fit() takes rows and Draws; a map has no labels")
        block = Block.of(X)
        if not len(block):
            raise RowsError(f"{self.name}: there are no rows to make partitionings of")
        self.seconds = 0.0
        with self._counted():
            self.fitted = self._fitted_to(block, draws or Draws(), make)
        return self

    def transform(self, X: Rows) -> Cells:
        """The cell of each row in each partitioning: rows × partitionings."""
        return self.cells(Block.of(X, self.made().n_features))

    def cells(self, block: Block) -> Cells:
        """The same of rows that were checked."""
        made = self.made()
        found = np.empty((len(block), made.partitionings), dtype=cell_type(made.size))
        with self._counted(), np.errstate(all="ignore"):  # exact distances decide what overflows
            if isinstance(made.partitions, Forest):
                made.partitions.cells(block, found)
            else:
                made.partitions.cells(block, made.library, found)
        return found

    def _fitted_to(self, block: Block, draws: Draws, make: MakePoints) -> FittedMap:
        size = min(self.psi, len(block))
        samples = sub_samples(draws, len(block), self.partitionings, size)
        partitions: Forest | Points
        if self.map == "iforest":
            partitions = forest_of(block, samples, tree_uniforms(draws, *samples.shape))
        else:
            partitions = make(block, samples)
        n_features, library = int(block.matrix.shape[1]), self.library
        return FittedMap(partitions, len(samples), self.psi, size, n_features, library)

    def made(self) -> FittedMap:
        """The map once it is fitted; it is an error before."""
        if self.fitted is None:
            raise not_begun(f"{self.name} has no partitionings yet: fit() it first")
        return self.fitted

    @property
    def size(self) -> int:
        """How many cells a partitioning has."""
        return self.made().size

    @property
    def device(self) -> str | None:
        """The library and the device that multiply rows with points, where they are multiplied."""
        made = self.fitted
        if made is None or isinstance(made.partitions, Forest | SparsePoints):
            return None
        return described(made.library)

    @property
    def remark(self) -> str | None:
        """That there were fewer rows than psi, where it is so."""
        made = self.fitted
        if made is None or made.size == made.psi:
            return None
        return f"psi = {made.psi:,} was cut to the {made.size:,} rows of the map"

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that hold the partitionings."""
        held = vars(self.fitted.partitions).values() if self.fitted else ()
        return sum(array.nbytes for array in arrays_in(held))


@learner("ChiSquareMap", paper="ik", version=1)
class ChiSquareMap(Timed):
    """The additive χ² kernel as sign(x) √|x| of each input (Vedaldi and Zisserman 2012).

    It is the approximation of the kernel with b = 0. Sparse rows stay sparse. Negative values are
    no part of the kernel; they are mapped by the odd extension.
    """

    name: str
    _n_features: int | None = None

    def fit(self, X: Rows, draws: Draws | None = None) -> Self:
        """Take the number of columns; nothing is drawn."""
        self._n_features, self.seconds = Block.of(X).matrix.shape[1], 0.0
        return self

    def transform(self, X: Rows) -> Any:
        """The features of rows, as a table or as sparse rows, as the rows are."""
        if self._n_features is None:
            raise not_begun(f"{self.name} has seen no rows yet: fit() it first")
        with self._counted():
            return roots(Block.of(X, self._n_features).matrix)


def roots(matrix: Any) -> Any:
    """sign(x) √|x| of every value."""
    if not sp.issparse(matrix):
        return _signed_roots(matrix)
    parts = _signed_roots(matrix.data), matrix.indices, matrix.indptr
    return sp.csr_array(parts, shape=matrix.shape)


def _signed_roots(values: FloatArray) -> FloatArray:
    return np.sign(values) * np.sqrt(np.abs(values))


def indicators(cells: Cells, size: int, value: float = 1.0) -> sp.csr_array:
    """Cells as sparse rows for linear learners: `value` in the columns i × size + cell, else 0."""
    n_rows, count = cells.shape
    kind: type = np.int32 if max(n_rows, size) * count < 2**31 else np.int64
    columns: NDArray[Any] = (cells + size * np.arange(count)).astype(kind)
    starts = (count * np.arange(n_rows + 1)).astype(kind)
    parts = np.full(n_rows * count, value), columns.ravel(), starts
    return sp.csr_array(parts, shape=(n_rows, count * size))


def cell_type(size: int) -> type[np.unsignedinteger[Any]]:
    """What holds the numbers of so many cells: 16 bits where they fit."""
    return np.uint16 if size <= _FITS_16_BITS else np.uint32
