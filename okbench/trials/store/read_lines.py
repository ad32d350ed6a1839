"""The lines of a results file, checked one by one as they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from okbench.base.errors import StoreError
from okbench.trials.store.field_types import check_blessed, check_environment, check_text, shown
from okbench.trials.store.lines import SCHEMA, header_line, is_intact
from okbench.trials.store.outcome_json import outcome_of, to_bytes, without_curve
from okbench.trials.store.plans import plan_of
from okbench.trials.store.results_file import Contents

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


def contents_of(path: Path, data: bytes, curves: bool = True) -> Contents:
    """What the bytes of a results file say; a StoreError names the line that is damaged."""
    *lines, rest = data.split(b"\n")
    start = rest.removeprefix(_BYTE_ORDER_MARK)
    if not lines and not any(header.startswith(start) for header in _HEADERS):
        raise _not_results(path)
    contents = Contents(end=len(data) - len(rest), torn=bool(rest))
    for number, line in enumerate(lines, start=1):
        _take(contents, path, line, number, curves)
    if is_intact(rest[:-1]):
        raise _damaged(path, len(lines) + 1, "its end is not an end of line")
    return contents


def blessed_of(path: Path, line: bytes) -> Mapping[str, Any]:
    """What the first line of a results file says of a baseline."""
    contents = Contents()
    if line.endswith(b"\n"):
        _take(contents, path, line, 1, curves=False)
    return contents.blessed


def _take(contents: Contents, path: Path, line: bytes, number: int, curves: bool) -> None:
    """Add what a line says to the contents. Blank lines, and what editors put before the first
    line or at the end of each, say nothing."""
    line = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if not line and number > 1:
        return
    intact = is_intact(line)
    if intact is False:
        raise _damaged(path, number, "it was changed after it was written: its checksum differs")
    try:
        record = _record_of((line if curves else without_curve(line)).decode("utf-8"))
        if intact:
            del record["crc"]
        kind = next(iter(record)) if number > 1 else "okbench"
        if not _KEYS[kind].issuperset(record):
            raise ValueError(f"unknown key {shown(min(record.keys() - _KEYS[kind]))}")
        if kind == "okbench":
            _take_header(contents, path, number, record)
        if intact is None and contents.schema >= _WITH_CHECKSUMS:
            raise ValueError("it has no checksum")
        if kind == "outcome":
            contents.measured.append(outcome_of(record["outcome"]))
        elif kind == "environment":
            check_environment(record["environment"])
            contents.environments[check_text("hash", record["hash"])] = record["environment"]
        elif kind == "plan":
            contents.plans.append(plan_of(record["plan"]))
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        StopIteration,
        RecursionError,
    ) as error:
        if number == 1 and not isinstance(error, _WrongHeader):
            raise _not_results(path) from error
        what = f"no {shown(error.args[0])}" if isinstance(error, KeyError) else str(error)
        raise _damaged(path, number, what) from error


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
        outcome_of(_decode(line.decode("utf-8"))["outcome"])
    except ValueError as error:
        raise StoreError(
            f"{path}: an outcome that could not be read again is not written: {error}"
        ) from error


def _record_of(text: str) -> Any:
    """The JSON, with a question mark in the place of a surrogate that stands alone: a text with
    one could neither be printed nor written."""
    record = _decode(text)
    if "\\ud" in text or "\\uD" in text:
        encodable = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace")
        record = _decode(encodable.decode("utf-8"))
    return record


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


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
