"""Scaling and filling that look at a row and those before it, never at later ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.multi_file_rows import FileRows, Matrix, csr_of, starts_of

FloatArray = NDArray[np.float64]

_LARGEST_FILLED = 1 << 30  # values
_BLOCK_ROWS = 1 << 14
_BLOCK_VALUES = 1 << 22


class Filling:
    """Replaces missing values (NaN) by the mean of the rows before, 0 where there are none. The
    rows may come in several pieces, also of several files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sums: FloatArray | float = 0.0
        self._counts: NDArray[np.int64] | int = 0

    def fill(self, X: FloatArray) -> FloatArray:
        """The rows without gaps."""
        present = ~np.isnan(X)
        known = np.empty((len(X) + 1, X.shape[1]))
        known[0], known[1:] = self._sums, np.where(present, X, 0.0)
        with refusing_overflow(self._path):
            sums = np.cumsum(known, axis=0)
        counts = np.cumsum(np.vstack([np.full(X.shape[1], self._counts), present]), axis=0)
        self._sums, self._counts = sums[-1], counts[-1]
        return np.where(present, X, sums[:-1] / np.maximum(counts[:-1], 1))


def filled_parts(parts: Sequence[FileRows], folder: Path | None) -> list[FileRows]:
    """The rows of several files, each gap filled by the rows before it, also those of earlier
    files. Only columns with gaps are looked at, so that sparse rows stay sparse. They stay on disk
    in `folder`."""
    gaps = [columns_with_gaps(part.X) for part in parts]
    columns = np.unique(np.concatenate(gaps))
    if not len(columns):
        return list(parts)
    filling, found = Filling(Path(parts[0].source)), []
    for part in parts:
        fill = _filled_rows if isinstance(part.X, np.ndarray) else _filled_sparse_rows
        with DiskArrays(folder) as arrays:
            found.append(replace(part, X=fill(part.X, columns, filling, arrays)))
    return found


def columns_with_gaps(X: Any) -> NDArray[np.int64]:
    """The columns that hold a NaN."""
    if not isinstance(X, np.ndarray):
        pieces = [slice(at, at + _BLOCK_VALUES) for at in range(0, X.nnz, _BLOCK_VALUES)]
        gaps = [np.unique(X.indices[some][np.isnan(X.data[some])]) for some in pieces]
        return np.unique(np.concatenate([np.empty(0, np.int64), *gaps]))
    found = np.zeros(X.shape[1], dtype=np.bool_)
    for rows in _blocks(X.shape):
        found |= np.isnan(X[rows]).any(axis=0)
    return np.flatnonzero(found)


def _filled_rows(
    X: FloatArray, columns: NDArray[np.int64], filling: Filling, arrays: DiskArrays
) -> FloatArray:
    values = arrays.new(np.float64, "filled")
    for rows in _blocks(X.shape):
        block = np.array(X[rows])
        block[:, columns] = filling.fill(block[:, columns])
        values.append(block)
    return values.finish(X.shape)


def _filled_sparse_rows(
    X: sp.csr_array, columns: NDArray[np.int64], filling: Filling, arrays: DiskArrays
) -> sp.csr_array:
    counts, indices = arrays.new(np.int64, "counts"), arrays.new(np.int32, "columns")
    values = arrays.new(np.float64, "values")
    for rows in _blocks((X.shape[0], len(columns))):
        block = sp.csr_array(X[rows], copy=True)
        filled = filling.fill(block[:, columns].toarray())
        gaps = np.isnan(block.data)
        row_of = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))[gaps]
        block.data[gaps] = filled[row_of, np.searchsorted(columns, block.indices[gaps])]
        block.eliminate_zeros()
        counts.append(np.diff(block.indptr))
        indices.append(block.indices)
        values.append(block.data)
    return csr_of(values.finish(), indices.finish(), starts_of(counts.finish()), X.shape[1])


def _blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Rows of such a matrix, not too many at once."""
    step = min(_BLOCK_ROWS, max(1, _BLOCK_VALUES // max(1, shape[1])))
    for start in range(0, shape[0], step):
        yield slice(start, start + step)


class RunningScale:
    """Puts each value within the range, or by the mean and deviation, of its column up to its row.
    The rows may come in several pieces."""

    def __init__(self, path: Path, scale: str) -> None:
        self._path, self._unit = path, scale == "running [0,1]"
        self._count = 0
        self._low: FloatArray | float = np.inf
        self._high: FloatArray | float = -np.inf
        self._first: FloatArray | None = None
        self._sum: FloatArray | float = 0.0
        self._squares: FloatArray | float = 0.0

    def __call__(self, X: Matrix) -> Matrix:
        pieces = [self._scaled(dense(self._path, X[rows])) for rows in _blocks(X.shape)]
        return np.concatenate(pieces) if len(pieces) > 1 else (*pieces, X)[0]

    def _scaled(self, values: FloatArray) -> FloatArray:
        with refusing_overflow(self._path):
            return self._in_range(values) if self._unit else self._standard(values)

    def _in_range(self, values: FloatArray) -> FloatArray:
        low = _accumulated(np.minimum, self._low, values)
        high = _accumulated(np.maximum, self._high, values)
        self._low, self._high = low[-1], high[-1]
        span = high - low
        return np.where(span > 0.0, (values - low) / np.where(span > 0.0, span, 1.0), 0.0)

    def _standard(self, values: FloatArray) -> FloatArray:
        # sums of differences from the first row keep their digits where the values are large
        if self._first is None:
            self._first = values[0].copy()
        moved = values - self._first
        sums = _accumulated(np.add, self._sum, moved)
        squares = _accumulated(np.add, self._squares, moved**2)
        self._sum, self._squares = sums[-1], squares[-1]
        count = np.arange(self._count + 1, self._count + len(values) + 1)[:, None]
        self._count += len(values)
        mean = sums / count
        variance = squares / count - mean**2
        spread = np.sqrt(np.maximum(variance, 0.0))
        varies = spread > 1e-12 * np.abs(mean)
        return np.where(varies, (moved - mean) / np.where(varies, spread, 1.0), 0.0)


def _accumulated(how: np.ufunc, before: FloatArray | float, values: FloatArray) -> FloatArray:
    """Minima, maxima or sums up to each row, those of earlier pieces included."""
    known = np.vstack([np.broadcast_to(before, values.shape[1]), values])
    found: FloatArray = how.accumulate(known, axis=0, out=known)
    return found[1:]


@contextmanager
def refusing_overflow(path: Path) -> Iterator[None]:
    """Make an overflow an error that names the file."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise DataError(f"{path}: values are too large to be summed; divide them first") from error


def dense(path: Path, X: Matrix) -> FloatArray:
    """The rows as an array, if it is not too large."""
    if isinstance(X, np.ndarray):
        return X
    refuse_filling(path, *X.shape)
    whole: FloatArray = X.toarray()
    return whole


def refuse_filling(path: Path, rows: int, columns: int) -> None:
    """Raise DataError for sparse rows that are too many to be filled."""
    if rows * columns > _LARGEST_FILLED:
        raise DataError(
            f"{path}: {rows:,} × {columns:,} sparse rows take {rows * columns / 2**27:.1f} GB once"
            f" they are filled, and {_LARGEST_FILLED >> 27} GB are the most"
        )
