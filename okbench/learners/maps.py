"""Maps from rows to features that stay as they are while a learner learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from okbench.learners.contract import FloatArray
from okbench.learners.numeric.fourier import project_dense, project_sparse
from okbench.learners.numeric.lanes import Entries, Lanes, aligned, kernel_rows
from okbench.learners.numeric.rules.linear import AS_THEY_ARE, COSINES_THEN_SINES
from okbench.learners.rows import Block

# Share of values present from which a product of matrices is the faster way to the same bits.
SPARSE_BELOW = 0.35


class FeatureMap(Protocol):
    """Rows to features in two moves. It is a record of arrays and numbers, which nothing changes.

    `project` takes a stretch of rows at once, to `width` numbers each, and makes the same numbers
    of a row whatever rows are beside it (a BLAS does not, and computes other last bits on another
    processor). The compiled walk then makes `size` features of a row's numbers as the code `finish`
    says, while they are in cache.
    """

    @property
    def size(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def finish(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def project(self, block: Block, first: int, out: FloatArray) -> None:
        """Fill `out` with the projections of the rows from `first` on, one per line."""


@dataclass(frozen=True)
class FourierMap:
    """cos(u·x) for every column u of `frequencies`, then sin(u·x); not divided by √D."""

    frequencies: FloatArray  # inputs × components

    finish: ClassVar[int] = COSINES_THEN_SINES

    @classmethod
    def of(cls, frequencies: FloatArray) -> FourierMap:
        """The map with a copy of its own, which begins on a cache line."""
        held = aligned(*frequencies.shape)
        held[:] = frequencies
        return cls(held)

    @property
    def size(self) -> int:
        return 2 * self.width

    @property
    def width(self) -> int:
        return int(self.frequencies.shape[1])

    @property
    def nbytes(self) -> int:
        return self.frequencies.nbytes

    def project(self, block: Block, first: int, out: FloatArray) -> None:
        multiply(block, first, self.frequencies, out)


@dataclass(frozen=True)
class NystroemMap:
    """basisᵀ k(x), where k(x) is the kernel of x and every lane, and clear lanes have no basis."""

    lanes: Lanes
    formula: Any  # the kernel in numbers
    basis: FloatArray  # lanes × features

    finish: ClassVar[int] = AS_THEY_ARE

    @property
    def size(self) -> int:
        return self.width

    @property
    def width(self) -> int:
        return int(self.basis.shape[1])

    @property
    def nbytes(self) -> int:
        return self.basis.nbytes + sum(array.nbytes for array in self.lanes)

    def project(self, block: Block, first: int, out: FloatArray) -> None:
        starts = block.starts[first : first + len(out) + 1].astype(np.int64)
        norms = block.squared_norms[first : first + len(out)]
        rows = Entries(block.values, block.columns, starts[:-1], starts[1:], norms)
        kernel = np.empty((len(out), len(self.basis)))
        kernel_rows(rows, self.lanes, self.formula, kernel)
        project_dense(kernel, 0, self.basis, out)


def multiply(block: Block, first: int, matrix: FloatArray, out: FloatArray) -> None:
    """Fill `out` with the products of the rows from `first` on with a matrix (inputs × columns)."""
    if block.is_sparse and block.values.size < SPARSE_BELOW * np.prod(block.matrix.shape):
        project_sparse(block.values, block.columns, block.starts, first, matrix, out)
    else:
        project_dense(block.dense, first, matrix, out)
