"""Files written whole: a name stands for the old content or for the new one, never for half of it.

The new content is written under a temporary name in the same folder, forced to the disk, and only
then given its name. A process that is killed leaves the old file, and perhaps a temporary one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from okbench.base.errors import StoreError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` when the block ends and vanishes when it raises.

    The umask decides who may read it. Errors of the system are raised as they are.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        # open() applies the umask, which a file of `tempfile` does not
        with temporary.open("xb") as file:
            yield file
        move_into_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def move_into_place(temporary: Path, path: Path) -> None:
    """Give a finished file of the same file system its name, with its bytes safe on the disk."""
    # Windows forces only a descriptor that may write
    with temporary.open("r+b" if os.name == "nt" else "rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in a folder that is made when it is missing. A pipe or a device is written to,
    never replaced. A StoreError says why a file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, on systems and disks that can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
