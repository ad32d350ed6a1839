"""Tests of the ranks of learners over datasets. docs/statistics.md explains each method."""

from __future__ import annotations

import math
from collections.abc import Sequence


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
