"""Is it slower? A ratio beyond what is allowed and a rank test, both, before anyone says so.

Only trials that were measured alone are judged: the seconds of others depend on what else ran.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from okbench.base.errors import UsageError
from okbench.reports.statistics import rank_sum

SLOWER = 1.15  # the ratio of medians beyond which a learner counts as slower
SURE = 0.002  # the rank test's p, small because many learners are looked at
FEWEST = 10  # measurements per side; fewer can hardly be that sure


@dataclass(frozen=True)
class Allowed:
    """How much slower a learner may be: one ratio for all, and those of single learners."""

    ratio: float = SLOWER
    of: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, words: Iterable[str]) -> Allowed:
        """From words such as `1.3` (all learners) and `FOGD=1.5` (that one)."""
        ratio, single = SLOWER, {}
        for word in words:
            learner, _, number = word.rpartition("=")
            value = _ratio(number, word)
            if learner:
                single[learner.casefold()] = value
            else:
                ratio = value
        return cls(ratio, single)

    def for_learner(self, name: str) -> float:
        """The ratio allowed to a learner, by its name without settings."""
        return self.of.get(name.partition("(")[0].casefold(), self.ratio)


def _ratio(number: str, word: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not 1 < value < math.inf:
        raise UsageError(f"slower: '{word}' is no ratio above 1; write 1.3, or FOGD=1.5")
    return value


@dataclass(frozen=True)
class SpeedCheck:
    """Seconds of one learner on one dataset, now against before."""

    dataset: str
    learner: str
    rounds: int
    before: float  # median seconds
    now: float
    chance: float  # of such differences if the two were alike
    allowed: float
    finding: Literal["same", "better", "worse", "cannot say"]

    @property
    def ratio(self) -> float:
        return self.now / self.before if self.before else math.inf


def check_seconds(
    dataset: str, learner: str, before: Sequence[float], now: Sequence[float], allowed: Allowed
) -> SpeedCheck:
    """Judge seconds measured in turns: worse if the ratio of medians is beyond what is allowed and
    a rank test rules chance out; better likewise in the other direction. It is undecided if the
    ratio is beyond what is allowed but may be due to chance, or if too little was measured.
    """
    limit = allowed.for_learner(learner)
    chance = rank_sum(before, now)
    typical_before, typical_now = median(before), median(now)
    ratio = typical_now / typical_before
    finding: Literal["same", "better", "worse", "cannot say"] = "same"
    if min(len(before), len(now)) < FEWEST:
        finding = "cannot say"
    elif ratio > limit:
        finding = "worse" if chance < SURE else "cannot say"
    elif chance < SURE and ratio < 1 / limit:
        finding = "better"
    return SpeedCheck(
        dataset, learner, len(before), typical_before, typical_now, chance, limit, finding
    )
