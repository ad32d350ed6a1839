"""Matrices of MATLAB's format 5 (versions 5 to 7), with every length checked before it is used.

SciPy's compiled reader trusts the type numbers and lengths in a file and ends the whole process
when they are damaged, which no `except` can catch. Only numbers are read here: full and sparse
matrices. The layout is that of MathWorks, MAT-File Format, chapter 1.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.datasets.unpack import limit

HEADER_BYTES = 128

_MATRIX, _COMPRESSED = 14, 15
_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_SPARSE, _NUMBERS = 5, range(6, 16)  # classes of arrays
_COMPLEX = 0x0800
_MOST_START = 1 << 12  # bytes that hold the flags, shape and name of any array


@dataclass(frozen=True)
class Variable:
    """An array of a file; its values are unpacked when `matrix` is called."""

    name: str
    shape: tuple[int, ...]
    _flags: int
    _element: _Element
    _values_at: int

    def matrix(self) -> NDArray[np.float64] | sp.csc_array | None:
        """The values as doubles, None where they are no real matrix. ValueError for damage."""
        kind = self._flags & 0xFF
        if len(self.shape) != 2 or self._flags & _COMPLEX:
            return None
        parts = _Parts(self._element.content(), self._element.order, self._values_at)
        if kind == _SPARSE:
            return self._sparse(parts)
        return self._full(parts) if kind in _NUMBERS else None

    def _full(self, parts: _Parts) -> NDArray[np.float64]:
        values = parts.numbers()
        if len(values) != math.prod(self.shape):
            raise ValueError(f"'{self.name}' is to hold {self.shape}, and has {len(values):,}")
        return values.astype(np.float64).reshape(self.shape, order="F")

    def _sparse(self, parts: _Parts) -> sp.csc_array:
        rows, starts, values = parts.numbers(), parts.numbers(), parts.numbers()
        if len(starts) != self.shape[1] + 1 or not 0 <= starts[-1] <= min(len(rows), len(values)):
            raise ValueError(f"'{self.name}' has other columns than {self.shape}")
        stored = int(starts[-1])
        made = sp.csc_array(
            (values[:stored].astype(np.float64), rows[:stored], starts), shape=self.shape
        )
        made.check_format(full_check=True)
        return made


def variables(file: BinaryIO, size: int) -> Iterator[Variable]:
    """The arrays of a file of that size. ValueError for damage."""
    header = _exactly(file, HEADER_BYTES)
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
    if order is None:
        raise ValueError("it does not say how its numbers are written")
    at = HEADER_BYTES
    while at + 8 <= size:
        file.seek(at)
        kind, length = np.frombuffer(_exactly(file, 8), f"{order}u4").tolist()
        if length > size - at - 8:
            raise ValueError(f"an array is to have {length:,} bytes, and {size - at - 8:,} follow")
        if kind in (_MATRIX, _COMPRESSED):
            found = _variable(_Element(file, at + 8, length, kind == _COMPRESSED, order))
            if found:
                yield found
        at += 8 + length


@dataclass(frozen=True)
class _Element:
    """One array as it stands in the file."""

    file: BinaryIO
    at: int
    length: int
    compressed: bool
    order: str

    def start(self) -> bytes:
        """The first bytes, unpacked."""
        self.file.seek(self.at)
        packed = _exactly(self.file, min(self.length, _MOST_START))
        return zlib.decompressobj().decompress(packed, _MOST_START) if self.compressed else packed

    def content(self) -> bytes:
        """All bytes, unpacked."""
        self.file.seek(self.at)
        packed = _exactly(self.file, self.length)
        if not self.compressed:
            return packed
        most = limit(self.length)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, most)
        if unpacker.unconsumed_tail:
            raise ValueError(f"an array unpacks to more than {most:,} bytes")
        if not unpacker.eof:
            raise ValueError("an array is cut")
        return content


def _variable(element: _Element) -> Variable | None:
    """The array of an element; None for anything else."""
    start, at = element.start(), 0
    if element.compressed:
        kind = np.frombuffer(start[:4], f"{element.order}u4").tolist()
        if kind != [_MATRIX]:
            return None
        at = 8
    parts = _Parts(start, element.order, at)
    flags = parts.numbers()
    shape = tuple(int(axis) for axis in parts.numbers())
    if len(flags) != 2 or min(shape, default=-1) < 0:
        raise ValueError("an array without flags or shape")
    name = parts.next()[1].decode("latin-1")
    return Variable(name, shape, int(flags[0]), element, parts.at)


class _Parts:
    """The parts of an array, one after the other: flags, shape, name, values."""

    def __init__(self, content: bytes, order: str, at: int) -> None:
        self._content, self._order, self.at = content, order, at

    def numbers(self) -> NDArray[Any]:
        """The next part as numbers of the type that is written there."""
        kind, raw = self.next()
        if kind not in _TYPES:
            raise ValueError(f"there are no numbers of type {kind}")
        return np.frombuffer(raw, f"{self._order}{_TYPES[kind]}")

    def next(self) -> tuple[int, bytes]:
        """The type and the bytes of the next part."""
        tag = self._content[self.at : self.at + 8]
        if len(tag) < 8:
            raise ValueError("an array is cut")
        first, length = np.frombuffer(tag, f"{self._order}u4").tolist()
        if first >> 16:  # up to four bytes stand within the tag itself
            length, kind, start, step = first >> 16, first & 0xFFFF, self.at + 4, 8
        else:
            kind, start, step = first, self.at + 8, 8 + -(-length // 8) * 8
        raw = self._content[start : start + length]
        if len(raw) < length or (first >> 16 and length > 4):
            raise ValueError(f"a part is to have {length:,} bytes, and {len(raw):,} follow")
        self.at += step
        return kind, raw


def _exactly(file: BinaryIO, size: int) -> bytes:
    raw = file.read(size)
    if len(raw) < size:
        raise ValueError("the file is cut")
    return raw
