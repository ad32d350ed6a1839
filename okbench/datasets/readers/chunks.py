"""Text files as chunks of whole lines, and errors that name the line and column."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.unpack import open_unpacked

CHUNK_BYTES = 128 << 10
LONGEST_LINE = 16 << 20  # bytes; the longest of the published sets are under 1 MB

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNPACKING_ERRORS = (OSError, EOFError, LZMAError, zlib.error)


class Position(NamedTuple):
    """The beginning of a line in the unpacked content of a file."""

    byte: int = 0
    line: int = 1


BEGINNING = Position()


@dataclass(frozen=True)
class Chunk:
    """Whole lines of a file, each with its line end; the first has the number `first_line`."""

    path: Path
    raw: bytes
    first_line: int
    after: Position = BEGINNING  # where the file goes on

    @property
    def text(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.raw, dtype=np.uint8)

    def line_at(self, place: int) -> int:
        return self.first_line + self.raw.count(b"\n", 0, place)

    def error(self, place: int, what: str) -> DataError:
        """A DataError that says `file:line:column: what`."""
        column = place - (self.raw.rfind(b"\n", 0, place) + 1) + 1
        return DataError(f"{self.path}:{self.line_at(place)}:{column}: {what}")

    def finite_number(self, place: int, word: str) -> float:
        """The number at `place`, for the few words that compiled code leaves to Python."""
        value = float(word)
        if not math.isfinite(value):
            raise self.error(
                place, f"{word[:40]!a} is not finite, or larger than a double can hold"
            )
        return value

    def word_at(self, place: int, delimiters: bytes = b" \t\r\n") -> str:
        """The token that begins at `place`, shortened, safe to show."""
        end = place
        while end < len(self.raw) and end - place < 40 and self.raw[end] not in delimiters:
            end += 1
        return ascii(self.raw[place:end].decode("utf-8", "replace"))


def chunks(
    path: Path, chunk_bytes: int = CHUNK_BYTES, start: Position = BEGINNING
) -> Iterator[Chunk]:
    """The lines of a text file from `start` on, about `chunk_bytes` at a time. A compressed file is
    unpacked up to there."""
    (byte, line), kept = start, b""
    with opened(path) as file:
        _go_to(path, file, byte)
        while fresh := read_bytes(path, file, chunk_bytes):
            byte += len(fresh)
            if line == 1 and not kept:
                fresh = fresh.removeprefix(_BYTE_ORDER_MARK)
            end = fresh.rfind(b"\n") + 1
            if not end:
                kept += fresh
                if len(kept) > LONGEST_LINE:
                    longest = f"{LONGEST_LINE >> 20} MB"
                    raise DataError(f"{path}:{line}: the line is longer than {longest}")
                continue
            raw, first_line, kept = kept + fresh[:end], line, fresh[end:]
            line += raw.count(b"\n")
            yield Chunk(path, raw, first_line, Position(byte - len(kept), line))
    if kept:
        yield Chunk(path, kept + b"\n", line, Position(byte, line + 1))


def _go_to(path: Path, file: BinaryIO, byte: int) -> None:
    try:
        if file.seek(byte) != byte:
            raise EOFError("it has become shorter")
    except _UNPACKING_ERRORS as error:
        raise DataError(f"{path}: cannot be read from byte {byte:,} on ({error})") from error


def opened(path: Path) -> BinaryIO:
    """A file's content, whatever it is packed with."""
    try:
        return open_unpacked(path)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def read_bytes(path: Path, file: BinaryIO, size: int) -> bytes:
    """The next `size` bytes, fewer at the end."""
    pieces, wanted = [], size
    try:
        # never a buffer larger than what the file really holds
        while wanted and (piece := file.read(min(wanted, CHUNK_BYTES))):
            pieces.append(piece)
            wanted -= len(piece)
        return b"".join(pieces)
    except _UNPACKING_ERRORS as error:
        raise DataError(f"{path}: cannot be unpacked ({error}); fetch it again") from error
