"""Columns that are of no use or too many: they are refused, with what to do, before anything is
made of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from okbench.base.errors import DataError
from okbench.base.machine_memory import SHARE, machine_memory
from okbench.base.quantities import spoken_bytes
from okbench.datasets.readers.delimited import is_number
from okbench.datasets.readers.missing import is_missing
from okbench.datasets.readers.multi_file_rows import Matrix
from okbench.datasets.readers.table import ColumnTable
from okbench.datasets.readers.words import MOST_WORDS

MOST_COLUMNS = 10 * MOST_WORDS  # of all columns of words together

_FEW = 30  # words of a column, which are columns whatever they mean
_COPIES = 2  # of the rows, while they are scaled
_GROUPS = r"[,.' \u00a0\u202f\u2019]"  # that people write between thousands
_SPELLED = re.compile(rf"[$€£]? ?[-+]?(\d{{1,3}}({_GROUPS}\d{{3}})+|\d+)([.,]\d+)? ?[%$€£]?")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?")


@dataclass(frozen=True)
class _Fault:
    """What is wrong with a column of words, and whether it may be used as categories."""

    place: int
    what: str
    is_number: bool = False
    is_category: bool = True


def refuse_unfit_words(
    table: ColumnTable,
    features: Sequence[int],
    target: int,
    categories: Collection[int],
    hashed: bool,
) -> None:
    """Raise DataError for columns of words that hold numbers, dates or identifiers, or that become
    too many columns. Nothing is said of those in `categories`, except that they are too many."""
    faults = [
        fault
        for place in (*features, target)
        if place in table.words
        for fault in _faults(table, place, place in categories, hashed, place == target)
    ]
    lines = [f"{table.named(fault.place)} holds {fault.what}" for fault in faults]
    total = sum(len(table.words[place]) for place in features if place in table.words)
    if not lines and total > MOST_COLUMNS and not hashed:
        raise DataError(
            f"{table.path}: the columns of words become {total:,} columns, and {MOST_COLUMNS:,} "
            "are the most; leave some out (--drop), or hash them (--hash 2^18, in okbench run and "
            "init)"
        )
    if lines:
        head = f"{table.path}: columns that cannot be used as they are:"
        cures = ["For each of them, do one of these:", *_cures(table, faults, target)]
        raise DataError("\n  ".join([head, *lines]) + "\n" + "\n  ".join(cures))


def _faults(
    table: ColumnTable, place: int, is_category: bool, hashed: bool, is_target: bool
) -> Iterator[_Fault]:
    words = [word for word in table.words[place] if not is_missing(word)]
    count, rows = len(words), len(table.values)
    usable = count <= MOST_WORDS or is_target
    numbers = "" if is_category else _numbers(words)
    if numbers:
        yield _Fault(place, numbers, True, usable)
    elif not usable:
        what = f"{count:,} different words in {rows:,} rows, and {MOST_WORDS:,} are the most"
        yield _Fault(place, what, is_category=False)
    elif count > _FEW and not (is_category or hashed):
        if all(map(_DATE.fullmatch, words)):
            yield _Fault(place, f"{count:,} different dates or times")
        elif 2 * count > rows:
            example = words[0][:40]
            yield _Fault(place, f"{count:,} different words in {rows:,} rows, such as {example!a}")


def _numbers(words: Sequence[str]) -> str:
    """What makes a column of numbers look like one of words; empty if it is none."""
    plain = {word for word in words if is_number(word)}
    spelled = {word for word in words if word not in plain and _SPELLED.fullmatch(word.strip())}
    others = [word for word in words if word not in plain and word not in spelled]
    if spelled and not others:
        return f"numbers in a spelling that is not read, such as {min(spelled)[:40]!a}"
    if len(words) > _FEW and 2 * len(others) < len(words):
        return f"numbers, and words such as {others[0][:40]!a}"
    return ""


def _cures(table: ColumnTable, faults: Sequence[_Fault], target: int) -> Iterator[str]:
    columns = [fault for fault in faults if fault.place != target]
    if columns:
        yield f"leave it out: --drop {_listed(table, columns)}"
    if len(columns) < len(faults):
        yield f"choose a target other than {table.named(target)} (--target)"
        yield "say that the target is a class (--task multiclass)"
    if any(fault.is_number for fault in faults):
        yield "write its numbers as 1234.5 in the file, and leave missing ones empty"
    if names := [fault for fault in columns if fault.is_category]:
        yield f"make a column of each of its values: --categorical {_listed(table, names)}"
    if hashable := [fault for fault in names if not fault.is_number]:
        names_of = ", ".join(table.named(fault.place) for fault in hashable)
        yield f"hash all columns, which takes {names_of}: --hash 2^18, in okbench run and init"


def _listed(table: ColumnTable, faults: Iterable[_Fault]) -> str:
    """Columns as an option names them."""
    names = [str(table.reference(fault.place)) for fault in faults]
    places = [str(fault.place) for fault in faults]
    return shlex.quote(",".join(p if "," in n else n for n, p in zip(names, places, strict=True)))


def refuse_beyond_memory(path: Path, X: Matrix, fills: bool) -> None:
    """Raise DataError for rows that take too much of the memory once they are scaled; `fills` says
    that scaling makes dense rows of sparse ones."""
    rows, columns = X.shape
    if isinstance(X, np.ndarray) or fills:
        needed = rows * columns * 8
    else:
        needed = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    there = machine_memory()
    if _COPIES * needed > SHARE * there:
        raise DataError(
            f"{path}: {rows:,} rows × {columns:,} columns take {spoken_bytes(needed)}, "
            f"{spoken_bytes(_COPIES * needed)} while they are scaled, and {SHARE:.0%} of the "
            f"{spoken_bytes(there)} of memory are the most; leave columns out (--drop)"
            + (", or do not scale (--scale none)" if fills else "")
        )
