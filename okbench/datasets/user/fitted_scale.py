"""Scaling that is fitted on a sample of the rows, and warnings where columns stay too unequal.

The sample is a random part of the rows, always the same of as many rows, so that every permutation
sees the same numbers. The search for settings runs on the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.permuted_rows import first_permuted
from okbench.datasets.prepare.preparation import Step
from okbench.datasets.readers.multi_file_rows import Matrix
from okbench.datasets.user.running_scale import (
    FloatArray,
    dense,
    refuse_filling,
    refusing_overflow,
)

SAMPLE = 1000  # rows, or all if there are fewer
SAMPLE_SEED = 2**32  # no seed of an evaluation's permutations

_SPARSE_BELOW = 0.25  # share of values that are not zero
_UNEQUAL = 100.0  # ratio of a column's deviation to that of most columns
_FAR_OUT = 30.0  # deviations from the mean
_SELDOM = 30  # rows of the sample: a sparse column with fewer values is not judged by its deviation
_MOST_NAMED = 3
_UNSCALED = "use --scale standard (before okbench add: scale it in the file), or drop it"


def sample_of(n_rows: int) -> NDArray[np.int64]:
    """The places of the rows that the scale and the settings are fitted on."""
    return first_permuted(np.random.default_rng([SAMPLE_SEED, n_rows]), n_rows, SAMPLE)


def is_sparse(X: Matrix) -> bool:
    """Whether scaling would fill rows that are mostly zero."""
    return not isinstance(X, np.ndarray) and X.nnz < _SPARSE_BELOW * X.shape[0] * X.shape[1]


def sample_scaling(
    path: Path, X: Matrix, scale: str, of_words: Sequence[int], filled: bool = False
) -> Step:
    """What gives the columns mean 0 and deviation 1, or values from 0 to 1, over the sample of X.
    Columns that stand for words stay 0 and 1. `filled` are rows that had gaps."""
    part = X[sample_of(X.shape[0])]
    if isinstance(X, np.ndarray) or not of_words:
        if not isinstance(X, np.ndarray):
            refuse_filling(path, *X.shape)
        shift, spread = _fitted(path, dense(path, part), scale, of_words)

        def scaled(block: Matrix) -> Matrix:
            with refusing_overflow(path):
                return (dense(path, block) - shift) / spread

        return scaled
    numbers = np.setdiff1d(np.arange(X.shape[1]), of_words)
    refuse_filling(path, X.shape[0], len(numbers))
    places = np.argsort(np.concatenate([numbers, np.asarray(of_words)]))
    # NumPy adds one column in pairs, and several row by row: filled rows are fitted as dense ones
    beside = of_words[:1] if filled else ()
    fitted = _fitted(path, dense(path, part[:, [*numbers, *beside]]), scale, ())
    shift, spread = (each[: len(numbers)] for each in fitted)

    def scaled_numbers(block: Matrix) -> Matrix:
        with refusing_overflow(path):
            filled = sp.csr_array((dense(path, block[:, numbers]) - shift) / spread)
        joined = sp.hstack([filled, block[:, of_words]], "csr")
        return sp.csr_array(joined[:, places])

    return scaled_numbers


def _fitted(
    path: Path, part: FloatArray, scale: str, untouched: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """What is subtracted from each column, and by what it is divided."""
    with refusing_overflow(path):
        if scale == "standard":
            shift, spread = part.mean(axis=0), part.std(axis=0)
        else:
            shift = part.min(axis=0)
            spread = part.max(axis=0) - shift
        spread = np.where(spread > 1e-12 * np.abs(shift), spread, 1.0)
    shift[list(untouched)], spread[list(untouched)] = 0.0, 1.0
    return shift, spread


def range_warnings(X: Matrix, names: Sequence[str], scale: str, rows: str) -> list[str]:
    """What a person must know of columns that decide the distance between rows alone."""
    X, used = _used(X)
    deviations, largest = _spreads(X)
    varying = deviations[deviations > 0.0]
    if not len(varying):
        return [f"{rows}: no column varies in the sample of {SAMPLE:,} rows"]
    found = []
    usual = float(np.median(varying))
    wide = np.flatnonzero(deviations > _UNEQUAL * usual)
    if len(wide):
        found.append(
            f"warning: {_listed(used[wide], names)} varies {deviations[wide].max() / usual:,.0f}"
            " times as much as most columns, and decides the distance between rows alone: "
            + (_UNSCALED if scale == "none" else "transform or drop it")
        )
    far = np.flatnonzero(largest > _FAR_OUT * np.where(deviations > 0.0, deviations, np.inf))
    by_column = X if isinstance(X, np.ndarray) else sp.csc_array(X)
    far = far[[_has_three_values(by_column, column) for column in far.tolist()]]
    if len(far):
        found.append(
            f"warning: {_listed(used[far], names)} has values more than {_FAR_OUT:.0f} standard"
            " deviations from the mean; its logarithm may serve better, or drop it"
        )
    return found


def _used(X: Matrix) -> tuple[Matrix, NDArray[np.int64]]:
    """The columns that are not zero everywhere, and their places: of the others there may be
    more than the memory holds, and they do not vary."""
    if isinstance(X, np.ndarray):
        return X, np.arange(X.shape[1])
    used, indices = np.unique(X.indices, return_inverse=True)
    compact = sp.csr_array((X.data, indices, X.indptr), shape=(X.shape[0], len(used)))
    return compact, used.astype(np.int64)


def _spreads(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Of every column the deviation over the sample, and the largest distance from the mean."""
    part: Any = X[np.sort(sample_of(X.shape[0]))]
    with np.errstate(all="ignore"):
        if isinstance(X, np.ndarray):
            mean = part.mean(axis=0)
            return part.std(axis=0), np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
        mean = np.asarray(part.mean(axis=0)).ravel()
        squares = np.asarray(part.multiply(part).mean(axis=0)).ravel()
        high, low = (np.asarray(one.todense()).ravel() for one in (X.max(axis=0), X.min(axis=0)))
        deviations = np.sqrt(np.maximum(squares - mean**2, 0.0))
        seldom = np.bincount(part.indices, minlength=X.shape[1]) < min(_SELDOM, part.shape[0])
        return deviations, np.where(seldom, 0.0, np.maximum(high - mean, mean - low))


def _has_three_values(X: FloatArray | sp.csc_array, column: int) -> bool:
    if isinstance(X, np.ndarray):
        return len(np.unique(X[:, column])) > 2
    return len(np.unique(X.data[X.indptr[column] : X.indptr[column + 1]])) > 2


def _listed(columns: NDArray[np.int64], names: Sequence[str]) -> str:
    words = [f"'{names[column]}'" if names else f"column {column}" for column in columns]
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return ", ".join(words[:_MOST_NAMED]) + more
