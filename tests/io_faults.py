"""Each I/O call fails in turn: the first, then the second, until a run needs no further one.

    for fault in each_call_failing(folder, FULL_DISK):
        reset()                 # back to the old state
        with fault:
            work()              # an OSError or OkbenchError it raises is kept in `fault.error`
        assert ...              # the old state or the new one; `fault.call` names what failed

The loop ends after a run in which nothing failed. Calls on files in `folder` are counted, by all
threads: opening, writing, truncating, forcing to the disk, renaming, deleting, and making a folder.
A write that fails has written half of its bytes. What compiled code writes by itself
(`ndarray.tofile`, Parquet) and what other processes write is not seen.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest.mock import patch

from okbench.base.errors import OkbenchError

_MOST_CALLS = 5000


@dataclass(frozen=True)
class Kind:
    """What a call raises, and whether every call after it raises the same."""

    code: int
    lasting: bool

    def __str__(self) -> str:
        return f"{errno.errorcode[self.code]}{' from then on' if self.lasting else ''}"


FULL_DISK = Kind(errno.ENOSPC, lasting=True)  # deleting still works
BRIEFLY_FULL_DISK = Kind(errno.ENOSPC, lasting=False)
BAD_SECTOR = Kind(errno.EIO, lasting=False)
BROKEN_DISK = Kind(errno.EIO, lasting=True)
KINDS = (FULL_DISK, BRIEFLY_FULL_DISK, BAD_SECTOR, BROKEN_DISK)


def each_call_failing(folder: Path, kind: Kind) -> Iterator[Fault]:
    """A `Fault` for the first call on files in the folder, the second, and so on."""
    for number in count(1):
        fault = Fault(folder, kind, number)
        yield fault
        assert fault.entered, "the fault was not used: write `with fault: …`"
        if not fault.call:
            return
        assert number < _MOST_CALLS, f"still failing at call {number}: {fault.call}"


class Fault:
    """Makes one call fail while the block runs.

    `call` names it, as in `replace rows.json`, and is empty when the block made fewer calls.
    `error` is what the block raised then.
    """

    def __init__(self, folder: Path, kind: Kind, number: int) -> None:
        self.call, self.error, self.entered = "", None, False
        self._folder, self._kind, self._number = str(folder), kind, number
        self._calls, self._turn = 0, threading.Lock()
        self._patches = [
            *(patch.object(module, "open", self._opened(io.open)) for module in (io, builtins)),
            patch.object(os, "open", self._checked("open", os.open)),
            patch.object(os, "fsync", self._checked("fsync", os.fsync)),
            patch.object(os, "ftruncate", self._checked("truncate", os.ftruncate)),
            patch.object(os, "replace", self._checked("replace", os.replace)),
            patch.object(os, "rename", self._checked("rename", os.rename)),
            patch.object(os, "link", self._checked("link", os.link)),
            patch.object(os, "unlink", self._checked("delete", os.unlink)),
            patch.object(os, "remove", self._checked("delete", os.remove)),
            patch.object(os, "rmdir", self._checked("delete", os.rmdir)),
            patch.object(os, "mkdir", self._checked("mkdir", os.mkdir)),
            patch.object(os, "write", self._checked("write", os.write)),
        ]

    error: BaseException | None

    def __str__(self) -> str:
        return f"{self._kind} at call {self._number} ({self.call or 'nothing failed'})"

    def __enter__(self) -> Fault:
        self.entered = True
        for each in self._patches:
            each.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        for each in self._patches:
            each.stop()
        self.error = error
        return bool(self.call) and isinstance(error, OSError | OkbenchError)

    def fails(self, what: str, file: Any) -> OSError | None:
        """Count a call; the error it is to raise, if it is the one that fails."""
        path = _path_of(file)
        if path is None or not path.startswith(self._folder):
            return None
        with self._turn:
            full_and_deleting = self._kind.code == errno.ENOSPC and what == "delete"
            if full_and_deleting:
                return None
            self._calls += 1
            later = self._kind.lasting and self._calls > self._number
            if self._calls != self._number and not later:
                return None
            self.call = self.call or f"{what} {Path(path).name}"
        return OSError(self._kind.code, os.strerror(self._kind.code), path)

    def _checked(self, what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def checked(file: Any, *rest: Any, **options: Any) -> Any:
            if error := self.fails(what, file):
                raise error
            return call(file, *rest, **options)

        return checked

    def _opened(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def opened(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            if error := self.fails("open", file):
                raise error
            if not set(mode) & set("wax+"):
                return call(file, mode, buffering, encoding, errors, newline, closefd, opener)
            raw = _Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            raw.fault, raw.path = self, _path_of(file)
            if buffering == 0:
                return raw
            size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
            kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
            buffered = kind(raw, size)
            if "b" in mode:
                return buffered
            encoding = io.text_encoding(encoding)
            return io.TextIOWrapper(buffered, encoding, errors, newline, buffering == 1)

        return opened


class _Raw(io.FileIO):
    fault: Fault
    path: str | None

    def write(self, data: Any) -> int:
        if error := self.fault.fails("write", self.path):
            half = memoryview(data).cast("B")
            super().write(half[: len(half) // 2])
            raise error
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        if error := self.fault.fails("truncate", self.path):
            raise error
        return super().truncate(size)


def _path_of(file: Any) -> str | None:
    """The absolute path of a file given by path or descriptor; None where there is none."""
    try:
        if isinstance(file, int):
            return str(Path(f"/proc/self/fd/{file}").readlink())
        return str(Path(os.fsdecode(file)).absolute())
    except (OSError, TypeError):
        return None
