"""Arrays of unknown length, kept on disk while they grow: memory stays at one chunk."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from okbench.base.errors import StoreError


class DiskArray:
    """An array that grows in an unnamed file, which vanishes with the last view of it."""

    def __init__(self, dtype: DTypeLike, file: IO[bytes]) -> None:
        self._dtype, self._file, self.length = np.dtype(dtype), file, 0

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        try:
            self._file.write(np.ascontiguousarray(values, dtype=self._dtype).data)
        except OSError as error:
            raise _disk_full(error) from error
        self.length += values.size

    def finish(self, shape: Sequence[int] | None = None) -> NDArray[Any]:
        """The array, mapped from disk; writing to it changes memory only."""
        shape = (self.length,) if shape is None else tuple(shape)
        if not self.length:
            return np.empty(shape, dtype=self._dtype)
        try:
            self._file.flush()
        except OSError as error:
            raise _disk_full(error) from error
        mapped = np.memmap(self._file, dtype=self._dtype, mode="c", shape=shape)
        return np.asarray(mapped).view(np.ndarray)


class DiskArrays:
    """The arrays of one file to be read, closed together whatever happens; finished ones stay."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self._files = folder, ExitStack()

    def new(self, dtype: DTypeLike) -> DiskArray:
        """An empty array."""
        try:
            made = tempfile.TemporaryFile(dir=self._folder, prefix="okbench-")  # noqa: SIM115
        except OSError as error:
            raise _disk_full(error) from error
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
                raise _disk_full(again) from again


def _disk_full(error: OSError) -> StoreError:
    return StoreError(
        f"no room to unpack rows ({error.strerror or error}); "
        "make room, or set OKBENCH_DATA or TMPDIR to another disk"
    )
