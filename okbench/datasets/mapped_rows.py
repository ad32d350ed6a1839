"""Rows that are mapped from files, read a window at a time into memory that is used again.

A mapped file needs no memory of its own, but every page that was looked at counts as held by the
process, and costs a fault of its own. Rows that are met window by window are therefore read from
their files in long stretches, those of the next window ahead of their use. Of files that are larger
than the memory, the pages of a window are given back to the system once it was read: the next ones
are then read into the same pages.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import StoreError
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.readers.multi_file_rows import Matrix, csr_of, starts_of

Stretch = tuple[int, int]  # first row, row after the last


class FileArray:
    """An array that is mapped from a file, read from there by stretches of its first axis."""

    def __init__(self, array: NDArray[Any], path: Path, offset: int) -> None:
        self.array, self._path, self._offset = array, path, offset
        self._entry = array.strides[0]
        self._buffer = np.empty((0, *array.shape[1:]), dtype=array.dtype)
        self._files = ExitStack()
        try:
            self._file = self._files.enter_context(path.open("rb", buffering=0))
        except OSError as error:
            raise self._unreadable(error) from error
        weakref.finalize(self, self._files.close)

    def read(self, stretches: Sequence[Stretch]) -> NDArray[Any]:
        """These entries one after the other, until the next call."""
        count = sum(last - first for first, last in stretches)
        if count > len(self._buffer):
            self._buffer = np.empty((count, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
        room: Any = self._buffer.reshape(-1).view(np.uint8).data
        at = 0
        try:
            for first, last in stretches:
                end = at + (last - first) * self._entry
                self._file.seek(self._offset + first * self._entry)
                while at < end:
                    found = self._file.readinto(room[at:end])
                    if not found:
                        raise OSError("it has become shorter")
                    at += found
        except OSError as error:
            raise self._unreadable(error) from error
        return self._buffer[:count]

    def read_ahead(self, stretches: Sequence[Stretch]) -> None:
        """Ask the system to have these entries ready."""
        self._advise(stretches, "POSIX_FADV_WILLNEED")

    def release(self, stretches: Sequence[Stretch]) -> None:
        """Let the system give up the pages of these entries. Pages at their ends stay, because
        the entries beside them may be ahead."""
        self._advise(stretches, "POSIX_FADV_DONTNEED")

    def _advise(self, stretches: Sequence[Stretch], what: str) -> None:
        if not hasattr(os, "posix_fadvise"):
            return
        for first, last in stretches:
            begin, size = self._offset + first * self._entry, (last - first) * self._entry
            os.posix_fadvise(self._file.fileno(), begin, size, getattr(os, what))

    def _unreadable(self, error: OSError) -> StoreError:
        return StoreError(f"{self._path}: cannot be read ({error.strerror or error})")


@dataclass(frozen=True)
class MappedRows:
    """Prepared rows in files: dense rows, or the starts, values and columns of sparse ones; and
    the labels."""

    width: int
    rows: FileArray  # dense rows, or the values of sparse ones
    labels: FileArray | None
    labels_here: NDArray[Any]
    columns: FileArray | None = None
    starts: FileArray | None = None

    @classmethod
    def of(cls, dataset: Dataset) -> MappedRows | None:
        """None for rows that are in memory."""
        X, y = dataset.X, dataset.y
        if isinstance(X, np.ndarray):
            rows = file_array(X)
            return cls(X.shape[1], rows, file_array(y), y) if rows else None
        parts = [file_array(each) for each in (X.data, X.indices, X.indptr)]
        values, columns, starts = parts
        if values is None or columns is None or starts is None:
            return None
        return cls(X.shape[1], values, file_array(y), y, columns, starts)

    def read(self, stretches: Sequence[Stretch]) -> tuple[Matrix, NDArray[Any]]:
        """These rows one after the other, and their labels, until the next call."""
        if self.labels is None:
            y = np.concatenate([self.labels_here[first:last] for first, last in stretches])
        else:
            y = self.labels.read(stretches)
        if self.columns is None:
            return self.rows.read(stretches), y
        entries, counts = self._entries(stretches)
        values, columns = self.rows.read(entries), self.columns.read(entries)
        return csr_of(values, columns, starts_of(counts), self.width), y

    def read_ahead(self, stretches: Sequence[Stretch]) -> None:
        """Ask the system to have these rows ready."""
        for array, entries in self._arrays(stretches):
            array.read_ahead(entries)

    def release(self, stretches: Sequence[Stretch]) -> None:
        """Let the system give up the pages of these rows."""
        for array, entries in self._arrays(stretches):
            array.release(entries)

    def _arrays(self, stretches: Sequence[Stretch]) -> Iterator[tuple[FileArray, list[Stretch]]]:
        """The files of these rows, and where their entries are in each."""
        if self.labels is not None:
            yield self.labels, list(stretches)
        if self.columns is None:
            yield self.rows, list(stretches)
            return
        entries, _ = self._entries(stretches)
        yield self.rows, entries
        yield self.columns, entries

    def _entries(self, stretches: Sequence[Stretch]) -> tuple[list[Stretch], NDArray[np.int64]]:
        """Where the entries of these rows are, and how many each row has."""
        assert self.starts is not None
        starts = self.starts.read([(first, last + 1) for first, last in stretches])
        found, counts, at = [], [], 0
        for first, last in stretches:
            own = starts[at : at + last - first + 1].astype(np.int64)
            found.append((int(own[0]), int(own[-1])))
            counts.append(np.diff(own))
            at += len(own)
        return found, np.concatenate([np.empty(0, dtype=np.int64), *counts])


def file_array(array: NDArray[Any]) -> FileArray | None:
    """The file behind an array that is mapped from one with a name; None for an array in memory."""
    owner = _owner(array)
    if owner is None or not array.flags.c_contiguous:
        return None
    return FileArray(array, Path(owner.filename), owner.offset + _address(array) - _address(owner))


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array is a file that the system reads and gives up as it needs to."""
    return _owner(array) is not None


def _owner(array: NDArray[Any]) -> Any:
    owner: Any = array
    while owner is not None and not isinstance(getattr(owner, "base", None), mmap.mmap):
        owner = getattr(owner, "base", None)
    return owner if getattr(owner, "filename", None) is not None else None


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def rows_at(X: Matrix, rows: NDArray[np.int64]) -> Matrix:
    """Copies of the rows of those numbers, in that order."""
    if isinstance(X, np.ndarray) or X.indices.dtype == X.indptr.dtype:
        return X[rows]
    # SciPy would first copy all columns to the wider numbers that so many starts take
    begin = X.indptr[rows].astype(np.int64)
    starts = starts_of(X.indptr[rows + 1] - begin)
    places = np.repeat(begin - starts[:-1], np.diff(starts)) + np.arange(starts[-1])
    return csr_of(X.data[places], X.indices[places], starts, X.shape[1])
