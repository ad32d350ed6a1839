"""Statistics of learners over datasets. docs/statistics.md explains each method.

Sampling uses a fixed seed, so that the same results give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

FEWEST_DATASETS = 5  # with fewer, resampled datasets repeat one another too often
RESAMPLES = 10_000
POSTERIOR_DRAWS = 50_000
_SEED = 0
_PRIOR = 0.5  # the weight of one pseudo-dataset without a difference (Benavoli et al. 2014)


@dataclass(frozen=True)
class Posterior:
    """The probabilities that differences are typically below, within and above a region."""

    below: float
    within: float
    above: float


def average_ranks(scores: Sequence[Sequence[float]]) -> list[float]:
    """The mean rank of each column over the rows (one row per dataset, the smallest score first).

    Equal scores share the mean of their ranks.
    """
    ranks: list[float] = _ranks(scores).mean(axis=0).tolist()
    return ranks


def rank_intervals(
    scores: Sequence[Sequence[float]], level: float = 0.95
) -> list[tuple[float, float]] | None:
    """Bootstrap intervals of the average ranks: percentiles over resampled datasets (rows)."""
    if len(scores) < FEWEST_DATASETS:
        return None
    return _bootstrap(_ranks(scores), level)


def mean_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """The bootstrap interval of the mean of one value per dataset."""
    if len(values) < FEWEST_DATASETS:
        return None
    return _bootstrap([[value] for value in values], level)[0]


def _ranks(scores: Sequence[Sequence[float]]) -> Any:
    from scipy.stats import rankdata

    return rankdata(scores, axis=1)


def _bootstrap(rows: Any, level: float) -> list[tuple[float, float]]:
    """Percentile intervals of the means of the columns, when rows are resampled."""
    import numpy as np

    table = np.asarray(rows, dtype=float)
    chosen = np.random.default_rng(_SEED).integers(0, len(table), (RESAMPLES, len(table)))
    means = table[chosen].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def friedman(scores: Sequence[Sequence[float]]) -> float | None:
    """The p value of the average ranks, if all columns were alike (Friedman 1937, with ties)."""
    statistic = _friedman_statistic(scores)
    if statistic is None:
        return None
    from scipy.special import chdtrc

    return float(chdtrc(len(scores[0]) - 1, statistic))


def iman_davenport(scores: Sequence[Sequence[float]]) -> float | None:
    """The same by the F distribution, which is less conservative (Iman and Davenport 1980)."""
    statistic = _friedman_statistic(scores)
    if statistic is None:
        return None
    from scipy.special import fdtrc

    rows, freedom = len(scores), len(scores[0]) - 1
    left = rows * freedom - statistic
    if left <= 1e-9 * statistic:  # every row ranks the columns alike
        return 0.0
    return float(fdtrc(freedom, (rows - 1) * freedom, (rows - 1) * statistic / left))


def _friedman_statistic(scores: Sequence[Sequence[float]]) -> float | None:
    """χ² of the average ranks; 0 if every row is one tie, None for too few rows or columns."""
    if len(scores) < 2 or len(scores[0]) < 3:
        return None
    if all(len(set(row)) == 1 for row in scores):
        return 0.0  # SciPy divides by zero
    from scipy.stats import friedmanchisquare

    return float(friedmanchisquare(*zip(*scores, strict=True)).statistic)


def critical_difference(learners: int, datasets: int, level: float = 0.95) -> float | None:
    """How far average ranks must lie apart (Nemenyi; Demšar 2006)."""
    if learners < 2 or datasets < 2:
        return None
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, learners, math.inf)) / math.sqrt(2)
    return q * math.sqrt(learners * (learners + 1) / (6 * datasets))


def tied_groups(count: int, different: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The largest groups of two or more of the numbers below `count` in which no pair (smaller
    first) is `different`, in order of their members.
    """
    alike = {
        i: {j for j in range(count) if j != i and (min(i, j), max(i, j)) not in different}
        for i in range(count)
    }
    return sorted(group for group in _cliques((), set(alike), set(), alike) if len(group) > 1)


def _cliques(
    chosen: tuple[int, ...], open_: set[int], closed: set[int], alike: dict[int, set[int]]
) -> list[tuple[int, ...]]:
    """The maximal cliques that extend `chosen` by some of `open_` (Bron and Kerbosch 1973)."""
    if not open_ and not closed:
        return [tuple(sorted(chosen))]
    pivot = max(open_ | closed, key=lambda i: len(alike[i] & open_))
    found = []
    for i in sorted(open_ - alike[pivot]):
        found += _cliques((*chosen, i), open_ & alike[i], closed & alike[i], alike)
        open_, closed = open_ - {i}, closed | {i}
    return found


def far_apart(ranks: Sequence[float], critical: float) -> set[tuple[int, int]]:
    """The pairs of ranks that lie farther apart than the critical difference."""
    pairs = combinations(range(len(ranks)), 2)
    return {(i, j) for i, j in pairs if abs(ranks[i] - ranks[j]) > critical}


def bayesian_signed_rank(differences: Sequence[float], region: float) -> Posterior:
    """The Bayesian signed-rank test (Benavoli et al. 2014, 2017) of one difference per dataset,
    with ±`region` as the region of practical equivalence.

    The datasets and one pseudo-dataset without a difference receive Dirichlet weights. In each draw
    the averages of two differences lie below, within or above the region with some weight; the
    probability of a place is the share of draws in which it has the most.
    """
    import numpy as np

    values = np.array([0.0, *differences])
    prior = [_PRIOR, *[1.0] * len(differences)]
    weights = np.random.default_rng(_SEED).dirichlet(prior, POSTERIOR_DRAWS)
    averages = (values[:, None] + values) / 2

    def weight_of(beyond: Any) -> Any:
        """The weight of the averages beyond an edge, in each draw; those on the edge count half."""
        part = np.heaviside(beyond, 0.5)
        return ((weights @ part) * weights).sum(axis=1)

    below, above = weight_of(-region - averages), weight_of(averages - region)
    winners = np.argmax([below, 1 - below - above, above], axis=0)
    shares = np.bincount(winners, minlength=3) / POSTERIOR_DRAWS
    return Posterior(*shares.tolist())


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """How far two rankings agree: τ-b, 1 for the same order, −1 for the reverse."""
    if len(first) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic)
