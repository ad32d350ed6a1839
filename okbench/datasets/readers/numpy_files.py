"""NumPy's own files: a table in a .npy file, rows `X` and labels `y` in a .npz file."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers.table import Table

_UNREADABLE = (OSError, ValueError, EOFError, MemoryError, BadZipFile, zlib.error)


def read_npy(path: Path, *, missing: bool = False) -> Table:
    """A matrix of numbers as a table; NaN is refused, or stands for a `missing` value."""
    try:
        with path.open("rb") as file:
            values = np.load(file, allow_pickle=False)
        if not isinstance(values, np.ndarray):
            raise ValueError("it is a .npz file under another name")
    except _UNREADABLE as error:
        raise DataError(f"{path}: not a .npy file that can be read ({error})") from error
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(f"{path}: a table of numbers is needed, not {values.dtype} {values.shape}")
    return Table(path, (), finite_matrix(path, values, missing))


def read_npz(path: Path, *, missing: bool = False) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The arrays X and y of an archive."""
    try:
        with path.open("rb") as file:
            held = np.load(file, allow_pickle=False)
            if isinstance(held, np.ndarray):
                raise ValueError("it is a .npy file under another name")
            names = held.files
            X, y = (held[name] if name in names else None for name in ("X", "y"))
    except _UNREADABLE as error:
        raise DataError(f"{path}: not a .npz file that can be read ({error})") from error
    if X is None or y is None:
        found = ", ".join(names) or "none"
        raise DataError(f"{path}: arrays X and y are needed; it holds {found}")
    y = y.ravel()
    if X.ndim != 2 or X.dtype.kind not in "biuf" or len(X) != len(y):
        raise DataError(f"{path}: X {X.shape} and y {y.shape} are not rows with a label each")
    if y.dtype.kind not in "biufU":
        raise DataError(f"{path}: y holds {y.dtype}; labels are numbers or texts")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"{path}: y[{np.argmin(np.isfinite(y))}] is not a finite number")
    return finite_matrix(path, X, missing), y


def finite_matrix(path: Path, values: NDArray[Any], missing: bool = False) -> NDArray[np.float64]:
    """A matrix as doubles, all of them finite, or NaN where a value may be missing."""
    found = np.ascontiguousarray(values, dtype=np.float64)
    wrong = ~np.isfinite(found) & ~(np.isnan(found) & missing)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise DataError(f"{path}: row {row}, column {column} is not a finite number")
    return found
