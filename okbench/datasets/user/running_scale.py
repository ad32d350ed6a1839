"""Scaling and filling that look at a row and those before it, never at later ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers.multi_file_rows import Matrix

FloatArray = NDArray[np.float64]

_LARGEST_FILLED = 1 << 30  # values


def filled(path: Path, X: Matrix) -> Matrix:
    """Missing values (NaN) replaced by the mean of the rows before, 0 where there are none."""
    if not isinstance(X, np.ndarray):
        return filled(path, dense(path, X)) if np.isnan(X.data).any() else X
    present = ~np.isnan(X)
    with refusing_overflow(path):
        sums = np.cumsum(np.where(present, X, 0.0), axis=0)
    counts = np.cumsum(present, axis=0)
    means = np.zeros_like(X)
    means[1:] = sums[:-1] / np.maximum(counts[:-1], 1)
    return np.where(present, X, means)


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
