"""An outcome as a line of JSON, and back, with nothing lost.

JSON has no word for numbers that are not finite: they are written as the texts "Infinity",
"-Infinity" and "NaN". Settings keep the difference between 8 and 8.0, and one that is such a text
itself has a backslash before it. A setting that is a list is a list of such values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, replace
from operator import attrgetter
from typing import Any, TypeVar

from okbench.base.plain_text import plain
from okbench.base.tracebacks import CHARACTERS
from okbench.papers.values import Value
from okbench.trials.store.field_types import check_curve, check_outcome, check_trial, shown
from okbench.trials.trial_types import Curve, Outcome, Trial

_Kind = TypeVar("_Kind")
_TRIAL_DEFAULTS = {f.name: f.default for f in fields(Trial) if f.default is not MISSING}
_OUTCOME_DEFAULTS = {"reason": "", "timed": False, "environment": "", "finished": ""}
_REPEATED = ("status", "rows", "support", "bytes", "environment", "finished")
_repeated = attrgetter(*_REPEATED)
NO_EXTRA: dict[str, Any] = {}  # one for all outcomes, because most have none
_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


decode = json.JSONDecoder(parse_constant=_refuse_constant).decode  # strictly valid JSON alone


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
    check_trial(record)
    settings = record["settings"].items()
    given = tuple([(name, setting_of(value)) for name, value in settings])
    return _made(Trial, {**_TRIAL_DEFAULTS, **record, "settings": given})


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
    begin = line.find(b',"curve":[[')  # in a text its quotes would be escaped
    end = line.find(b"]]", begin)
    return line[:begin] + b',"curve":[]' + line[end + 2 :] if 0 <= begin < end else line


def outcome_of(
    record: Mapping[str, Any], trial: Trial | None = None, like: Outcome | None = None
) -> Outcome:
    """The outcome behind a record; ValueError says what is wrong with it. A trial that was read
    and checked before is not in the record. Values that are those of `like` are shared with it,
    because a million outcomes hold few different ones.
    """
    given = {**_OUTCOME_DEFAULTS, "extra": {}, **record}
    if trial is not None:
        if "trial" in given or "id" in given:
            raise ValueError("it has two trials")
        given |= {"id": trial.id, "trial": {}}
    if type(given.get("total")) is str:
        given["total"] = _number(given["total"])
    check_outcome(given)
    id_ = given.pop("id")
    if trial is None:
        trial = trial_of(given["trial"])
        if trial.id != id_:
            raise ValueError(f"the id {shown(id_)} is not that of its trial")
    given["trial"] = trial
    given["curve"] = curve_of(given["curve"]) if given["curve"] else ()
    given["extra"] = given["extra"] or NO_EXTRA
    if like is not None:
        for name, value in zip(_REPEATED, _repeated(like), strict=True):
            if given[name] == value and type(given[name]) is type(value):
                given[name] = value
    outcome = _made(Outcome, given)
    return presentable(outcome) if outcome.reason or outcome.extra else outcome


def presentable(outcome: Outcome) -> Outcome:
    """The outcome with its messages fit to be stored and printed."""
    reason, traceback = plain(outcome.reason), outcome.extra.get("traceback")
    if traceback is not None:
        kept = plain(traceback, CHARACTERS)
        return replace(outcome, reason=reason, extra={**outcome.extra, "traceback": kept})
    return outcome if reason == outcome.reason else replace(outcome, reason=reason)


def _made(cls: type[_Kind], values: dict[str, Any]) -> _Kind:
    """An object with these checked values, without the checks of its constructor."""
    made = object.__new__(cls)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def curve_of(written: list[Any]) -> Curve:
    """The points of a curve behind their JSON; ValueError says what is wrong with them."""
    try:
        check_curve(written)
    except ValueError:  # totals that are not finite are texts
        written = [
            [*point[:1], *map(_number, point[1:2]), *point[2:]] if type(point) is list else point
            for point in written
        ]
        check_curve(written)
    return tuple(map(tuple, written))


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
