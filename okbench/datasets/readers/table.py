"""A table of columns, as a file has it, before one of them becomes the target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError, did_you_mean
from okbench.datasets.readers.disk_array import DiskArrays

_BLOCK_ROWS = 1 << 14

Column = int | str


@dataclass(frozen=True)
class ColumnTable:
    """Columns of numbers; a column of words holds their places in `words[column]`. Of the columns
    in `nominal` the file declares the words."""

    path: Path
    names: tuple[str, ...]
    values: NDArray[np.float64]
    words: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    header: bool = False
    nominal: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def place(self, column: Column) -> int:
        """Where a column is, given its name, its place from 0, or its place from the end."""
        return place_of(self.path, column, self.names, self.width)

    def reference(self, place: int) -> Column:
        """How an entry should name a column: by its name where that is unique, else its place."""
        name = self.names[place] if self.header else ""
        return name if name and self.names.count(name) == 1 else place

    def named(self, place: int) -> str:
        """How a message calls a column."""
        return f"'{self.names[place]}'" if self.names else f"column {place}"

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """The rows in blocks, each with the number of its first row."""
        for start in range(0, len(self.values), _BLOCK_ROWS):
            yield start, self.values[start : start + _BLOCK_ROWS]

    def with_words(self, columns: Iterable[Column], folder: Path | None = None) -> ColumnTable:
        """The same table, with the numbers in those columns taken for words. It stays on disk in
        `folder`."""
        fresh = sorted({self.place(column) for column in columns} - self.words.keys())
        if not fresh:
            return self
        found = {place: np.empty(0) for place in fresh}
        for _, block in self.blocks():
            for place in fresh:
                found[place] = np.union1d(found[place], block[:, place])
        with DiskArrays(folder) as arrays:
            values = arrays.new(np.float64, "words")
            for _, block in self.blocks():
                codes = np.array(block)
                for place in fresh:
                    codes[:, place] = np.searchsorted(found[place], block[:, place])
                values.append(codes)
            words = {
                place: tuple(np.format_float_positional(n, trim="-") for n in found[place])
                for place in fresh
            }
            changed = values.finish(self.values.shape)
        return replace(self, values=changed, words={**self.words, **words})


def is_place(column: Column) -> bool:
    """Whether a column is given by a number."""
    return isinstance(column, int) or re.fullmatch("-?[0-9]+", column) is not None


def place_of(path: Path, column: Column, names: Sequence[str], width: int) -> int:
    """Where a column is among `width`; a DataError with the columns there are when it is not."""
    if column in names:
        if names.count(column) > 1:
            places = ", ".join(str(place) for place in range(width) if names[place] == column)
            raise DataError(
                f"{path}: several columns are called '{column}'; give a place instead: {places}"
            )
        return names.index(str(column))
    if is_place(column):
        column = int(column)
    if isinstance(column, int) and -width <= column < width:
        return column % width
    if names:
        known = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        raise DataError(
            f"{path}: no column '{column}'.{did_you_mean(str(column), names)}  (columns: {known})"
        )
    raise DataError(f"{path}: no column {column}; the {width} columns are counted from 0")
