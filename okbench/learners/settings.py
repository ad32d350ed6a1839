"""Refusing settings that make no sense, with the learner and the setting named."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from typing import Any

import numpy as np

from okbench.base.errors import did_you_mean
from okbench.learners.contract import SettingsError


def check_number(
    learner: Any,
    name: str,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    finite: bool = False,
) -> None:
    """Refuse a setting that is not a number above, or not below, a bound, or not finite."""
    value = getattr(learner, name)
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or value != value:
        raise _refusal(learner, name, "a number is expected")
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise _refusal(learner, name, "it is beyond the largest number")
    if not value > above and above != -math.inf:
        raise _refusal(learner, name, f"it must be above {above:g}")
    if not value >= at_least:
        raise _refusal(learner, name, f"it must be {at_least:g} or more")
    if finite and math.isinf(value):
        raise _refusal(learner, name, "a finite number is expected")


def check_numbers(learner: Any, name: str, *, above: float = -math.inf) -> None:
    """Refuse a setting that is not a list of at least one number, each finite and above a bound."""
    values = getattr(learner, name)
    if not isinstance(values, list | tuple | np.ndarray) or not len(values):
        raise _refusal(learner, name, "a list of numbers is expected")
    for place, value in enumerate(values):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            raise _refusal(learner, name, f"a finite number is expected at place {place}")
        if not value > above:
            raise _refusal(learner, name, f"each must be above {above:g}, also at place {place}")


def check_words(learner: Any, name: str, known: Collection[str]) -> None:
    """Refuse a setting that is not a list of at least one of the known words."""
    values = getattr(learner, name)
    if not isinstance(values, list | tuple | np.ndarray) or not len(values):
        raise _refusal(learner, name, "a list of words is expected")
    for place, value in enumerate(values):
        if value not in known:
            advice = f"choose {' or '.join(known)} at place {place}"
            raise _refusal(learner, name, f"{advice}.{did_you_mean(str(value), known)}")


def check_whole(learner: Any, name: str, *, at_least: int) -> None:
    """Refuse a setting that is not a whole number, or too small."""
    value = getattr(learner, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise _refusal(learner, name, "a whole number is expected")
    if value < at_least:
        raise _refusal(learner, name, f"it must be {at_least} or more")


def check_choice(learner: Any, name: str, known: Collection[str]) -> None:
    """Refuse a setting that is not one of the known words."""
    value = getattr(learner, name)
    if value not in known:
        raise _refusal(
            learner, name, f"choose {' or '.join(known)}.{did_you_mean(str(value), known)}"
        )


def _refusal(learner: Any, name: str, advice: str) -> SettingsError:
    return SettingsError(f"{learner.name}: {name} = {getattr(learner, name)!r}: {advice}")
