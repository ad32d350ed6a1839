"""Compressed files and archives as streams, never past a limit.

The first bytes of a file show how it is packed, not its name.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from okbench.base.errors import FetchError

_SUFFIXES = {b"BZh": ".bz2", b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz"}
DAMAGED = (
    *(OSError, EOFError, NotImplementedError),
    *(lzma.LZMAError, zlib.error, zipfile.BadZipFile, tarfile.TarError),
)

_CHUNK = 1 << 20
_LEAST_LIMIT = 1 << 30
_LARGEST_RATIO = 200  # the most compressible published file unpacks to 70 times its size
_SYMLINK = 0o120000

_CheckStop = Callable[[], None]


@dataclass(frozen=True)
class Measured:
    """Sizes and hashes of a file as it is on the disk, and of its content."""

    bytes: int
    sha256: str
    md5: str
    content_bytes: int
    content_sha256: str


def packing(path: Path) -> str:
    """'.bz2', '.gz' or '.xz' for a compressed file, '' for any other."""
    with path.open("rb") as file:
        start = file.read(6)
    return next((suffix for magic, suffix in _SUFFIXES.items() if start.startswith(magic)), "")


def open_unpacked(path: Path) -> BinaryIO:
    """Open a file for reading its content, whatever it is compressed with."""
    match packing(path):
        case ".bz2":
            return cast(BinaryIO, bz2.open(path))
        case ".gz":
            return cast(BinaryIO, gzip.open(path))
        case ".xz":
            return cast(BinaryIO, lzma.open(path))
        case _:
            return path.open("rb")


def limit(packed_bytes: int, content_bytes: int | None = None) -> int:
    """How large the content of a packed file may become; copies may have longer line ends."""
    return 2 * content_bytes if content_bytes else max(_LEAST_LIMIT, _LARGEST_RATIO * packed_bytes)


def measure(path: Path, most: int, check_stop: _CheckStop = lambda: None) -> Measured:
    """Hash a file and its content; `check_stop` is called along the way and may raise."""
    md5 = hashlib.md5(usedforsecurity=False)
    whole, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            check_stop()
            md5.update(chunk)
            whole.update(chunk)
            size += len(chunk)
    if not packing(path):
        return Measured(size, whole.hexdigest(), md5.hexdigest(), size, whole.hexdigest())
    content, content_size = hashlib.sha256(), 0
    with open_unpacked(path) as file:
        for chunk in _within(file, most, path.name, check_stop):
            content.update(chunk)
            content_size += len(chunk)
    return Measured(size, whole.hexdigest(), md5.hexdigest(), content_size, content.hexdigest())


def extract(
    archive: Path, member: str, target: Path, most: int, check_stop: _CheckStop = lambda: None
) -> None:
    """Write one file out of a zip or tar; only to `target`, whatever the member calls itself."""
    with _opened_member(archive, member, most, check_stop) as file, target.open("wb") as out:
        for chunk in _within(file, most, member, check_stop):
            out.write(chunk)


@contextmanager
def _opened_member(
    archive: Path, member: str, most: int, check_stop: _CheckStop
) -> Iterator[BinaryIO]:
    with archive.open("rb") as packed:  # an error in opening it is no damage
        is_zip = zipfile.is_zipfile(packed)
    if is_zip:
        with zipfile.ZipFile(archive) as members:
            info = members.getinfo(_unique_member(member, members.namelist()))
            if info.is_dir() or (info.external_attr >> 16) & 0o170000 == _SYMLINK:
                raise FetchError(f"'{info.filename}' is a link or a folder, not a file")
            if info.flag_bits & 1:
                raise FetchError(f"'{info.filename}' is encrypted")
            with members.open(info) as file:
                yield cast(BinaryIO, file)
        return
    with open_unpacked(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as members:
        seen = []
        for entry in members:
            check_stop()
            seen.append(entry.name)
            if members.offset > 2 * most + _LEAST_LIMIT:
                break
            if _same_file(entry.name, member):
                found = members.extractfile(entry) if entry.isreg() else None
                if found is None:
                    raise FetchError(f"'{entry.name}' is a link or a folder, not a file")
                yield cast(BinaryIO, found)
                return
        _unique_member(member, seen)


def _unique_member(member: str, names: list[str]) -> str:
    """The archive's own name for a member, which may be in another folder than expected."""
    exact = [name for name in names if name == member]
    found = exact or [name for name in names if _same_file(name, member)]
    if len(found) != 1:
        held = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        many = "more than one" if found else "no"
        raise FetchError(f"{many} member '{member}' in the archive (it holds {held or 'nothing'})")
    return found[0]


def _same_file(name: str, member: str) -> bool:
    return name.rpartition("/")[2] == member.rpartition("/")[2]


def _within(file: BinaryIO, most: int, name: str, check_stop: _CheckStop) -> Iterator[bytes]:
    """The chunks of a stream, refusing more than `most` bytes."""
    size = 0
    while chunk := file.read(_CHUNK):
        check_stop()
        size += len(chunk)
        if size > most:
            raise FetchError(
                f"'{name}' unpacks to more than the {most:,} bytes expected; stopped there"
            )
        yield chunk
