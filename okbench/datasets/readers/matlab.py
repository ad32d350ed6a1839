"""Matrices of MATLAB .mat files (up to version 7)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from okbench.base.errors import DataError, did_you_mean
from okbench.datasets.readers.chunks import opened, read_bytes
from okbench.datasets.readers.damage import printable, refusing_damage
from okbench.datasets.readers.mat5 import HEADER_BYTES, variables
from okbench.datasets.readers.numpy_files import finite_matrix
from okbench.datasets.unpack import limit, packing

_HDF5 = 2  # the version in the header of MATLAB 7.3


def read_mat(path: Path, *names: str) -> tuple[Any, ...]:
    """The named matrices as float64, dense or CSR; small integers are converted before any use."""
    with refusing_damage(path, ".mat"), _seekable(path) as file:
        start = file.read(HEADER_BYTES)
        file.seek(0)
        if _HDF5 in start[124:126] and b"IM" in (start[126:128], start[127:125:-1]):
            raise DataError(f"{path}: written by MATLAB 7.3 or later; save it again with '-v7'")
        # a zero byte in the first four, which are text since format 5, is the mark of format 4
        found, held = (_of_format_4 if 0 in start[:4] else _of_format_5)(file, names)
    for name in names:
        if name not in held:
            shown = tuple(map(printable, held))
            raise DataError(
                f"{path}: no variable '{name}'.{did_you_mean(name, shown)}  "
                f"(it holds: {', '.join(shown) or 'none'})"
            )
    return tuple(_matrix(path, name, found.get(name)) for name in names)


def _seekable(path: Path) -> BinaryIO:
    """The file, or in memory what it is once unpacked."""
    file = opened(path)
    if not packing(path):
        return file
    with file:
        most = limit(path.stat().st_size)
        content = read_bytes(path, file, most + 1)
    if len(content) > most:
        raise DataError(f"{path}: unpacks to more than {most:,} bytes")
    return io.BytesIO(content)


_Found = tuple[Mapping[str, Any], tuple[str, ...]]


def _of_format_5(file: BinaryIO, names: tuple[str, ...]) -> _Found:
    """The named matrices, and the names of all variables."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    held = {variable.name: variable for variable in variables(file, size)}
    return {name: held[name].matrix() for name in names if name in held}, tuple(held)


def _of_format_4(file: BinaryIO, names: tuple[str, ...]) -> _Found:
    import scipy.io

    found = scipy.io.loadmat(file, variable_names=list(names))
    file.seek(0)
    held = tuple(name for name, _, _ in scipy.io.whosmat(file))
    return {name: found[name] for name in names if name in found}, held


def _matrix(path: Path, name: str, value: Any) -> Any:
    if not (sp.issparse(value) or isinstance(value, np.ndarray)):
        raise DataError(f"{path}: '{name}' is no matrix of numbers")
    if value.dtype.kind not in "biuf" or value.ndim != 2:
        raise DataError(f"{path}: '{name}' is no matrix of numbers")
    if isinstance(value, np.ndarray):
        return finite_matrix(path, value)
    with refusing_damage(path, ".mat"):
        value.check_format(full_check=True)  # compiled code trusts the places of values
        rows = sp.csr_array(value, dtype=np.float64)
        rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        raise DataError(f"{path}: a value of '{name}' is not a finite number")
    return rows
