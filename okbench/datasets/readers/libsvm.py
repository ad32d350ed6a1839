"""LIBSVM text: `label index:value index:value …`, one row per line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers import libsvm_walk as walk
from okbench.datasets.readers.chunks import Chunk, chunks
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.missing import is_missing
from okbench.datasets.readers.multi_file_rows import csr_of, starts_of

LARGEST_INDEX = walk.LARGEST_INDEX
_PIECE = 1 << 20  # entries
_INFINITE = ("inf", "infinity")


@dataclass(frozen=True)
class LabelledRows:
    """Rows as a file has them: CSR, and one number per row."""

    X: sp.csr_array
    y: NDArray[np.float64]
    index_base: int


def read_libsvm(
    path: Path,
    *,
    width: int | None = None,
    index_base: int | None = 1,
    arrays: DiskArrays | None = None,
) -> LabelledRows:
    """Read a file, plain or compressed; rows stay on disk (as `arrays`) and are mapped.

    Without a `width`, the highest index is the width. `index_base=None` takes 0 if an index 0 is
    there, else 1. Comments, blank lines and qid are skipped, and explicit zeros dropped.
    """
    base, bound = (0, -1) if index_base is None else (index_base, -1 if width is None else width)
    with arrays or DiskArrays() as held:
        labels, counts = held.new(np.float64, "labels"), held.new(np.int64, "counts")
        indices, values = held.new(np.int32, "columns"), held.new(np.float64, "values")
        lowest, highest = held.found.get("indices", (LARGEST_INDEX, -1))

        def state() -> dict[str, tuple[int, int]]:
            return {"indices": (int(lowest), int(highest))}

        for chunk in () if held.ended else chunks(path, start=held.position):
            block = _Block.of(chunk, base, bound)
            labels.append(block.labels)
            counts.append(block.counts)
            indices.append(block.indices)
            values.append(block.values)
            lowest, highest = min(lowest, block.lowest), max(highest, block.highest)
            held.keep(chunk.after, state)
        held.end()
        if not labels.length:
            raise DataError(f"{path}: holds no rows")
        y, columns, filled = labels.finish(), indices.finish(), values.finish()
        starts = starts_of(counts.finish())
        if index_base is None and lowest > 0:
            base = 1
            columns = _less_one(columns, held)
            highest -= 1
    n_columns = max(highest + 1, 0) if width is None else width
    if highest >= n_columns:
        raise DataError(f"{path}: index {highest + base} is outside the {n_columns} columns")
    return LabelledRows(csr_of(filled, columns, starts, n_columns), y, base)


def _less_one(columns: NDArray[np.int32], arrays: DiskArrays) -> NDArray[Any]:
    counted_from_0 = arrays.new(np.int32, "columns from 0")
    for start in range(0, len(columns), _PIECE):
        counted_from_0.append(columns[start : start + _PIECE] - np.int32(1))
    return counted_from_0.finish()


@dataclass
class _Block:
    """The rows of one chunk."""

    labels: NDArray[np.float64]
    counts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    lowest: int
    highest: int

    @classmethod
    def of(cls, chunk: Chunk, base: int, width: int) -> _Block:
        sheet = walk.RowBuffers.of(len(chunk.raw))
        found = walk.Found(*walk.walk_libsvm(chunk.text, base, width, sheet))
        if found.problem:
            raise chunk.error(found.place, _problem_text(chunk, found, base, width))
        for at, start, end in sheet.hard[: found.n_hard].tolist():
            value = chunk.finite_number(start, chunk.raw[start:end].decode())
            if at < 0:
                sheet.labels[~at] = value
            else:
                sheet.values[at] = value
        starts = sheet.row_starts[: found.rows + 1]
        for row in np.flatnonzero(~sheet.in_order[: found.rows]).tolist():
            _sort_row(chunk, sheet, row)
        block = cls(
            sheet.labels[: found.rows],
            np.diff(starts),
            sheet.indices[: found.entries],
            sheet.values[: found.entries],
            found.lowest,
            found.highest,
        )
        block._drop_zeros(starts)
        return block

    def _drop_zeros(self, starts: NDArray[np.int64]) -> None:
        stays = self.values != 0.0
        if stays.all():
            return
        before = np.concatenate(([0], np.cumsum(stays)))
        self.counts = np.diff(before[starts])
        self.indices, self.values = self.indices[stays], self.values[stays]


def _sort_row(chunk: Chunk, sheet: walk.RowBuffers, row: int) -> None:
    entries = slice(sheet.row_starts[row], sheet.row_starts[row + 1])
    order = np.argsort(sheet.indices[entries], kind="stable")
    indices = sheet.indices[entries][order]
    twice = np.flatnonzero(indices[1:] == indices[:-1])
    if len(twice):
        place = int(sheet.row_places[row])
        line = chunk.raw[place : chunk.raw.index(b"\n", place)]
        places = [found.start() for found in re.finditer(rb"(?<=[ \t])\d+:", line)]
        second = place + places[order[twice[0] + 1]]
        raise chunk.error(second, f"index {chunk.word_at(second, b':')} is given twice")
    sheet.indices[entries], sheet.values[entries] = indices, sheet.values[entries][order]


def _problem_text(chunk: Chunk, found: walk.Found, base: int, width: int) -> str:
    place = found.place
    word, index = chunk.word_at(place), chunk.word_at(place, b": \t\r\n")
    if found.problem in (walk.NO_LABEL, walk.NO_VALUE) and is_missing(word.strip("'")):
        return f"{word} is read as no value; " + (
            "delete the rows without a label from the file"
            if found.problem == walk.NO_LABEL
            else "leave the pair out, which makes it 0"
        )
    what = "not finite" if word.strip("'+-").lower() in _INFINITE else "no number"
    several = "; rows with several labels are not read" if "," in word else ""
    negative = word.startswith("'-")
    return {
        walk.NO_LABEL: f"the label {word} is {what}",
        walk.NO_VALUE: f"the value {word} is {what}",
        walk.AFTER_NUMBER: f"{word} follows a number{several}",
        walk.NO_INDEX: f"{word}: an index cannot be negative"
        if negative
        else f"{word} is no index:value pair",
        walk.TWICE: f"index {index} is given twice",
        walk.BELOW_BASE: f"index {index} in a file whose first index is {base}",
        walk.ABOVE_WIDTH: f"index {index} in rows of {width} columns",
        walk.TOO_LARGE: f"index {index} is above {LARGEST_INDEX:,}, the largest there can be",
    }[found.problem]
