"""A table of columns, as a file has it, before any of them is called the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okbench.errors import DataError, did_you_mean

Column = int | str


@dataclass(frozen=True)
class Table:
    """Columns of numbers; a column of words holds their places in `words[column]`."""

    path: Path
    names: tuple[str, ...]
    values: NDArray[np.float64]
    words: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    header: bool = False

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def place(self, column: Column) -> int:
        """Where a column is, told by its name, its place from 0, or its place from the end."""
        return place_of(self.path, column, self.names, self.width)


def place_of(path: Path, column: Column, names: Sequence[str], width: int) -> int:
    """Where a column is among `width`; a DataError with the columns there are when it is not."""
    if column in names:
        return names.index(str(column))
    if isinstance(column, str) and column.lstrip("-").isdecimal():
        column = int(column)
    if isinstance(column, int) and -width <= column < width:
        return column % width
    if names:
        known = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        raise DataError(
            f"{path}: no column '{column}'.{did_you_mean(str(column), names)}  (columns: {known})"
        )
    raise DataError(f"{path}: no column {column}; the {width} columns are counted from 0")
