"""NumPy's own files: a table in a .npy file, rows `X` and labels `y` in a .npz file.

What a header promises is compared with what the file holds before anything is allocated.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers.damage import printable, refusing_damage
from okbench.datasets.readers.missing import is_missing, no_value
from okbench.datasets.readers.table import Column, ColumnTable, place_of
from okbench.datasets.unpack import limit

_ARCHIVE, _ARRAY = b"PK", b"\x93NUMPY"  # how the two kinds of files begin
_PIECE = 1 << 20
_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)  # stand for no character by themselves


def read_npy(
    path: Path,
    *,
    missing: bool = False,
    drop: Sequence[Column] = (),
    target: Column | None = None,
) -> ColumnTable:
    """A matrix of numbers as a table; NaN is refused, or stands for a `missing` value. It always is
    in the `target`, and in columns to `drop` nothing is looked at."""
    values = array_of_npy(path)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(f"{path}: a table of numbers is needed, not {values.dtype} {values.shape}")
    width = values.shape[1]
    label = None if target is None else place_of(path, target, (), width)
    dropped = {place_of(path, column, (), width) for column in drop} - {label}
    values[:, list(dropped)] = 0
    gaps = np.isnan(values) if values.dtype.kind == "f" else np.zeros((0, width), np.bool_)
    refused = [place for place in np.flatnonzero(gaps.any(axis=0)) if place == label or not missing]
    if refused:
        row, place = int(np.argmax(gaps[:, refused[0]])), refused[0]
        said = no_value(str(place), is_target=place == label)
        raise DataError(f"{path}: row {row}: {said}")
    return ColumnTable(path, (), finite_matrix(path, values, missing))


def read_npz(path: Path, *, missing: bool = False) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The arrays X and y of an archive."""
    found, held = arrays_of_npz(path, "X", "y")
    if len(found) < 2:
        names = printable(", ".join(held)) or "none"
        raise DataError(f"{path}: arrays X and y are needed; it holds {names}")
    X, y = found["X"], found["y"].ravel()
    if X.ndim != 2 or X.dtype.kind not in "biuf" or len(X) != len(y):
        raise DataError(f"{path}: X {X.shape} and y {y.shape} are not rows with a label each")
    if y.dtype.kind not in "biufU":
        raise DataError(f"{path}: y holds {y.dtype}; labels are numbers or texts")
    _refuse_no_labels(path, y)
    if not missing and X.dtype.kind == "f" and np.isnan(X).any():
        row, column = np.argwhere(np.isnan(X))[0].tolist()
        raise DataError(
            f"{path}: X[{row}, {column}] has no value; fill it (--missing mean: by the mean of the "
            "rows before)"
        )
    return finite_matrix(path, X, missing), y


def _refuse_no_labels(path: Path, y: NDArray[Any]) -> None:
    """Refuse labels that are missing or infinite."""
    if y.dtype.kind == "U":
        gaps = np.array([is_missing(word) for word in y.tolist()], dtype=np.bool_)
    else:
        gaps = np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=np.bool_)
    if gaps.any():
        raise DataError(
            f"{path}: y[{np.argmax(gaps)}] has no value; delete the rows without a label from the "
            "file"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"{path}: y[{np.argmin(np.isfinite(y))}] is not a finite number")


def finite_matrix(path: Path, values: NDArray[Any], missing: bool = False) -> NDArray[np.float64]:
    """A matrix as doubles, all of them finite, or NaN where a value may be missing."""
    with np.errstate(all="ignore"):  # a wider float may hold more than a double can
        found = np.ascontiguousarray(values, dtype=np.float64)
    wrong = ~np.isfinite(found) & ~(np.isnan(found) & missing)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise DataError(f"{path}: row {row}, column {column} is not a finite number")
    return found


def array_of_npy(path: Path) -> NDArray[Any]:
    """The array of a .npy file, of any kind but Python objects."""
    with refusing_damage(path, ".npy"), path.open("rb") as file:
        if file.read(len(_ARCHIVE)) == _ARCHIVE:
            raise ValueError("it is a .npz file under another name")
        file.seek(0)
        head = _Head.of(file, path.stat().st_size)
        return head.array(lambda dtype, count: np.fromfile(file, dtype, count))


def arrays_of_npz(path: Path, *names: str) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Those of the named arrays that a .npz file holds, and the names of all that it holds."""
    with refusing_damage(path, ".npz"), path.open("rb") as file:
        if file.read(len(_ARRAY)) == _ARRAY:
            raise ValueError("it is a .npy file under another name")
        with zipfile.ZipFile(file) as archive:
            held = tuple(
                name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")
            )
            found = {name: _member(archive, f"{name}.npy") for name in names if name in held}
        return found, held


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    info = archive.getinfo(name)
    if info.flag_bits & 1:
        raise ValueError(f"'{name}' is encrypted")
    most = limit(info.compress_size)
    if info.file_size > most:
        raise ValueError(
            f"'{name}' is to unpack from {info.compress_size:,} to {info.file_size:,} bytes, and "
            f"{most:,} are the most"
        )
    content = bytearray()  # it grows with what is really there
    with archive.open(info) as file:
        while piece := file.read(_PIECE):
            content += piece
    start = io.BytesIO(content)
    head = _Head.of(start, len(content))
    return head.array(lambda dtype, count: np.frombuffer(content, dtype, count, start.tell()))


@dataclass(frozen=True)
class _Head:
    """What stands before the values of a .npy file."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, file: BinaryIO, size: int) -> _Head:
        """Read from the start of a file of that size; ValueError when not all of it is there."""
        version = npy.read_magic(file)
        if version == (1, 0):
            head = cls(*npy.read_array_header_1_0(file))
        elif version == (2, 0):
            head = cls(*npy.read_array_header_2_0(file))
        else:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is not read")
        if head.dtype.hasobject or head.dtype.itemsize == 0:
            raise ValueError(f"arrays of {head.dtype} are not read")
        needed, left = math.prod(head.shape) * head.dtype.itemsize, size - file.tell()
        if min(head.shape, default=0) < 0 or needed > left:
            axes = " × ".join(f"{axis:,}" for axis in head.shape)
            raise ValueError(
                f"its header promises {axes} values of {head.dtype.itemsize} bytes, {needed:,} in "
                f"all, and {left:,} follow"
            )
        return head

    def array(self, take: Callable[[np.dtype[Any], int], NDArray[Any]]) -> NDArray[Any]:
        """The array, its values taken by dtype and count."""
        values = take(self.dtype, math.prod(self.shape))
        _check_texts(values)
        return values.reshape(self.shape, order="F" if self.fortran else "C")


def _check_texts(values: NDArray[Any]) -> None:
    """Damaged bytes may stand for no character at all."""
    if values.dtype.kind != "U":
        return
    codes = values.view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
    lone = (codes >= _SURROGATES[0]) & (codes <= _SURROGATES[1])
    if (lone | (codes > _LAST_CODE_POINT)).any():
        raise ValueError("a text holds what is no character")
