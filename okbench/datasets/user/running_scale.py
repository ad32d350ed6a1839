"""Scaling and filling that look at a row and those before it, never at later ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.multi_file_rows import FileRows, Matrix

FloatArray = NDArray[np.float64]

_LARGEST_FILLED = 1 << 30  # values
_BLOCK_ROWS = 1 << 14


class Filling:
    """Replaces missing values (NaN) by the mean of the rows before, 0 where there are none. The
    rows may come in several pieces, also of several files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sums: FloatArray | float = 0.0
        self._counts: NDArray[np.int64] | int = 0

    def fill(self, X: Matrix) -> Matrix:
        """The rows without gaps; sparse ones are made dense if there are any."""
        if not isinstance(X, np.ndarray):
            return self.fill(dense(self._path, X)) if np.isnan(X.data).any() else X
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
    files. They stay on disk in `folder`."""
    if any(not isinstance(part.X, np.ndarray) for part in parts):
        whole = Filling(Path(parts[0].source))
        joined = [dense(Path(part.source), part.X) for part in parts]
        return [replace(p, X=whole.fill(X)) for p, X in zip(parts, joined, strict=True)]
    found = []
    filling = Filling(Path(parts[0].source))
    for part in parts:
        X: Any = part.X
        with DiskArrays(folder) as arrays:
            values = arrays.new(np.float64, "filled")
            for start in range(0, len(X), _BLOCK_ROWS):
                values.append(filling.fill(X[start : start + _BLOCK_ROWS]))
            found.append(replace(part, X=values.finish(X.shape)))
    return found


def scaled_running(path: Path, X: Matrix, scale: str) -> FloatArray:
    """Each value within the range, or by the mean and deviation, of its column up to its row."""
    values = dense(path, X)
    with refusing_overflow(path):
        return _unit(values) if scale == "running [0,1]" else _standard(values)


def _unit(values: FloatArray) -> FloatArray:
    low = np.minimum.accumulate(values, axis=0)
    span = np.maximum.accumulate(values, axis=0) - low
    return np.where(span > 0.0, (values - low) / np.where(span > 0.0, span, 1.0), 0.0)


def _standard(values: FloatArray) -> FloatArray:
    # sums of differences from the first row keep their digits where the values are large
    moved = values - values[:1]
    count = np.arange(1, len(values) + 1)[:, None]
    mean = np.cumsum(moved, axis=0) / count
    variance = np.cumsum(moved**2, axis=0) / count - mean**2
    spread = np.sqrt(np.maximum(variance, 0.0))
    varies = spread > 1e-12 * np.abs(mean)
    return np.where(varies, (moved - mean) / np.where(varies, spread, 1.0), 0.0)


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
    if X.shape[0] * X.shape[1] > _LARGEST_FILLED:
        raise DataError(
            f"{path}: {X.shape[0]:,} × {X.shape[1]:,} sparse rows take "
            f"{X.shape[0] * X.shape[1] / 2**27:.1f} GB once they are filled, and "
            f"{_LARGEST_FILLED >> 27} GB are the most"
        )
    whole: FloatArray = X.toarray()
    return whole
