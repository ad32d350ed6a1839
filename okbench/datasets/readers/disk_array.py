"""Arrays of unknown length, kept on disk while they grow: memory stays at one chunk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from okbench.base.errors import StoreError
from okbench.datasets.readers.chunks import BEGINNING, Position


class DiskArray:
    """An array that grows in a file; one without a name vanishes with the last view of it."""

    def __init__(self, dtype: DTypeLike, file: IO[bytes], size: int = 0) -> None:
        self._dtype, self._file = np.dtype(dtype), file
        self.length = size // self._dtype.itemsize  # of the bytes that are there already

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        try:
            self._file.write(np.ascontiguousarray(values, dtype=self._dtype).data)
        except OSError as error:
            raise disk_full(error) from error
        self.length += values.size

    def to_disk(self) -> int:
        """Force what there is to the disk; how many bytes that is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self.length * self._dtype.itemsize

    def finish(self, shape: Sequence[int] | None = None) -> NDArray[Any]:
        """The array, mapped from disk; writing to it changes memory only."""
        shape = (self.length,) if shape is None else tuple(shape)
        if not self.length:
            return np.empty(shape, dtype=self._dtype)
        try:
            self._file.flush()
        except OSError as error:
            raise disk_full(error) from error
        mapped = np.memmap(self._file, dtype=self._dtype, mode="c", shape=shape)
        return np.asarray(mapped).view(np.ndarray)


class DiskArrays:
    """The arrays of one file to be read, closed together whatever happens; finished ones stay.

    A reader says with `keep` how far it is; here that is forgotten, and nothing was `found` before.
    """

    found: Mapping[str, Any] = MappingProxyType({})  # what a reader knew when it was interrupted
    position = BEGINNING  # in the file, where reading goes on
    ended = False  # the file was read to its end

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self._files = folder, ExitStack()

    def keep(self, position: Position, reader: Callable[[], Mapping[str, Any]]) -> None:
        """Note how far the file is read, and what the reader knows by then."""

    def end(self) -> None:
        """Note that the file is read to its end."""

    def new(self, dtype: DTypeLike, name: str) -> DiskArray:
        """An array of that name, empty."""
        try:
            made = tempfile.TemporaryFile(dir=self._folder, prefix="okbench-")  # noqa: SIM115
        except OSError as error:
            raise disk_full(error) from error
        return DiskArray(dtype, self._files.enter_context(made))

    def __enter__(self) -> DiskArrays:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The error that ended the block already says what could not be written.
        try:
            self._files.close()
        except OSError as again:
            if error is None:
                raise disk_full(again) from again


def disk_full(error: OSError) -> StoreError:
    """The error for rows that find no room on their way."""
    return StoreError(
        f"no room to unpack rows ({error.strerror or error}); "
        "make room, or set OKBENCH_DATA or TMPDIR to another disk"
    )
