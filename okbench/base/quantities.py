"""Amounts with a unit and moments, as people write and read them: 2G, 30m, 2 h."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime

SIZES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
TIMES = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def amount(text: str, units: Mapping[str, int]) -> float | None:
    """The amount a text gives in the smallest unit; None when it is no amount above zero."""
    written = text.strip().lower()
    unit = written[-1:] if written[-1:] in units else ""
    try:
        found = float(written.removesuffix(unit)) * units.get(unit, 1)
    except ValueError:
        return None
    return found if 0 < found < math.inf else None


def spoken_time(seconds: float) -> str:
    """Seconds in the unit that reads best: s, min, h or days."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.3g} h" if seconds < 172800 else f"{seconds / 86400:.4g} days"


def now() -> str:
    """The present moment in UTC by ISO 8601, as records and outcomes state it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def spoken_bytes(count: float) -> str:
    """Bytes in the unit that reads best."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"
