"""Ratios of seconds that were measured in pairs, with intervals that assume no distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

SURE = 0.95
FEWEST = 6  # rounds; with fewer, not even the smallest and the largest ratio enclose so much


@dataclass(frozen=True)
class Ratio:
    """The median of ratios, and two of them that enclose the true median in 95 % of all cases."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Ratio:
        ordered, place = sorted(ratios), outer(len(ratios))
        return cls(median(ordered), ordered[place], ordered[-1 - place])

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def outer(count: int) -> int:
    """How many of the smallest, and as many of the largest values lie outside the interval: each
    value is below the median or above it with probability 1/2."""
    place, outside = 0, 2 / 2**count
    while place + 1 < count / 2:
        outside += 2 * math.comb(count, place + 1) / 2**count
        if outside > 1 - SURE:
            break
        place += 1
    return place


def together(groups: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    """The geometric mean of each round: over groups (learners) of series (rows) of ratios, where
    every group counts once."""
    series = [[geometric_mean(each) for each in zip(*group, strict=True)] for group in groups]
    return [geometric_mean(each) for each in zip(*series, strict=True)]
