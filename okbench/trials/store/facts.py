"""What a learner may state of its run besides figures, and how it is written down."""

from __future__ import annotations

import math
from typing import Any

FACTS = ("device", "remark", "surface", "map_seconds")
_LONGEST, _MOST = 200, 1000  # characters of a text; places of a surface in one direction


def facts_of(learner: Any) -> dict[str, Any]:
    """What a learner has of these attributes, as they are written down: the `device` it computed
    on and a `remark` on its run, as text, the `surface` of its kernel, and `map_seconds`, the part
    of its time that its feature map took."""
    found = {name: _attribute(learner, name) for name in FACTS}
    return {name: value for name, value in found.items() if is_fact(name, value)}


def is_fact(name: str, value: Any) -> bool:
    """Whether a device or a remark is a short text, seconds are a number, and a surface has numbers
    on a grid: {x, y, values}, with a list of values for each y."""
    if name in ("device", "remark"):
        return type(value) is str and value.isprintable() and 0 < len(value) <= _LONGEST
    if name == "map_seconds":
        return type(value) in (int, float) and 0 <= value < math.inf
    if type(value) is not dict or value.keys() != {"x", "y", "values"}:
        return False
    x, y, values = value["x"], value["y"], value["values"]
    if not all(type(one) is list and 0 < len(one) <= _MOST for one in (x, y, values)):
        return False
    return len(values) == len(y) and all(map(_are_numbers, (x, y, *values), (x, y, *[x] * len(y))))


def _are_numbers(line: Any, like: list[Any]) -> bool:
    return (
        type(line) is list
        and len(line) == len(like)
        and all(type(number) in (int, float) and math.isfinite(number) for number in line)
    )


def _attribute(learner: Any, name: str) -> Any:
    try:
        return getattr(learner, name, None)
    except Exception:  # of a property that a user-defined learner computes
        return None
