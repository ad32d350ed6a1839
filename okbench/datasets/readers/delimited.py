"""Delimited text: CSV, tab-separated, or columns set apart by blanks."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.readers import delimited_walk as walk
from okbench.datasets.readers.chunks import Chunk, chunks
from okbench.datasets.readers.disk_array import DiskArray, DiskArrays
from okbench.datasets.readers.missing import is_missing, no_value
from okbench.datasets.readers.numbers import NumberScratch
from okbench.datasets.readers.table import Column, ColumnTable, place_of
from okbench.datasets.readers.words import Words

_MOST_COLUMNS = 1_000_000
_SNIFFED_LINES = 500
_MOST_SHOWN = 12  # of the values that a column declares
_ARFF_ESCAPE = re.compile(r"\\(['\"\\%])")


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are to be read. `delimiter` is one character, or "whitespace".

    When `header` is None, the first line is one if it has no number and the lines below have some.
    The columns in `words` hold text, and so do others whose first lines hold some. Only the columns
    in `keep` are read, all when it is empty; those in `named` must be there. Columns to `drop` stay
    in their place, and what they hold is not looked at. `missing` fields become NaN, in columns of
    words a word of their own, or are refused; in the `target` they always are.

    An ARFF file has `names`, its columns of words are all in `words`, and `declared` holds the
    values that some of them may take.
    """

    delimiter: str = ","
    header: bool | None = False
    words: tuple[Column, ...] = ()
    named: tuple[Column, ...] = ()
    keep: tuple[Column, ...] = ()
    drop: tuple[Column, ...] = ()
    target: Column | None = None
    missing: bool = False
    comment: str = ""
    names: tuple[str, ...] = ()  # of the columns of ARFF
    declared: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    skip: int = 0  # lines before the table

    @property
    def is_arff(self) -> bool:
        """Whether the columns are declared, and fields may be quoted as in ARFF."""
        return bool(self.names)


def read_delimited(path: Path, layout: Layout, arrays: DiskArrays | None = None) -> ColumnTable:
    """Read a table, plain or compressed; it stays on disk (as `arrays`) and is mapped."""
    pieces = chunks(path)
    first = _first_with_rows(path, pieces, layout.skip)
    lines = _first_lines(first, layout)
    header = _is_header(lines, layout) if layout.header is None else layout.header
    names = layout.names
    if header:
        names = tuple(name.strip() for name in lines[0])
        first = _without_lines(first, _line_of_first_row(first, layout))
    width = len(names) or len(lines[0])
    target = None if layout.target is None else place_of(path, layout.target, names, width)
    kinds, kept = _kinds(path, lines[1:] if header else lines, width, names, layout, target)
    with arrays or DiskArrays() as held:
        values = held.new(np.float64, "values")
        walker = _Walker(kinds, kept, names, target, layout, values, held.found)
        if held.found:
            pieces = iter(()) if held.ended else chunks(path, start=held.position)
        else:
            pieces = chain([first], pieces)
        for chunk in pieces:
            walker.walk(chunk)
            held.keep(chunk.after, walker.state)
        held.end()
        if not walker.rows:
            raise DataError(f"{path}: holds no rows")
        found = values.finish((walker.rows, len(kept)))
    return ColumnTable(
        path=path,
        names=tuple(names[column] for column in kept) if names else (),
        values=found,
        words={column: tuple(words) for column, words in walker.words.items()},
        header=header,
        nominal=frozenset(layout.declared),
    )


def sniff_delimiter(path: Path) -> str:
    """The delimiter in the first line of a file: comma, semicolon or tab, else whitespace."""
    chunk = next(chunks(path), Chunk(path, b"", 1))
    line = next((line for line in chunk.raw.splitlines() if line.strip()), b"").decode(
        "utf-8", "replace"
    )
    return next((mark for mark in ",;\t" if mark in line), "whitespace")


class _Walker:
    """Reads chunk after chunk, and numbers the words in the order of their first use."""

    def __init__(
        self,
        kinds: NDArray[np.int8],
        kept: Sequence[int],
        names: Sequence[str],
        target: int | None,
        layout: Layout,
        values: DiskArray,
        found: Mapping[str, Any],
    ) -> None:
        self._kinds, self._layout, self._values = kinds, layout, values
        self._width = len(kept)
        self._target = kept.index(target) if target in kept else None
        self._declared = {place: frozenset(known) for place, known in layout.declared.items()}
        known = found.get("words", {})
        self.words = {
            place: Words.of(known.get(str(place), ()))
            for place, column in enumerate(kept)
            if kinds[column] == walk.WORD
        }
        self._columns = [(names[column] if names else "") or str(column) for column in kept]
        self.rows: int = found.get("rows", 0)

    def state(self) -> dict[str, Any]:
        """What must be known to go on behind the last chunk."""
        words = {str(place): list(found) for place, found in self.words.items()}
        return {"rows": self.rows, "words": words}

    def walk(self, chunk: Chunk) -> None:
        text = chunk.text
        n_fields = len(text) + self._width  # every byte may be an empty field
        values, left = np.empty(n_fields), np.empty((n_fields, 3), dtype=np.int64)
        delimiter, comment = (
            ord(mark) if len(mark) == 1 else -1
            for mark in (self._layout.delimiter, self._layout.comment)
        )
        rows, n_left, problem, place, n_fields = walk.walk_delimited(
            text, delimiter, comment, self._layout.is_arff, self._kinds, values, left,
            NumberScratch.new(),
        )  # fmt: skip
        if problem:
            raise self._error(chunk, problem, place, n_fields)
        for place, start, end in left[:n_left].tolist():
            of_field = self._word if place % self._width in self.words else self._number
            values[place] = of_field(chunk, place % self._width, start, end)
        self._values.append(values[: rows * self._width])
        self.rows += rows
        for column, words in self.words.items():
            words.refuse_too_many(f"{chunk.path}: column {self._columns[column]}")

    def _word(self, chunk: Chunk, column: int, start: int, end: int) -> int:
        # words in another encoding stay apart, whatever letters they hold
        raw = chunk.raw[start:end].decode("utf-8", "backslashreplace")
        word, words = unquoted(raw, self._layout.is_arff), self.words[column]
        if word in words or word in self._declared.get(column, ()):
            return words.number(word)
        if is_missing(word):
            self._refuse_missing(chunk, column, start, word)
            return words.number_of_missing(word)
        if column in self._declared:
            declared = self._layout.declared[column]
            more = ", …" if len(declared) > _MOST_SHOWN else ""
            raise chunk.error(
                start,
                f"{word[:40]!a} is not among the values that column {self._columns[column]} "
                f"declares: {', '.join(declared[:_MOST_SHOWN])}{more}",
            )
        return words.number(word)

    def _number(self, chunk: Chunk, column: int, start: int, end: int) -> float:
        raw = chunk.raw[start:end].decode("utf-8", "replace")
        word = unquoted(raw, self._layout.is_arff).strip()
        if is_missing(word):
            self._refuse_missing(chunk, column, start, word)
            return float("nan")
        try:
            if "_" not in word:
                return chunk.finite_number(start, word)
        except ValueError:
            pass
        name = self._columns[column]
        raise chunk.error(
            start,
            f"{word[:40]!a} is no number, and column {name} is declared as one; correct it in the "
            "file, or leave the column out (--drop)"
            if self._layout.is_arff
            else f"{word[:40]!a} is no number; column {name} begins with numbers, so "
            "name it as categorical, or drop it",
        )

    def _refuse_missing(self, chunk: Chunk, column: int, start: int, word: str) -> None:
        if column == self._target or not self._layout.missing:
            is_target = column == self._target
            raise chunk.error(start, no_value(self._columns[column], word, is_target=is_target))

    def _error(self, chunk: Chunk, problem: int, place: int, n_fields: int) -> DataError:
        expected = len(self._kinds)
        if problem == walk.OPEN_QUOTE:
            return chunk.error(place, "a quote is opened and not closed on its line")
        count = f"more than {expected}" if problem == walk.TOO_MANY else str(n_fields)
        return chunk.error(place, f"{count} fields in a table of {expected} columns")


def unquoted(word: str, arff: bool = False) -> str:
    """A field without its quotes."""
    quote = word[:1]
    if len(word) < 2 or word[-1] != quote or quote not in ("\"'" if arff else '"'):
        return word
    inner = word[1:-1].replace(2 * quote, quote)
    return _ARFF_ESCAPE.sub(r"\1", inner) if arff else inner


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == "whitespace":
        return line.split()
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])


def _first_lines(chunk: Chunk, layout: Layout) -> list[list[str]]:
    text = chunk.raw[: 1 << 20].decode("utf-8", "backslashreplace")
    wanted = [
        line
        for line in text.split("\n")[: _SNIFFED_LINES + 2]
        if line.strip() and not (layout.comment and line.lstrip().startswith(layout.comment))
    ]
    try:
        lines = [_fields(line.strip("\r\n"), layout.delimiter) for line in wanted]
    except csv.Error as error:
        broken = any("\r" in line.strip("\r\n") for line in wanted)
        what = "a line end within a line; end lines with LF or CR LF" if broken else error
        raise DataError(f"{chunk.path}:{chunk.first_line}: {what}") from error
    if not lines or not lines[0]:
        raise DataError(f"{chunk.path}: holds no rows")
    if len(lines[0]) > _MOST_COLUMNS:
        raise DataError(
            f"{chunk.path}:1: {len(lines[0]):,} columns; {_MOST_COLUMNS:,} are read at most"
        )
    return lines


def _is_header(lines: list[list[str]], layout: Layout) -> bool:
    below = lines[1:] or [[]]
    return not any(map(is_number, lines[0])) and any(map(is_number, chain(*below)))


def is_number(word: str) -> bool:
    """Whether a field holds a number, as okbench reads it."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word and not is_missing(word)


def _kinds(
    path: Path,
    rows: list[list[str]],
    width: int,
    names: tuple[str, ...],
    layout: Layout,
    target: int | None,
) -> tuple[NDArray[np.int8], tuple[int, ...]]:
    """What each column holds, and which are read."""
    kinds = np.full(width, walk.NUMBER, dtype=np.int8)
    for row in () if layout.is_arff else rows:
        for column, word in enumerate(row[:width]):
            if not is_number(word) and not is_missing(word):
                kinds[column] = walk.WORD
    for wanted in layout.words:
        kinds[place_of(path, wanted, names, width)] = walk.WORD
    for wanted in layout.named:
        place_of(path, wanted, names, width)
    for unwanted in layout.drop:
        if (place := place_of(path, unwanted, names, width)) != target:
            kinds[place] = walk.DROPPED
    kept = tuple(range(width))
    if layout.keep:
        kept = tuple(sorted({place_of(path, column, names, width) for column in layout.keep}))
        skipped = np.ones(width, dtype=np.bool_)
        skipped[list(kept)] = False
        kinds[skipped] = walk.SKIPPED
    return kinds, kept


def _first_with_rows(path: Path, pieces: Iterator[Chunk], skip: int) -> Chunk:
    for chunk in pieces:
        if chunk.line_at(len(chunk.raw)) - 1 > skip:
            rest = _without_lines(chunk, max(0, skip + 1 - chunk.first_line))
            if rest.raw.strip():
                return rest
    raise DataError(f"{path}: holds no rows")


def _line_of_first_row(chunk: Chunk, layout: Layout) -> int:
    """How many lines there are up to the header, with it."""
    count = 0
    for line in chunk.raw.split(b"\n"):
        count += 1
        mark = layout.comment.encode()
        if line.strip() and not (mark and line.lstrip().startswith(mark)):
            return count
    return count


def _without_lines(chunk: Chunk, count: int) -> Chunk:
    at = 0
    for _ in range(count):
        at = chunk.raw.find(b"\n", at) + 1
    return replace(chunk, raw=chunk.raw[at:], first_line=chunk.first_line + count)
