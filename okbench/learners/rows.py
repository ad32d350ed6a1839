"""Rows as the compiled loops take them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Rows, RowsError, as_numbers


@dataclass(frozen=True)
class Block:
    """Checked rows, dense or sparse as they came; each form is made when it is asked for.

    Dense rows also read as sparse ones with every column present, so that one compiled walk over
    (values, columns, starts) serves both.
    """

    matrix: FloatArray | sp.csr_array

    @classmethod
    def of(cls, X: Rows, n_features: int | None = None) -> Block:
        """Check and convert: float64, C order or CSR with int32 indices, finite."""
        matrix: Any = _tidy(X) if sp.issparse(X) else as_numbers(X, "rows")
        if matrix.ndim != 2:
            raise RowsError(f"rows come as a table with two axes, not {matrix.ndim}")
        if not all_finite(matrix.data if sp.issparse(matrix) else matrix):
            raise RowsError(f"row {_first_bad_row(matrix)}: a value is not a finite number")
        if n_features is not None and matrix.shape[1] != n_features:
            raise RowsError(f"rows have {matrix.shape[1]} columns; {n_features} were announced")
        return cls(matrix)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: slice) -> Block:
        if rows.indices(len(self)) == (0, len(self), 1):
            return self
        part = Block(self.matrix[rows])
        if "squared_norms" in vars(self):  # they are known, and those of a row depend on it alone
            vars(part)["squared_norms"] = self.squared_norms[rows]
        return part

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    @cached_property
    def dense(self) -> FloatArray:
        return self.matrix if isinstance(self.matrix, np.ndarray) else self.matrix.toarray()

    @cached_property
    def values(self) -> FloatArray:
        return self.matrix.ravel() if isinstance(self.matrix, np.ndarray) else self.matrix.data

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        if not isinstance(self.matrix, np.ndarray):
            return self.matrix.indices
        n_rows, n_columns = self.matrix.shape
        return np.tile(np.arange(n_columns, dtype=np.int32), n_rows)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        if not isinstance(self.matrix, np.ndarray):
            return self.matrix.indptr.astype(np.int64)
        n_rows, n_columns = self.matrix.shape
        return np.arange(n_rows + 1, dtype=np.int64) * n_columns

    @cached_property
    def squared_norms(self) -> FloatArray:
        if isinstance(self.matrix, np.ndarray):
            return np.einsum("ij,ij->i", self.matrix, self.matrix)
        with np.errstate(over="ignore"):  # a norm that is too large shows in the score
            return row_sums(np.square(self.matrix.data), self.matrix.indptr)


def as_one_row(x: Any) -> Rows:
    """A row, dense or sparse, as a table of one row."""
    row = x if sp.issparse(x) or getattr(x, "ndim", 1) == 2 else np.asarray(x)
    row = row.reshape(1, -1) if row.ndim == 1 else row
    if row.ndim != 2 or row.shape[0] != 1:
        raise RowsError(
            f"one row is expected, and this has the shape {row.shape}; learn and predict take "
            "several rows"
        )
    return row


def _tidy(X: Any) -> sp.csr_array:
    """Sparse rows as the compiled loops trust them to be: they look at no bounds or strides."""
    if X.ndim == 2 and max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        raise RowsError(f"sparse rows of shape {X.shape} with {X.nnz} values: 2³¹ - 1 is the most")
    matrix = sp.csr_array(X)
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise RowsError(f"sparse rows that are none: {error}") from error
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # it may share its arrays with X
        matrix.sum_duplicates()
    matrix.data = as_numbers(matrix.data, "rows")
    matrix.indices = np.ascontiguousarray(matrix.indices, dtype=np.int32)
    matrix.indptr = np.ascontiguousarray(matrix.indptr, dtype=np.int32)
    return matrix


def digest_of(block: Block, *more: NDArray[Any]) -> bytes:
    """What stands for the content of rows, and of arrays beside them."""
    matrix: Any = block.matrix
    parts = (matrix.data, matrix.indices, matrix.indptr) if block.is_sparse else (matrix,)
    digest = hashlib.blake2b(str(matrix.shape).encode(), digest_size=16)
    for part in (*parts, *more):
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


def row_sums(values: FloatArray, starts: NDArray[Any]) -> FloatArray:
    """The sum of each sparse row's values, added up one after the other. It takes memory and time
    for the values, however many columns there are."""
    columns = np.zeros(len(values), dtype=starts.dtype)
    return sp.csr_array((values, columns, starts), shape=(len(starts) - 1, 1)) @ np.ones(1)


def all_finite(values: FloatArray) -> bool:
    """Whether all values are finite numbers."""
    # A finite sum proves finite values in one fast pass; a sum that is not proves nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _first_bad_row(matrix: Any) -> int:
    if isinstance(matrix, np.ndarray):
        return int(np.argmin(np.isfinite(matrix).all(axis=1)))
    place = int(np.argmin(np.isfinite(matrix.data)))
    return int(np.searchsorted(matrix.indptr, place, side="right")) - 1
