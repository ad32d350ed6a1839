"""Image files: IDX (MNIST), NORB matrices, CIFAR-10 batches. Pixels become columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers.chunks import opened, read_bytes

_MOST_BYTES = 2 << 30

_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_NORB_TYPES = {0x1E3D4C51: "<f4", 0x1E3D4C53: "<f8", 0x1E3D4C54: "<i4", 0x1E3D4C55: "<u1",
               0x1E3D4C56: "<i2"}  # fmt: skip
_CIFAR_ROW = 1 + 3 * 32 * 32


def read_idx(path: Path) -> NDArray[Any]:
    """The array of an IDX file, its first axis the rows."""
    with opened(path) as file:
        head = read_bytes(path, file, 4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _IDX_TYPES or not head[3]:
            raise DataError(f"{path}: not an IDX file (its first bytes are {head.hex() or 'none'})")
        shape = np.frombuffer(_exactly(path, file, 4 * head[3]), dtype=">u4").astype(int).tolist()
        return _values(path, file, _IDX_TYPES[head[2]], shape)


def read_norb(path: Path) -> NDArray[Any]:
    """The array of a NORB file, its first axis the rows."""
    with opened(path) as file:
        magic, n_axes = np.frombuffer(_exactly(path, file, 8), dtype="<u4").tolist()
        if magic not in _NORB_TYPES or not 1 <= n_axes <= 8:
            raise DataError(f"{path}: not a NORB matrix (it begins with {magic:#x}, {n_axes})")
        # at least three sizes are written, the surplus being 1
        sizes = np.frombuffer(_exactly(path, file, 4 * max(3, n_axes)), dtype="<u4")
        return _values(path, file, _NORB_TYPES[magic], sizes.astype(int).tolist()[:n_axes])


def read_cifar(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Pixels and labels of a CIFAR-10 batch in its binary form."""
    with opened(path) as file:
        raw = read_bytes(path, file, _MOST_BYTES)
    if not raw or len(raw) % _CIFAR_ROW:
        raise DataError(f"{path}: {len(raw):,} bytes are no whole number of {_CIFAR_ROW}-byte rows")
    rows = np.frombuffer(raw, dtype=np.uint8).reshape(-1, _CIFAR_ROW)
    if rows[:, 0].max() > 9:
        row = int(np.argmax(rows[:, 0] > 9))
        raise DataError(f"{path}: row {row} has the label {rows[row, 0]}; CIFAR-10 has 0 to 9")
    return rows[:, 1:], rows[:, 0]


def _values(path: Path, file: BinaryIO, dtype: str, shape: list[int]) -> NDArray[Any]:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not 0 < size <= _MOST_BYTES:
        axes = " × ".join(map(str, shape))
        raise DataError(
            f"{path}: its header promises {axes} values; {_MOST_BYTES >> 30} GB are read"
        )
    raw = _exactly(path, file, size)
    if read_bytes(path, file, 1):
        raise DataError(f"{path}: holds more than the {size:,} bytes its header promises")
    values = np.frombuffer(raw, dtype=dtype).reshape(shape)
    return values.reshape(len(values), -1)


def _exactly(path: Path, file: BinaryIO, size: int) -> bytes:
    raw = read_bytes(path, file, size)
    if len(raw) < size:
        raise DataError(f"{path}: ends {size - len(raw):,} bytes too early; fetch it again")
    return raw
