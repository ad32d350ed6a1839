"""Is the difference real? Tests for trials that share their row orders.

Trials of two learners on one row order are a pair; what counts is the difference within the pair.
None stands for "cannot decide": too few pairs for the question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

FEWEST_PAIRS = 6  # below, no Wilcoxon test can reach 5 %


@dataclass(frozen=True)
class Paired:
    """Differences of pairs: their mean, its interval, and two tests of there being none."""

    n: int
    mean: float
    low: float
    high: float
    t_test: float
    wilcoxon: float

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0


def paired(
    first: Mapping[int, float], second: Mapping[int, float], level: float = 0.95
) -> Paired | None:
    """The differences first − second on the row orders that both have."""
    shared = sorted(first.keys() & second.keys())
    return paired_differences([first[r] - second[r] for r in shared], level)


def paired_differences(differences: Sequence[float], level: float = 0.95) -> Paired | None:
    """The mean of differences with its t interval, the paired t test and Wilcoxon's."""
    n = len(differences)
    if n < FEWEST_PAIRS or not all(map(math.isfinite, differences)):
        return None
    from scipy.special import stdtr, stdtrit

    mean, error = fmean(differences), stdev(differences) / math.sqrt(n)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    score = abs(mean) / error if error else math.inf * abs(mean) if mean else 0.0
    t_test = 2 * float(stdtr(n - 1, -score))
    return Paired(n, mean, mean - half, mean + half, t_test, signed_rank(differences))


def signed_rank(differences: Sequence[float]) -> float:
    """Wilcoxon's signed-rank test, two-sided; pairs without a difference are left out.

    Exact also with ties: the sum of ranks over all ways to set the signs. Beyond fifty pairs the
    normal approximation, corrected for ties.
    """
    moved = [difference for difference in differences if difference]
    if not moved:
        return 1.0
    ranks = midranks([abs(difference) for difference in moved])
    doubled = [round(2 * rank) for rank in ranks]  # mid-ranks are halves
    above = sum(d for d, difference in zip(doubled, moved, strict=True) if difference > 0)
    least = min(above, sum(doubled) - above)
    if len(moved) > 50:
        spread = math.sqrt(sum(d * d for d in doubled)) / 2
        return min(1.0, math.erfc((sum(doubled) / 2 - least) / spread / math.sqrt(2)))
    ways = [1] + [0] * sum(doubled)
    for d in doubled:
        for total in range(len(ways) - 1, d - 1, -1):
            ways[total] += ways[total - d]
    return min(1.0, 2 * sum(ways[: least + 1]) / 2 ** len(moved))


def rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    """The Mann–Whitney test of two samples, two-sided: its normal approximation, corrected for ties
    and continuity. An outlier counts as one rank and no more.
    """
    n, m = len(first), len(second)
    ranks = midranks([*first, *second])
    size = n + m
    spread = math.sqrt(n * m / (12 * size * (size - 1)) * _untied(ranks))
    distance = abs(sum(ranks[:n]) - n * (size + 1) / 2) - 0.5
    return math.erfc(max(0.0, distance) / spread / math.sqrt(2)) if spread else 1.0


def _untied(ranks: Sequence[float]) -> float:
    """size³ − size, less the same of every group of equal ranks."""
    counts = (ranks.count(rank) for rank in set(ranks))
    return float(len(ranks) ** 3 - len(ranks) - sum(count**3 - count for count in counts))


def holm(values: Sequence[float]) -> list[float]:
    """p values corrected for there being several of them (Holm 1979), in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, highest = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = highest
    return corrected


def midranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, the smallest first; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for index in order[start:end]:
            ranks[index] = (start + 1 + end) / 2
        start = end
    return ranks


def average_ranks(scores: Sequence[Sequence[float]]) -> list[float]:
    """The mean rank of each column over the rows (one row a dataset, the smallest score first)."""
    return [fmean(column) for column in zip(*map(midranks, scores), strict=True)]


def friedman(scores: Sequence[Sequence[float]]) -> float | None:
    """The chance of such average ranks if all columns were alike (Friedman 1937, with ties)."""
    n, k = len(scores), len(scores[0]) if scores else 0
    if n < 2 or k < 3:
        return None
    from scipy.special import chdtrc

    ranks = [midranks(row) for row in scores]
    squares = sum(rank**2 for row in ranks for rank in row)
    expected = n * k * (k + 1) ** 2 / 4
    if squares == expected:
        return 1.0  # every row is one tie
    columns = sum(sum(column) ** 2 for column in zip(*ranks, strict=True))
    statistic = (k - 1) * (columns - n * expected) / (squares - expected)
    return float(chdtrc(k - 1, statistic))


def critical_difference(learners: int, datasets: int, level: float = 0.95) -> float | None:
    """How far average ranks must lie apart (Nemenyi; Demšar 2006)."""
    if learners < 2 or datasets < 2:
        return None
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, learners, math.inf)) / math.sqrt(2)
    return q * math.sqrt(learners * (learners + 1) / (6 * datasets))


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """How far two rankings agree: τ-b, 1 the same order, −1 the reverse."""
    pairs = [(a, b) for a in range(len(first)) for b in range(a)]
    signs = [(_sign(first[a] - first[b]), _sign(second[a] - second[b])) for a, b in pairs]
    moved_first = sum(x != 0 for x, _ in signs)
    moved_second = sum(y != 0 for _, y in signs)
    if len(first) < 3 or not moved_first or not moved_second:
        return None
    return sum(x * y for x, y in signs) / math.sqrt(moved_first * moved_second)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
