"""Tests of whether a difference is real, for trials that share their permutations.

Two trials of two learners on one permutation are a pair; what counts is the difference within the
pair. None stands for "cannot decide": there are too few pairs for the question. SciPy computes what
it has, and is imported only when a test is asked for.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

FEWEST_PAIRS = 6  # with fewer pairs, Wilcoxon's test cannot reach 5 %
MOST_COUNTED = 50  # beyond so many pairs, the normal approximation is good enough


@dataclass(frozen=True)
class Paired:
    """Differences of pairs: their mean, its confidence interval, and the p values of two tests of
    the hypothesis that there is no difference.
    """

    n: int
    mean: float
    low: float
    high: float
    t_test: float
    wilcoxon: float

    @property
    def decided(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def paired(
    first: Mapping[int, float], second: Mapping[int, float], level: float = 0.95
) -> Paired | None:
    """The differences first − second on the permutations that both have."""
    shared = sorted(first.keys() & second.keys())
    return paired_differences([first[r] - second[r] for r in shared], level)


def paired_differences(differences: Sequence[float], level: float = 0.95) -> Paired | None:
    """The mean of differences with its t interval, the paired t test and Wilcoxon's test."""
    n = len(differences)
    if n < FEWEST_PAIRS or not all(map(math.isfinite, differences)):
        return None
    mean, wilcoxon = fmean(differences), signed_rank(differences)
    if len(set(differences)) == 1:  # without a deviation SciPy's t is not a number
        return Paired(n, mean, mean, mean, 0.0 if mean else 1.0, wilcoxon)
    from scipy.stats import ttest_1samp

    with warnings.catch_warnings():  # nearly equal differences: the p value is 0 in any case
        warnings.simplefilter("ignore", RuntimeWarning)
        found = ttest_1samp(differences, 0.0)
    low, high = found.confidence_interval(level)
    return Paired(n, mean, float(low), float(high), float(found.pvalue), wilcoxon)


def signed_rank(differences: Sequence[float]) -> float:
    """Wilcoxon's signed-rank test, two-sided; pairs without a difference are left out.

    Computed here because mistake counts have many ties, and SciPy has no exact distribution with
    ties. The distribution is that of the sum of ranks over all ways to set the signs. Beyond fifty
    pairs SciPy's normal approximation, corrected for ties, takes its place.
    """
    from scipy.stats import rankdata, wilcoxon

    moved = [difference for difference in differences if difference]
    if not moved:
        return 1.0
    if len(moved) > MOST_COUNTED:
        return float(wilcoxon(moved, method="approx").pvalue)
    doubled = [round(2 * rank) for rank in rankdata([abs(d) for d in moved])]  # ties have halves
    above = sum(d for d, difference in zip(doubled, moved, strict=True) if difference > 0)
    least = min(above, sum(doubled) - above)
    ways = [1] + [0] * sum(doubled)
    for d in doubled:
        for total in range(len(ways) - 1, d - 1, -1):
            ways[total] += ways[total - d]
    return min(1.0, 2 * sum(ways[: least + 1]) / 2 ** len(moved))


def rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    """The Mann–Whitney test of two samples, two-sided: its normal approximation, corrected for ties
    and continuity. An outlier counts as one rank and no more.
    """
    from scipy.stats import mannwhitneyu

    if len({*first, *second}) == 1:
        return 1.0
    return float(mannwhitneyu(first, second, method="asymptotic").pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """p values corrected for there being several of them (Holm 1979), in the order given.

    SciPy corrects for the false discovery rate only.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, highest = [0.0] * len(values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = highest
    return corrected


def average_ranks(scores: Sequence[Sequence[float]]) -> list[float]:
    """The mean rank of each column over the rows (one row per dataset, the smallest score first).

    Equal scores share the mean of their ranks.
    """
    from scipy.stats import rankdata

    ranks: list[float] = rankdata(scores, axis=1).mean(axis=0).tolist()
    return ranks


def friedman(scores: Sequence[Sequence[float]]) -> float | None:
    """The p value of the average ranks, if all columns were alike (Friedman 1937, with ties)."""
    if len(scores) < 2 or len(scores[0]) < 3:
        return None
    if all(len(set(row)) == 1 for row in scores):
        return 1.0  # SciPy divides by zero where every row is one tie
    from scipy.stats import friedmanchisquare

    return float(friedmanchisquare(*zip(*scores, strict=True)).pvalue)


def critical_difference(learners: int, datasets: int, level: float = 0.95) -> float | None:
    """How far average ranks must lie apart (Nemenyi; Demšar 2006)."""
    if learners < 2 or datasets < 2:
        return None
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, learners, math.inf)) / math.sqrt(2)
    return q * math.sqrt(learners * (learners + 1) / (6 * datasets))


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """How far two rankings agree: τ-b, 1 for the same order, −1 for the reverse."""
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)
