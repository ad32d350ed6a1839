"""Rows that are mapped from files: what is read ahead of its use, and given back after it.

A mapped file needs no memory of its own, but every page that was looked at counts as held by the
process until the system wants it back. Rows that are met in long stretches give it back themselves.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.datasets.readers.multi_file_rows import Matrix, csr_of, starts_of

Stretch = tuple[int, int]  # first row, row after the last


@dataclass(frozen=True)
class MappedArray:
    """An array that is mapped from a file, whose first number is `offset` bytes into the memory."""

    array: NDArray[Any]
    memory: mmap.mmap
    offset: int

    def read_ahead(self, first: int, last: int) -> None:
        """Ask the system to have these entries of the first axis ready."""
        entry = self.array.strides[0]
        begin = (self.offset + first * entry) // mmap.PAGESIZE * mmap.PAGESIZE
        end = min(self.offset + last * entry, len(self.memory))
        if hasattr(mmap, "MADV_WILLNEED") and end > begin:
            self.memory.madvise(mmap.MADV_WILLNEED, begin, end - begin)

    def give_back(self) -> None:
        """Let the system have the pages; they are read again when they are looked at again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.memory.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True)
class MappedRows:
    """The arrays of prepared rows that are mapped from files: dense rows, or `starts` and the
    values and columns of sparse ones; and the labels."""

    by_row: tuple[MappedArray, ...]
    by_entry: tuple[MappedArray, ...] = ()
    starts: NDArray[Any] | None = None

    @classmethod
    def of(cls, dataset: Dataset) -> MappedRows | None:
        """None for rows that are in memory."""
        X, y = dataset.X, dataset.y
        if isinstance(X, np.ndarray):
            rows, labels = mapped_array(X), mapped_array(y)
            return cls(_there(rows, labels)) if rows else None
        values, columns = mapped_array(X.data), mapped_array(X.indices)
        if values is None:
            return None
        by_row = _there(mapped_array(X.indptr), mapped_array(y))
        return cls(by_row, _there(values, columns), X.indptr)

    def read_ahead(self, stretches: Iterable[Stretch]) -> None:
        """Ask the system to have these rows ready."""
        for first, last in stretches:
            for each in self.by_row:
                each.read_ahead(first, last)
            if self.starts is not None:
                for each in self.by_entry:
                    each.read_ahead(int(self.starts[first]), int(self.starts[last]))

    def give_back(self) -> None:
        """Let the system have all that was read."""
        for each in (*self.by_row, *self.by_entry):
            each.give_back()


def mapped_array(array: NDArray[Any]) -> MappedArray | None:
    """The mapping behind an array of a named file; None for an array in memory."""
    owner: Any = array
    while owner is not None and not isinstance(getattr(owner, "base", None), mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is None or getattr(owner, "filename", None) is None:
        return None
    within = _address(array) - _address(owner)
    return MappedArray(array, owner.base, owner.offset % mmap.ALLOCATIONGRANULARITY + within)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def rows_at(X: Matrix, rows: NDArray[np.int64]) -> Matrix:
    """Copies of the rows of those numbers, in that order."""
    if isinstance(X, np.ndarray) or X.indices.dtype == X.indptr.dtype:
        return X[rows]
    # SciPy would first copy all columns to the wider numbers that so many starts take
    begin = X.indptr[rows]
    starts = starts_of(X.indptr[rows + 1] - begin)
    places = np.repeat(begin - starts[:-1], np.diff(starts)) + np.arange(starts[-1])
    return csr_of(X.data[places], X.indices[places], starts, X.shape[1])


def _there(*arrays: MappedArray | None) -> tuple[MappedArray, ...]:
    return tuple(array for array in arrays if array is not None)
