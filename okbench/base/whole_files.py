"""Files written whole: a name stands for the old content or for the new one, never for half of it.

The new content is written under a temporary name in the same folder, forced to the disk, and only
then given its name. A process that is killed leaves the old file, and perhaps a temporary one,
which whoever alone may write that file can remove.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from okbench.base.errors import StoreError

# of systems and disks that cannot force a folder to the disk
_FOLDERS_NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM)

_PIECE = 1 << 20  # bytes copied at once


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` when the block ends and vanishes when it raises.

    The umask decides who may read it. A link stays one: the file that it leads to is replaced.
    Errors of the system are raised as they are.
    """
    if path.is_symlink():
        path = path.resolve()
    temporary = path.with_name(f"{_beginning(path)}{secrets.token_hex(8)}.tmp")
    try:
        # open() applies the umask, which a file of `tempfile` does not
        with temporary.open("xb") as file:
            yield file
        move_into_place(temporary, path)
    except BaseException:
        with suppress(OSError):  # the first error says more
            temporary.unlink(missing_ok=True)
        raise


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote that file. The
    caller holds a lock without which nobody writes it."""
    for left in path.parent.glob(f"{_beginning(path)}*.tmp"):
        with suppress(OSError):
            left.unlink()


def _beginning(path: Path) -> str:
    """How the names of the temporary files of a file begin; its own name may be too long."""
    return f".{hashlib.sha256(path.name.encode(errors='surrogateescape')).hexdigest()[:16]}-"


def move_into_place(temporary: Path, path: Path) -> None:
    """Give a finished file of the same file system its name, with its bytes safe on the disk."""
    # Windows forces only a descriptor that may write
    with temporary.open("r+b" if os.name == "nt" else "rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it where they are missing, with their names on the disk."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in a folder that is made when it is missing. A pipe or a device is written to,
    never replaced. A StoreError says why a file cannot be written.
    """
    try:
        make_folder(path.parent)
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def copy_whole(source: Path, path: Path) -> None:
    """Write a file as a copy of another, piece by piece, in a folder that is made when it is
    missing."""
    try:
        make_folder(path.parent)
        with source.open("rb") as original, replacing(path) as file:
            shutil.copyfileobj(original, file, _PIECE)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, on systems and disks that can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _FOLDERS_NOT_SYNCED:
            raise
