"""The lines of a results file, checked one by one as they are read."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from okbench.base.errors import StoreError
from okbench.trials.store.field_types import check_blessed, check_environment, check_text, shown
from okbench.trials.store.lines import SCHEMA, header_line, is_intact
from okbench.trials.store.ordinary_lines import ordinary_outcome
from okbench.trials.store.outcome_json import decode, outcome_of, to_bytes, without_curve
from okbench.trials.store.plans import plan_of
from okbench.trials.store.results_file import Contents
from okbench.trials.store.trials_of_lines import TrialsOfLines
from okbench.trials.trial_types import Family, Outcome

_WITH_CHECKSUMS = 3  # the first schema whose lines have them
_HEADERS = [
    *(to_bytes({"okbench": "results", "schema": schema}) for schema in (1, 2)),
    header_line(),
]
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_KEYS = {
    "okbench": frozenset({"okbench", "schema", "blessed"}),
    "environment": frozenset({"environment", "hash"}),
    "plan": frozenset({"plan"}),
    "outcome": frozenset({"outcome"}),
}


def contents_of(
    path: Path, file: BinaryIO, curves: bool = True, trials: TrialsOfLines | None = None
) -> Contents:
    """What a results file says; a StoreError names the line that is damaged. `trials` are those of
    another file, with which this one shares the trials that both have.
    """
    reader = _Reader(path, curves, trials)
    number, rest = 0, b""
    with _no_garbage_collection():
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                rest = line
                break
            reader.take(line, number)
            reader.contents.end += len(line)
    start = rest.removeprefix(_BYTE_ORDER_MARK)
    if number < 2 and rest and not any(header.startswith(start) for header in _HEADERS):
        raise _not_results(path)
    if is_intact(rest[:-1]):
        raise _damaged(path, number, "its end is not an end of line")
    reader.contents.torn = bool(rest)
    return reader.contents


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A million outcomes hold no cycles, and looking for some takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def blessed_of(path: Path, line: bytes) -> Mapping[str, Any]:
    """What the first line of a results file says of a baseline."""
    reader = _Reader(path, curves=False)
    if line.endswith(b"\n"):
        reader.take(line, 1)
    return reader.contents.blessed


class _Reader:
    """Adds up what the lines of one file say."""

    def __init__(self, path: Path, curves: bool, trials: TrialsOfLines | None = None) -> None:
        self.contents = Contents()
        self._path, self._curves = path, curves
        self._trials = trials or TrialsOfLines()
        self._last: dict[Family, Outcome] = {}

    def take(self, line: bytes, number: int) -> None:
        """Take one line. Blank lines, and what editors put before the first line or at the end of
        each, say nothing."""
        line = line.removeprefix(_BYTE_ORDER_MARK).strip()
        if not line and number > 1:
            return
        intact = is_intact(line)
        if intact is False:
            raise _damaged(
                self._path, number, "it was changed after it was written: its checksum differs"
            )
        try:
            self._take_record(line, number, intact)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            StopIteration,
            RecursionError,
        ) as error:
            if number == 1 and not isinstance(error, _WrongHeader):
                raise _not_results(self._path) from error
            what = f"no {shown(error.args[0])}" if isinstance(error, KeyError) else str(error)
            raise _damaged(self._path, number, what) from error

    def _take_record(self, line: bytes, number: int, intact: bool | None) -> None:
        """Take a line whose checksum is right, or that has none."""
        contents = self.contents
        line = line if self._curves else without_curve(line)
        trial, line = self._trials.taken_from(line)
        if trial is not None and number > 1:
            outcome = ordinary_outcome(trial, line)
            if outcome is not None:
                self._check_sealed(intact)
                contents.measured.append(outcome)
                return
        record = _record_of(line.decode("utf-8"))
        if intact:
            del record["crc"]
        kind = next(iter(record)) if number > 1 else "okbench"
        if not _KEYS[kind].issuperset(record):
            raise ValueError(f"unknown key {shown(min(record.keys() - _KEYS[kind]))}")
        if kind == "okbench":
            _take_header(contents, self._path, number, record)
        self._check_sealed(intact)
        if kind == "outcome":
            before = None if trial is None else self._last.get(trial.family)
            outcome = outcome_of(record["outcome"], trial, like=before)
            contents.measured.append(outcome)
            self._last[outcome.trial.family] = outcome
        elif kind == "environment":
            check_environment(record["environment"])
            contents.environments[check_text("hash", record["hash"])] = record["environment"]
        elif kind == "plan":
            contents.plans.append(plan_of(record["plan"]))

    def _check_sealed(self, intact: bool | None) -> None:
        if intact is None and self.contents.schema >= _WITH_CHECKSUMS:
            raise ValueError("it has no checksum")


class _WrongHeader(ValueError):
    """A header of okbench's that cannot be right."""


def _take_header(contents: Contents, path: Path, number: int, record: Mapping[str, Any]) -> None:
    if record["okbench"] != "results":
        raise ValueError("not a results header")
    schema = record["schema"]
    if type(schema) is not int or schema < 1:
        raise _WrongHeader(f"schema is {shown(schema)}, and schemas are numbered from 1")
    if schema > SCHEMA:
        raise StoreError(
            f"{path}:{number}: written by a newer okbench (schema {shown(schema)}; this one reads "
            f"up to {SCHEMA}); nothing was changed. Upgrade okbench"
        )
    contents.schema = schema
    if "blessed" in record:
        try:
            check_blessed(record["blessed"])
        except ValueError as error:
            raise _WrongHeader(str(error)) from error
        contents.blessed = record["blessed"]


def check_readable(path: Path, line: bytes) -> None:
    """Refuse to write the line of an outcome that could not be read again."""
    try:
        outcome_of(decode(line.decode("utf-8"))["outcome"])
    except ValueError as error:
        raise StoreError(
            f"{path}: an outcome that could not be read again is not written: {error}"
        ) from error


def _record_of(text: str) -> Any:
    """The JSON, with a question mark in the place of a surrogate that stands alone: a text with
    one could neither be printed nor written."""
    record = decode(text)
    if "\\ud" in text or "\\uD" in text:
        encodable = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        record = decode(encodable.decode("utf-8"))
    return record


def _damaged(path: Path, number: int, what: str) -> StoreError:
    return StoreError(
        f"{path}:{number}: a damaged line ({what}); nothing was changed. Repair or delete the "
        "line, or choose another folder with --results"
    )


def _not_results(path: Path) -> StoreError:
    return StoreError(
        f"{path}:1: not a file of okbench results; nothing was changed. Move it away, or choose "
        "another folder with --results"
    )
