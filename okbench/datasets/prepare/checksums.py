"""Checksums of a file, one for each 64 MB of it, by which a damaged page of prepared rows is found.

They are CRC-32, which is made against damage and not against people: it is computed at several GB a
second, faster than a disk reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import StoreError
from okbench.base.whole_files import replacing

PIECE = 64 << 20  # bytes of a file that have one checksum
_OWN = "checksum"  # of a record
_READ = 1 << 20  # bytes that are read at once


class DamagedRowsError(StoreError):
    """Raised for prepared rows that are not as they were written."""


class OlderRowsError(DamagedRowsError):
    """Raised for prepared rows without checksums, which an earlier version of okbench wrote."""


class PieceChecksums:
    """The checksums of the first `size` bytes of a file, which grows."""

    def __init__(self, values: Sequence[int] = (), size: int = 0) -> None:
        self.values, self.size = list(values), size

    def add(self, content: memoryview) -> None:
        """Take in the bytes that come next."""
        while content:
            room = PIECE - self.size % PIECE
            if room == PIECE:
                self.values.append(0)
            self.values[-1] = crc32(content[:room], self.values[-1])
            self.size += min(room, len(content))
            content = content[room:]

    def add_array(self, array: NDArray[Any]) -> None:
        """Take in the bytes of a contiguous array."""
        self.add(array.reshape(-1).view(np.uint8).data)

    def add_file(self, path: Path, end: int) -> None:
        """Take in the bytes of a file from `size` to that place; fewer if it ends before."""
        buffer = memoryview(bytearray(min(_READ, end - self.size)))
        with path.open("rb", buffering=0) as file:
            file.seek(self.size)
            while count := file.readinto(buffer[: end - self.size]):
                self.add(buffer[:count])


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record of prepared rows as JSON, with its own checksum."""
    with replacing(path) as file:
        file.write(json.dumps({**record, _OWN: _checksum(record)}).encode())


def read_record(path: Path) -> dict[str, Any]:
    """A record as it was written. Errors of the system and of JSON are raised as they are."""
    record = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(record, dict) or _OWN not in record:
        raise OlderRowsError(f"{path}: without checksums, from an earlier version of okbench")
    if record.pop(_OWN) != _checksum(record):
        raise DamagedRowsError(f"{path}: not what was written")
    return record


def _checksum(record: Mapping[str, Any]) -> int:
    return crc32(json.dumps(record).encode())


def checksums_of(path: Path, size: int) -> list[int]:
    """The checksums of the first `size` bytes of a file."""
    found = PieceChecksums()
    found.add_file(path, size)
    return found.values


def check_file(path: Path, size: int, recorded: Sequence[int]) -> None:
    """DamagedRowsError unless the first `size` bytes of a file have the recorded checksums."""
    found = PieceChecksums()
    found.add_file(path, size)
    if found.size < size:
        raise DamagedRowsError(f"{path}: {found.size:,} bytes are left of {size:,}")
    if found.values != list(recorded):
        pairs = zip(found.values, recorded, strict=False)
        piece = next((at for at, (one, other) in enumerate(pairs) if one != other), 0)
        first, last = piece * PIECE, min((piece + 1) * PIECE, size)
        raise DamagedRowsError(
            f"{path}: bytes {first:,} to {last:,} are not those that were written"
        )
