"""The compiled loop over the bytes of delimited text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.datasets.readers.numbers import EASY, NumberScratch, scan_digits, scan_number

NUMBER, WORD, SKIPPED, DROPPED = 0, 1, 2, 3
TOO_FEW, TOO_MANY, OPEN_QUOTE = 1, 2, 3

_TAB, _LINE, _RETURN, _BLANK, _QUOTE, _APOSTROPHE, _BACKSLASH = 9, 10, 13, 32, 34, 39, 92


@compiled()
def walk_delimited(
    text: NDArray[np.uint8],
    delimiter: int,
    comment: int,
    arff: bool,
    kinds: NDArray[np.int8],
    values: NDArray[np.float64],
    left: NDArray[np.int64],
    scratch: NumberScratch,
) -> tuple[int, int, int, int, int]:
    """Fill `values`, row after row, from whole lines, each with its line end.

    `kinds` says of each column whether it holds numbers, words, is skipped, or is dropped: of that
    one 0 is kept, whatever it holds. Returns rows, fields left to Python, a problem, its place and
    the number of fields on that line. `left` lists (place in values, start, end) of words and of
    whatever is no number. Lines that begin with `comment` are skipped. A `delimiter` of -1 is any
    run of blanks, a `comment` of -1 none. In `arff`, ' quotes as " does, and \\ one sign.
    """
    at, end, n_columns = 0, len(text), len(kinds)
    place, rows, n_left = 0, 0, 0
    while at < end:
        line_start = at
        at = _past_blanks(text, at, delimiter)
        if text[at] == _LINE or text[at] == comment:
            at = _next_line(text, at)
            continue
        column = 0
        while True:
            at = _past_blanks(text, at, delimiter)
            if column == n_columns:
                if delimiter < 0 and text[at] == _LINE:
                    break
                return rows, n_left, TOO_MANY, at, column
            start = at
            at, digits, n_digits, fraction, negative = scan_digits(text, start)
            stop = at
            at = _past_blanks(text, at, delimiter)
            short = 0 < n_digits <= 18 and digits < 1 << 53 and kinds[column] == NUMBER
            if short and _ends_field(text, stop, at, delimiter):
                number = np.float64(digits) / scratch.tens[fraction]
                values[place] = -number if negative else number
                place += 1
            else:
                stop, at, kind = _slow_field(text, start, delimiter, arff, kinds[column], scratch)
                if at < 0:
                    return rows, n_left, OPEN_QUOTE, start, column
                if kind == EASY:
                    values[place] = scratch.value[0]
                elif kinds[column] == DROPPED:
                    values[place] = 0.0
                elif kinds[column] != SKIPPED:
                    left[n_left, 0], left[n_left, 1], left[n_left, 2] = place, start, stop
                    n_left += 1
                place += 1 if kinds[column] != SKIPPED else 0
            column += 1
            if text[at] == _LINE:
                break
            if delimiter >= 0:
                at += 1
        if column < n_columns:
            return rows, n_left, TOO_FEW, line_start, column
        at += 1
        rows += 1
    return rows, n_left, 0, 0, 0


@compiled()
def _slow_field(
    text: NDArray[np.uint8],
    start: int,
    delimiter: int,
    arff: bool,
    wanted: int,
    scratch: NumberScratch,
) -> tuple[int, int, int]:
    """Any field: its end, where the walk goes on, and EASY if `scratch` holds its number.

    A quoted field may hold delimiters, not line ends; it goes on at -1 when a quote stays open.
    """
    stop, quote = start, text[start]
    if quote == _QUOTE or (arff and quote == _APOSTROPHE):
        stop += 1
        while text[stop] != _LINE and not (text[stop] == quote and text[stop + 1] != quote):
            pair = text[stop] == quote or (arff and text[stop] == _BACKSLASH)
            stop += 2 if pair and text[stop + 1] != _LINE else 1
        if text[stop] == _LINE:
            return start, -1, EASY + 1
        stop += 1
    while text[stop] != _LINE and text[stop] != delimiter:
        if delimiter < 0 and _is_blank(text[stop], delimiter):
            break
        stop += 1
    at = _past_blanks(text, stop, delimiter)
    while stop > start and _is_blank(text[stop - 1], delimiter):
        stop -= 1
    if wanted == NUMBER:
        number_end, kind = scan_number(text, start, scratch)
        if number_end == stop and kind == EASY:
            return stop, at, EASY
    return stop, at, EASY + 1


@compiled()
def _is_blank(code: int, delimiter: int) -> bool:
    return (code == _BLANK or code == _RETURN or code == _TAB) and code != delimiter  # noqa: SIM109


@compiled()
def _next_line(text: NDArray[np.uint8], at: int) -> int:
    while text[at] != _LINE:
        at += 1
    return at + 1


@compiled()
def _past_blanks(text: NDArray[np.uint8], at: int, delimiter: int) -> int:
    """The first place from `at` on that is not blank; a line end never is."""
    while _is_blank(text[at], delimiter):
        at += 1
    return at


@compiled()
def _ends_field(text: NDArray[np.uint8], stop: int, at: int, delimiter: int) -> bool:
    """Whether a field that stopped at `stop` is over, with blanks up to `at`."""
    if text[at] == _LINE:
        return True
    return at > stop if delimiter < 0 else text[at] == delimiter
