"""Labelled rows of several files as one set, which is read a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError

Matrix: TypeAlias = NDArray[np.float64] | sp.csr_array
RowNumbers: TypeAlias = NDArray[np.int64] | range  # a range where all rows are meant

_BLOCK_VALUES = 1 << 20
_BLOCK_ROWS = 1 << 16


def csr_of(
    values: NDArray[np.float64], columns: NDArray[np.int32], starts: NDArray[Any], width: int
) -> sp.csr_array:
    """Rows from sorted columns, unchecked and without a copy."""
    made = sp.csr_array((len(starts) - 1, width), dtype=np.float64)
    made.data, made.indices, made.indptr = values, columns, starts
    made.has_canonical_format = True
    return made


def starts_of(counts: NDArray[np.int64]) -> NDArray[Any]:
    """Where rows of so many entries begin; of 32 bits where those are enough."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts


@dataclass(frozen=True)
class FileRows:
    """The rows of one file."""

    X: Matrix
    y: NDArray[Any]
    source: str = ""


@dataclass(frozen=True)
class MultiFileRows:
    """The rows of several files one after the other; nothing is copied."""

    parts: Sequence[FileRows]

    def __post_init__(self) -> None:
        widths = {part.X.shape[1] for part in self.parts}
        if len(widths) > 1:
            widths_of = ", ".join(f"{part.source} {part.X.shape[1]}" for part in self.parts)
            raise DataError(f"files of different widths cannot be joined ({widths_of} columns)")

    @property
    def n_rows(self) -> int:
        return int(self._starts[-1])

    @property
    def width(self) -> int:
        return int(self.parts[0].X.shape[1])

    @property
    def is_dense(self) -> bool:
        return all(isinstance(part.X, np.ndarray) for part in self.parts)

    @cached_property
    def y(self) -> NDArray[Any]:
        whole = [part.y for part in self.parts]
        return whole[0] if len(whole) == 1 else np.concatenate(whole)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *(len(part.y) for part in self.parts)])

    def blocks(self, rows: RowNumbers, filled: bool = False) -> Iterator[Matrix]:
        """The rows of those numbers, in that order, a block of bounded size at a time; also when
        sparse ones are to be `filled`.
        """
        for start in range(0, len(rows), _BLOCK_ROWS):
            part = rows[start : start + _BLOCK_ROWS]
            some = np.arange(part[0], part[-1] + 1) if isinstance(part, range) else part
            stored = np.full(len(some), self.width) if filled else self._stored(some)
            blocks = np.cumsum(stored) // _BLOCK_VALUES
            for block in np.split(some, np.flatnonzero(np.diff(blocks)) + 1):
                yield self._take(block)

    def _owners(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part that each row stands in."""
        return np.searchsorted(self._starts, rows, side="right") - 1

    def _stored(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many values each row stores, however wide it is."""
        stored, owner = np.full(len(rows), self.width), self._owners(rows)
        for number, (part, start) in enumerate(zip(self.parts, self._starts, strict=False)):
            if not isinstance(part.X, np.ndarray):
                own = owner == number
                at = rows[own] - start
                stored[own] = part.X.indptr[at + 1] - part.X.indptr[at]
        return stored

    def _take(self, rows: NDArray[np.int64]) -> Matrix:
        owner = self._owners(rows)
        first = int(owner[0])
        if np.all(owner == first):
            return _rows_of(self.parts[first].X, rows - self._starts[first])
        places = [np.flatnonzero(owner == number) for number in range(len(self.parts))]
        pieces = [
            _rows_of(part.X, rows[place] - start)
            for part, place, start in zip(self.parts, places, self._starts, strict=False)
        ]
        back = np.argsort(np.concatenate(places), kind="stable")
        if all(isinstance(piece, np.ndarray) for piece in pieces):
            return np.concatenate(pieces)[back]
        return sp.csr_array(sp.vstack([sp.csr_array(piece) for piece in pieces], "csr"))[back]


def _rows_of(X: Matrix, rows: NDArray[np.int64]) -> Matrix:
    """A slice when the rows follow each other, else a gathered copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and np.all(np.diff(rows) == 1):
        return X[int(rows[0]) : int(rows[-1]) + 1]
    return X[rows]


def values_at(values: NDArray[Any], rows: RowNumbers) -> NDArray[Any]:
    """The values of rows; without a copy where they follow each other."""
    return values[rows.start : rows.stop] if isinstance(rows, range) else values[rows]


def in_order(rows: RowNumbers) -> RowNumbers:
    """The rows as they come in the files."""
    return rows if isinstance(rows, range) else np.sort(rows)


def distinct(source: MultiFileRows) -> RowNumbers:
    """The rows that repeat no earlier one, label included.

    Rows are compared by two independent 64-bit hashes of their values.
    """
    labels = np.unique(source.y, return_inverse=True)[1].astype(np.float64)
    everything = range(source.n_rows)
    hashes, done = np.empty((source.n_rows, 2), dtype=np.uint64), 0
    for block in source.blocks(everything):
        rows = slice(done, done + block.shape[0])
        for seed in (0, 1):
            hashes[rows, seed] = _hash_rows(block, labels[rows], np.uint64(seed))
        done = rows.stop
    _, first = np.unique(hashes, axis=0, return_index=True)
    return np.sort(first).astype(np.int64)


def _hash_rows(block: Matrix, labels: NDArray[np.float64], seed: np.uint64) -> NDArray[np.uint64]:
    sparse = sp.csr_array(block)
    columns = sparse.indices.astype(np.uint64) * np.uint64(2) + seed
    mixed = mixed_bits(
        mixed_bits(columns + np.uint64(1)) ^ mixed_bits((sparse.data + 0.0).view(np.uint64))
    )
    sums = np.concatenate(([np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)))
    rows = sums[sparse.indptr[1:]] - sums[sparse.indptr[:-1]]
    return mixed_bits(rows + mixed_bits(labels.view(np.uint64) + seed))


def mixed_bits(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea, Flood 2014: the mixing step of SplitMix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
