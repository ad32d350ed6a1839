"""Where rows are measured from: kernels depend on differences, and doubles lose those far from 0.

A kernel is computed from ‖x‖² + ‖z‖² - 2 x·z, whose rounding moves its exponent by up to about
ε ‖x‖² / (2 width²), ε = 2^-52. Where the first row that is learned makes this more than MOVED_FROM,
its far columns are subtracted from every row, that one included: the kernel is the same function,
and the difference of two close numbers is exact. The choice stays for the model's life and is part
of it. It depends on the first row alone, so that no cut of the rows into blocks can change it.

A row that is still further away than REFUSED_FROM allows is not learned: no origin is near all rows
of such a column, and kernels between far rows would be wrong without a sign of it. Rows to predict
may be anywhere, because their kernel with what was learned is then 0. Learners with fixed random
features compute no squares: they lose ε ‖x‖ / width of an angle, and are given rows that are much
further apart. The Laplacian kernel is computed from ‖x‖₁ + ‖z‖₁ less what the rows have in common,
and so the same holds of it with sums of absolute values.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, RowsError
from okbench.learners.rows import Block, row_sums

EPSILON = 2.0**-52
MOVED_FROM, REFUSED_FROM = 1e-8, 1e-6  # error of a kernel's exponent, or of an angle
# Of what may stay unmoved in the first row: columns with less of it than an equal share stay.
LEFT = 0.01


class Origin(NamedTuple):
    """What is subtracted from the rows of one model: zero but in some columns."""

    sharpness: float = 0.0  # 1 / (2 width²) or log psi / d, or 0 where there is no kernel
    is_chosen: bool = False
    columns: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    values: FloatArray = np.zeros(0)
    has_angles: bool = False  # of random features, instead of squared distances
    power: int = 2  # of the differences that are added up: 1 for the Laplacian kernel

    @classmethod
    def for_width(cls, width: float, has_angles: bool = False) -> Self:
        """Not chosen yet. Widths so small that the sharpness is no double show in the scores."""
        with np.errstate(over="ignore", divide="ignore"):
            sharpness = float(0.5 / np.float64(width) / np.float64(width))
        return cls(sharpness if np.isfinite(sharpness) else 0.0, has_angles=has_angles)

    @classmethod
    def for_psi(cls, psi: int, n_features: int) -> Self:
        """Not chosen yet, of the Laplacian kernel psi^(-‖x - z‖₁ / d)."""
        return cls(math.log(psi) / max(1, n_features), power=1)

    def chosen(self, block: Block) -> Origin:
        """The origin of a model whose first rows are these."""
        if self.is_chosen or not len(block):
            return self
        if not self.sharpness or not self._error(self._norms(block[:1])[0]) > MOVED_FROM:
            return self._replace(is_chosen=True)
        row = block[:1].dense[0]
        share = LEFT / len(row)
        with np.errstate(over="ignore"):
            columns = np.flatnonzero(self._error(np.abs(row) ** self.power) > share * MOVED_FROM)
        return self._replace(is_chosen=True, columns=columns, values=row[columns])

    def moved(self, block: Block) -> Block:
        """The rows as they are seen from here."""
        if not len(self.columns):
            return block
        with np.errstate(over="ignore"):
            if isinstance(block.matrix, np.ndarray):
                matrix = block.matrix.copy()
                matrix[:, self.columns] -= self.values
                return Block(matrix)
            n_rows, n_moved = len(block), len(self.columns)
            entries = np.tile(self.values, n_rows), np.tile(self.columns, n_rows)
            starts = np.arange(n_rows + 1) * n_moved
            return Block.of(block.matrix - sp.csr_array((*entries, starts), block.matrix.shape))

    def back(self, vectors: FloatArray) -> FloatArray:
        """Vectors that are seen from here, as rows of the stream."""
        if len(self.columns):
            vectors = vectors.copy()
            vectors[:, self.columns] += self.values
        return vectors

    def check(self, moved: Block) -> None:
        """Refuse rows that are too far away for their kernels to be right."""
        if self.sharpness == 0.0 or not len(moved):
            return
        errors = self._lost(self._norms(moved))
        if not errors.max() > REFUSED_FROM:
            return
        row = int(np.argmax(errors > REFUSED_FROM))
        distances = moved[row : row + 1].dense[0]
        column = int(np.argmax(np.abs(distances)))
        here = float(self.values[self.columns == column].sum())
        span = f"{here:g} to {here + distances[column]:g}"
        if self.power == 2:
            widths = abs(distances[column]) * np.sqrt(2.0 * self.sharpness)
            span, advice = f"{span}, {widths:.1e} times the width", "raise the width"
        else:
            advice = "lower psi"
        raise RowsError(
            f"row {row}: column {column} (counted from 0) reaches from {span}, and kernels that "
            f"far apart have no correct digits; scale the column, or {advice}"
        )

    def _norms(self, block: Block) -> FloatArray:
        """The sum of the absolute values of each row, to the power."""
        if self.power == 2:
            return block.squared_norms
        return row_sums(np.abs(block.values), block.starts)

    def _error(self, norm: Any) -> Any:
        """How far rounding may move the exponent of a row's kernel; without a kernel, nowhere."""
        return EPSILON * self.sharpness * norm

    def _lost(self, norm: Any) -> Any:
        """How far rounding may move what the learner computes of a row."""
        if self.has_angles:
            return EPSILON * np.sqrt(2.0 * self.sharpness * norm)
        return self._error(norm)
