"""Outcomes of lines in the form in which okbench writes almost all of them, read by one regular
expression: that takes a third of the time of a JSON parser and the checks of `field_types`. What
the expression takes has the types and ranges that these ask for, and every other line is theirs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, get_args

from okbench.base.quick_objects import quick_constructor
from okbench.trials.store.field_types import check_extra
from okbench.trials.store.outcome_json import NO_EXTRA, curve_of, decode, presentable
from okbench.trials.trial_types import Curve, Outcome, Status, Trial

_WHOLE = "(?:0|[1-9][0-9]{0,17})"  # fits in 63 bits
_FRACTION = rf"{_WHOLE}(?:\.[0-9]+(?:e-[0-9]+)?|e-[0-9]+)"
_TEXT = "[ !#-\\[\\]-~]*"  # ASCII that is written as it is
_FORMS = {
    "status": f'"({"|".join(get_args(Status))})"',
    "rows": f"({_WHOLE})",
    "total": f"({_FRACTION}|{_WHOLE}|null)",
    **dict.fromkeys(("seconds", "cpu_seconds", "train_seconds"), f"({_FRACTION}|null)"),
    **dict.fromkeys(("support", "bytes"), f"({_WHOLE}|null)"),
    "curve": r"\[((?:\[[][0-9.,e\-nul]+\])?)\]",
    "reason": '""',
    "timed": "(true|false)",
    **dict.fromkeys(("environment", "finished"), f'"({_TEXT})"'),
    "extra": r"\{([^\\]*)\}",
}
_fields = ",".join(f'"{name}":{form}' for name, form in _FORMS.items())
_LINE = re.compile(rf'\{{"outcome":\{{{_fields}\}}(?:,"crc":"[0-9a-f]{{8}}")?\}}'.encode())
_match = _LINE.fullmatch
_outcome = quick_constructor(Outcome)


def ordinary_outcome(trial: Trial, rest: bytes) -> Outcome | None:
    """The outcome of a trial, of a line without the trial; None if it is not of the usual form."""
    found = _match(rest)
    if found is None:
        return None
    (status, rows, total, seconds, cpu, training, support, size,
     curve, timed, environment, finished, extra) = found.groups()  # fmt: skip
    try:
        outcome = _outcome(
            trial,
            _text(status),
            _number(rows),
            _number(total),
            None if seconds == b"null" else float(seconds),
            None if cpu == b"null" else float(cpu),
            None if training == b"null" else float(training),
            _number(support),
            _number(size),
            _curve(curve) if curve else (),
            "",
            timed == b"true",
            _text(environment),
            _text(finished),
            _extra(extra) if extra else NO_EXTRA,
        )
        return presentable(outcome) if extra else outcome
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # what is wrong is said where the whole line is checked


@lru_cache(maxsize=4096)
def _number(text: bytes) -> Any:
    """Numbers and texts that are met again are one object, because a million outcomes hold few
    different ones."""
    if text == b"null":
        return None
    return int(text) if text.isdigit() else float(text)


@lru_cache(maxsize=4096)
def _text(text: bytes) -> Any:
    return text.decode("ascii")


def _curve(text: bytes) -> Curve:
    return curve_of(decode(f"[{text.decode('ascii')}]"))


def _extra(text: bytes) -> dict[str, Any]:
    extra: dict[str, Any] = decode(f"{{{text.decode('utf-8')}}}")
    check_extra(extra)
    return extra
