"""Unix compress (.Z), which the standard library does not read: LZW codes of 9 to 16 bits.

Codes come in groups of eight, each group as many bytes long as a code has bits; when the width of a
code changes, the rest of its group is padding.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

MAGIC = b"\x1f\x9d"
_FIRST_BITS = 9
_CLEAR = 256
_CHUNK = 64 << 10


class CompressError(OSError):
    """Raised for a .Z file that is damaged."""


def open_z(path: Path) -> BinaryIO:
    """Open a .Z file for reading its content."""
    return cast(BinaryIO, io.BufferedReader(_Unpacked(path), _CHUNK))


class _Unpacked(io.RawIOBase):
    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._pieces = _pieces(self._file)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        target = memoryview(buffer).cast("B")
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(target), len(self._left))
        target[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """The content in pieces of about 64 KB."""
    header = file.read(3)
    widest = header[2] & 0x1F if len(header) == 3 else 0
    if not header.startswith(MAGIC) or not _FIRST_BITS <= widest <= 16:
        raise CompressError("not a .Z file")
    clears = bool(header[2] & 0x80)
    table = _fresh_table(clears)
    bits, codes = _FIRST_BITS, _codes(b"", _FIRST_BITS)
    previous = b""
    out = bytearray()
    while True:
        if len(table) >= 1 << bits and bits < widest:
            bits, codes = bits + 1, _codes(b"", bits)
        code = next(codes, None)
        if code is None:
            codes = _codes(file.read(bits), bits)
            code = next(codes, None)
            if code is None:
                break
        if clears and code == _CLEAR:
            table, previous = _fresh_table(clears), b""
            bits, codes = _FIRST_BITS, _codes(b"", _FIRST_BITS)
            continue
        previous = _learn(table, code, previous, 1 << widest)
        out += previous
        if len(out) >= _CHUNK:
            yield bytes(out)
            out.clear()
    yield bytes(out)


def _fresh_table(clears: bool) -> list[bytes]:
    return [bytes([value]) for value in range(256)] + ([b""] if clears else [])


def _learn(table: list[bytes], code: int, previous: bytes, most: int) -> bytes:
    """What a code stands for; the table grows by the piece before and this one's first byte."""
    if code > len(table) or (code == len(table) and not previous):
        raise CompressError("damaged: a code that was never defined")
    piece = table[code] if code < len(table) else previous + previous[:1]
    if previous and len(table) < most:
        table.append(previous + piece[:1])
    return piece


def _codes(group: bytes, bits: int) -> Iterator[int]:
    value = int.from_bytes(group, "little")
    for place in range(0, len(group) * 8 - bits + 1, bits):
        yield value >> place & ((1 << bits) - 1)
