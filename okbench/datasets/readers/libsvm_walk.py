"""The compiled loop over the bytes of LIBSVM text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.datasets.readers.numbers import (
    HARD,
    NO_NUMBER,
    NumberScratch,
    scan_digits,
    scan_number,
)

LARGEST_INDEX = 2**31 - 2

NO_LABEL, NO_INDEX, NO_VALUE, AFTER_NUMBER = 1, 2, 3, 4
TWICE, BELOW_BASE, ABOVE_WIDTH, TOO_LARGE = 5, 6, 7, 8

_LABEL, _INDEX, _VALUE = 0, 1, 2
_SKIPPED = 3  # beside EASY, HARD and NO_NUMBER
_TAB, _LINE, _RETURN, _BLANK, _HASH = 9, 10, 13, 32, 35
_COLON = 58


class RowBuffers(NamedTuple):
    """Where a walk writes the rows of a chunk.

    `hard` lists (place, start, end) of numbers left to Python; a label's place as its complement.
    """

    labels: NDArray[np.float64]
    row_places: NDArray[np.int64]  # of their first byte in the text
    row_starts: NDArray[np.int64]  # of their first entry
    in_order: NDArray[np.bool_]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    hard: NDArray[np.int64]
    scratch: NumberScratch

    @classmethod
    def of(cls, size: int) -> RowBuffers:
        """Room for a text of `size` bytes; what is not written costs no memory."""
        rows, entries = size // 2 + 1, size // 4 + 1  # the shortest are `1\\n` and ` 1:1`
        return cls(
            labels=np.empty(rows, np.float64),
            row_places=np.empty(rows, np.int64),
            row_starts=np.empty(rows + 1, np.int64),
            in_order=np.empty(rows, np.bool_),
            indices=np.empty(entries, np.int32),
            values=np.empty(entries, np.float64),
            hard=np.empty((size // 6 + 2, 3), np.int64),  # the shortest is `9e308`
            scratch=NumberScratch.new(),
        )


class Found(NamedTuple):
    """What was read; `problem` is 0 when all went well."""

    rows: int
    entries: int
    n_hard: int
    lowest: int
    highest: int
    problem: int
    place: int


@compiled()
def walk_libsvm(
    text: NDArray[np.uint8], base: int, width: int, out: RowBuffers
) -> tuple[int, int, int, int, int, int, int]:
    """Fill `out` from whole lines, each with its line end; the numbers of `Found`."""
    at, end, rows, entries, n_hard = 0, len(text), 0, 0, 0
    expected, previous, problem, start = _LABEL, np.int64(-1), 0, 0
    column, lowest, highest = np.int64(-1), np.int64(LARGEST_INDEX), np.int64(-1)
    out.row_starts[0] = 0
    while at < end:
        if text[at] == _BLANK or text[at] == _TAB or text[at] == _RETURN:
            at += 1
            continue
        if text[at] == _LINE:
            at += 1
            if expected != _LABEL:
                rows += 1
                out.row_starts[rows] = entries
                expected = _LABEL
            continue
        start = at
        at, digits, n_digits, fraction, negative = scan_digits(text, start)
        if text[at] == _COLON and expected == _INDEX and 0 < n_digits == at - start:
            column = digits - base
            at += 1
            problem = _index_problem(digits, n_digits, base, width, previous, text[at])
            if problem:
                break
            out.in_order[rows] = out.in_order[rows] and column > previous
            lowest, highest = min(lowest, column), max(highest, column)
            previous, expected = column, _VALUE
            continue
        if 0 < n_digits <= 18 and digits < 1 << 53 and _ends_word(text[at]):
            number = np.float64(digits)
            number = number / out.scratch.tens[fraction] if fraction else number
            number = -number if negative else number
        else:
            opening = expected == _INDEX and entries == out.row_starts[rows]
            at, problem, kind = _slow_word(text, start, expected, opening, out.scratch)
            if problem:
                break
            if kind == _SKIPPED:
                continue
            number = out.scratch.value[0]
            if kind == HARD:
                place = entries if expected == _VALUE else ~rows
                out.hard[n_hard, 0], out.hard[n_hard, 1], out.hard[n_hard, 2] = place, start, at
                n_hard += 1
        if expected == _VALUE:
            out.indices[entries], out.values[entries] = column, number
            entries += 1
            expected = _INDEX
        elif expected == _LABEL:
            out.labels[rows], out.row_places[rows], out.in_order[rows] = number, start, True
            previous, expected = np.int64(-1), _INDEX
        else:
            problem = NO_INDEX
            break
    start = (at if problem == AFTER_NUMBER else start) if problem else 0
    return rows, entries, n_hard, int(lowest), int(highest), problem, start


@compiled()
def _ends_word(code: int) -> bool:
    return code <= _BLANK or code == _HASH


@compiled()
def _index_problem(
    index: np.int64, n_digits: int, base: int, width: int, previous: np.int64, after: int
) -> int:
    """What is wrong with `index:`, if anything; `after` is the byte behind the colon."""
    if n_digits > 18 or index > LARGEST_INDEX:
        return TOO_LARGE
    if index < base:
        return BELOW_BASE
    if width >= 0 and index - base >= width:
        return ABOVE_WIDTH
    if index - base == previous:
        return TWICE
    return NO_VALUE if _ends_word(after) else 0


@compiled()
def _slow_word(
    text: NDArray[np.uint8], start: int, expected: int, opening: bool, scratch: NumberScratch
) -> tuple[int, int, int]:
    """Any word that is no everyday number: where it ends, a problem, and what kind it is.

    Comments, and a `qid` when it opens the entries of a row, are skipped; a number is in `scratch`.
    """
    if text[start] == _HASH:
        return _line_end(text, start), 0, _SKIPPED
    if expected == _INDEX:
        at = _query_end(text, start) if opening else start
        return at, 0 if at > start else NO_INDEX, _SKIPPED
    at, kind = scan_number(text, start, scratch)
    if kind == NO_NUMBER:
        return at, NO_LABEL if expected == _LABEL else NO_VALUE, kind
    return at, 0 if _ends_word(text[at]) else AFTER_NUMBER, kind


@compiled()
def _line_end(text: NDArray[np.uint8], at: int) -> int:
    while text[at] != _LINE:
        at += 1
    return at


@compiled()
def _query_end(text: NDArray[np.uint8], at: int) -> int:
    """The end of `qid:123`, or the same place when there is none."""
    place = at
    for code in (113, 105, 100, _COLON):
        if text[place] != code:
            return at
        place += 1
    first = place
    while 48 <= text[place] <= 57:
        place += 1
    return place if place > first and _ends_word(text[place]) else at
