"""Axes: where a value lies on a drawing, and the round values that are written beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Band = tuple[float, float]  # a mean and its deviation
Words = Callable[[float], str]  # how a tick is written

WIDE = 30.0  # a range this many times its least value is drawn in logarithms
_DEEPEST = 1e-15  # share of the highest value that logarithms reach down to
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_BETWEEN = ((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 4, 6, 8), (1, 2, 5), (1,))
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        if self.logarithmic:
            value = max(value, self.low)  # a band may reach down to nothing
            low, high = math.log(self.low), math.log(self.high)
            share = (math.log(value) - low) / (high - low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the axis, no more than `most` of them if that can be."""
        return _decades(self, most) if self.logarithmic else _steps(self, most)


def axis(
    values: Iterable[float], start: float, end: float, logarithmic: bool | None = None
) -> Axis:
    """An axis with room for these values; in logarithms where they are far apart, if `logarithmic`
    leaves it open.
    """
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if logarithmic is None:
        logarithmic = low > 0 and high / low > WIDE
    if logarithmic:
        low = max(low, high * _DEEPEST)
        room = max((high / low) ** 0.06, 1.1)
        return Axis(low / room, high * room, start, end, logarithmic=True)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    floor = 0.0 if 0 <= low <= room else low - room
    return Axis(floor, high + room, start, end)


def banded(
    bands: Iterable[Band], start: float, end: float, logarithmic: bool | None = None
) -> Axis:
    """An axis with room for means and the deviations about them; whether it is in logarithms, the
    means decide if `logarithmic` leaves it open. There, a band that reaches down to nothing is cut
    off at the lowest mean.
    """
    known = [(mean, spread) for mean, spread in bands if math.isfinite(mean + spread)]
    means = [mean for mean, _ in known]
    upper = [mean + spread for mean, spread in known]
    if axis(means, start, end).logarithmic if logarithmic is None else logarithmic:
        return axis([*means, *upper], start, end, logarithmic=True)
    return axis([*map(lower_end, known), *upper], start, end, logarithmic=False)


def mostly_wide(panels: Sequence[Sequence[float]]) -> bool:
    """Whether panels that are compared have logarithmic axes: at least half of them would have one
    alone, and none has a value without a logarithm."""
    every = [[value for value in values if math.isfinite(value)] for values in panels]
    wide = [bool(values) and axis(values, 0, 1).logarithmic for values in every]
    return 2 * sum(wide) >= max(len(wide), 1) and all(value > 0 for v in every for value in v)


def lower_end(band: Band) -> float:
    """Where a band ends below: no metric is less than nothing."""
    mean, spread = band
    return max(mean - spread, min(mean, 0.0))


def tick_text(value: float) -> str:
    """A tick as a number: `0.25`, `1.5e+06`."""
    return f"{value:.6g}".replace("-", "−")


def counted(value: float) -> str:
    """A tick as a count: `50k`, `1.5M`."""
    for size, prefix in _PREFIXES:
        if abs(value) >= size:
            return f"{value / size:.6g}{prefix}"
    return tick_text(value)


def timed(value: float) -> str:
    """A tick in seconds, with its unit: `20 ms`."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= size * 0.9999:
            return f"{value / size:.6g} {unit}"
    return f"{value * 1e9:.3g} ns"


def sized(value: float) -> str:
    """A tick in bytes, with its unit: `20 kB`."""
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= size * 0.9999:
            return f"{value / size:.6g} {unit}"
    return f"{value:.6g} B"


def _steps(axis: Axis, most: int) -> list[float]:
    rough = (axis.high - axis.low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * digit for digit in _ROUND if size * digit >= rough * 0.9999)
    first = math.ceil(axis.low / step - 1e-9)
    last = math.floor(axis.high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _decades(axis: Axis, most: int) -> list[float]:
    """Powers of ten, with as many round values between them as there is room for."""
    first, last = math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high))
    for digits in _BETWEEN:
        found = [
            digit * 10.0**power
            for power in range(first, last + 1)
            for digit in digits
            if axis.low <= digit * 10.0**power <= axis.high
        ]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]
