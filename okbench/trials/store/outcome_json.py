"""An outcome as a line of JSON, and back, with nothing lost.

JSON has no word for numbers that are not finite: they are written as the texts "Infinity",
"-Infinity" and "NaN". Settings keep the difference between 8 and 8.0, and one that is such a text
itself has a backslash before it. A setting that is a list is a list of such values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args

from okbench.papers.values import Value
from okbench.trials.trial_types import Outcome, Status, Trial

_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
_FIGURES = ("total", "seconds", "cpu_seconds", "train_seconds")
_COUNTS = ("rows", "support", "bytes")
_STATUSES = frozenset(get_args(Status))
_TRIAL_KEYS = frozenset(field.name for field in fields(Trial))
_OUTCOME_KEYS = frozenset(field.name for field in fields(Outcome)) | {"id"}


def to_bytes(record: Mapping[str, Any]) -> bytes:
    """One line of strictly valid JSON, its newline included."""
    text = json.dumps(_finite(record), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return (text + "\n").encode("utf-8", "backslashreplace")


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """The outcome as plain values, its trial's id first."""
    record = {"id": outcome.trial.id, **asdict(outcome)}
    record["trial"] = trial_record(outcome.trial)
    return record


def trial_record(trial: Trial) -> dict[str, Any]:
    """The trial as plain values."""
    settings = {name: setting_json(value) for name, value in trial.settings}
    return {**asdict(trial), "settings": settings}


def trial_of(record: Mapping[str, Any]) -> Trial:
    """The trial behind a record; ValueError says what is wrong with it."""
    _refuse_unknown(record, _TRIAL_KEYS)
    settings = record["settings"].items()
    return Trial(**{**record, "settings": tuple([(k, setting_of(v)) for k, v in settings])})


def setting_json(value: Value | None) -> Any:
    """A setting as JSON has it, before `to_bytes` writes the numbers that are not finite."""
    if isinstance(value, tuple):
        return [setting_json(element) for element in value]
    is_word = isinstance(value, str) and value.lstrip("\\") in _NOT_FINITE
    return f"\\{value}" if is_word else value


def setting_of(written: Any) -> Any:
    """The setting behind its JSON."""
    if isinstance(written, list):
        return tuple([setting_of(element) for element in written])
    if isinstance(written, str) and written.startswith("\\"):
        return written[1:] if written.lstrip("\\") in _NOT_FINITE else written
    return _number(written)


def without_curve(line: bytes) -> bytes:
    """The line of an outcome less the points of its curve, which are most of it."""
    before, _, after = line.partition(b',"curve":[[')  # in a text its quotes would be escaped
    _, end, rest = after.partition(b"]]")
    return before + b',"curve":[]' + rest if end else line


def outcome_of(record: Mapping[str, Any]) -> Outcome:
    """The outcome behind a record; ValueError says what is wrong with it."""
    _refuse_unknown(record, _OUTCOME_KEYS)
    trial = trial_of(record["trial"])
    given = dict(record)
    if trial.id != given.pop("id"):
        raise ValueError(f"the id {record['id']} is not that of its trial")
    if given["status"] not in _STATUSES:
        raise ValueError(f"unknown status {given['status']!r}")
    for name in _FIGURES:
        given[name] = _figure(name, _number(given[name]))
    for name in _COUNTS:
        given[name] = _figure(name, given[name])
    given["curve"] = tuple(map(_point, given["curve"]))
    return Outcome(**{**given, "trial": trial})


def _refuse_unknown(record: Mapping[str, Any], known: frozenset[str]) -> None:
    if not known.issuperset(record):
        raise ValueError(f"unknown key '{min(set(record) - known)}'")


def _figure(name: str, value: Any) -> int | float | None:
    if value is not None and type(value) not in (int, float):
        raise ValueError(f"{name} is {value!r}, which is no number")
    return value


def _point(point: list[Any]) -> tuple[Any, ...]:
    return tuple(point) if _NOT_FINITE.keys().isdisjoint(point) else tuple(map(_number, point))


def _number(value: Any) -> Any:
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return next(text for text, number in _NOT_FINITE.items() if repr(number) == repr(value))
    return value
