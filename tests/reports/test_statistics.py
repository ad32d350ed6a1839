"""Against plain renderings of the textbook formulas, printed tables, and counting by hand."""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy import special, stats

from okbench.reports import statistics

DRAW = np.random.default_rng(5)


def random_pairs(seed: int) -> tuple[list[float], list[float]]:
    """Two samples, with many ties where the seed is odd."""
    draw = np.random.default_rng(seed)
    n, m = draw.integers(6, 70, 2)
    if seed % 2:
        return (draw.integers(-3, 6, n) / 7).tolist(), (draw.integers(-3, 6, m) / 7).tolist()
    return draw.normal(0.3, 1.0, n).tolist(), draw.normal(0.0, 1.0, m).tolist()


def ranks_of(values: list[float]) -> list[float]:
    """One plus the number of smaller values, plus half the number of equal others."""
    return [
        sum(other < one for other in values) + (sum(other == one for other in values) + 1) / 2
        for one in values
    ]


@pytest.mark.parametrize("seed", range(100))
def test_paired_tests_are_those_of_the_textbook(seed: int) -> None:
    differences, _ = random_pairs(seed)
    n, mean, found = (
        len(differences),
        fmean(differences),
        statistics.paired_differences(differences),
    )
    error = stdev(differences) / math.sqrt(n)
    half = special.stdtrit(n - 1, 0.975) * error
    assert found is not None
    assert (found.n, found.mean) == (n, mean)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), rel=1e-11)
    assert found.t_test == pytest.approx(2 * special.stdtr(n - 1, -abs(mean) / error), rel=1e-12)


@pytest.mark.parametrize("n", [6, 12, 20, 50])
def test_signed_ranks_without_ties_are_scipy_s_exact_ones(n: int) -> None:
    for _ in range(20):
        differences = DRAW.normal(0.4, 1.0, n).tolist()
        theirs = stats.wilcoxon(differences, method="exact").pvalue
        assert statistics.signed_rank(differences) == pytest.approx(theirs, rel=1e-12)


def test_signed_ranks_of_many_pairs_are_approximately_normal() -> None:
    for ties in (False, True):
        differences = DRAW.normal(0.4, 1.0, 60)
        moved = [d for d in (np.round(differences, 1) if ties else differences).tolist() if d]
        ranks = ranks_of([abs(d) for d in moved])
        above = sum(rank for rank, d in zip(ranks, moved, strict=True) if d > 0)
        spread = math.sqrt(sum(rank**2 for rank in ranks)) / 2
        expected = math.erfc(abs(sum(ranks) / 2 - above) / spread / math.sqrt(2))
        assert statistics.signed_rank(moved) == pytest.approx(expected, rel=1e-12)


def test_pairs_are_those_of_the_same_row_order() -> None:
    first = {r: 10.0 + r for r in range(8)}
    second = {r: 9.0 + r for r in range(2, 12)}
    found = statistics.paired(first, second)
    assert found is not None
    assert (found.n, found.mean, found.decided) == (6, 1.0, True)


def test_too_few_pairs_cannot_decide() -> None:
    assert statistics.paired_differences([1.0] * 5) is None
    assert statistics.paired_differences([1.0] * 6 + [math.nan]) is None


def test_no_difference_at_all_is_certain_to_happen_by_chance() -> None:
    found = statistics.paired_differences([0.0] * 10)
    assert found is not None
    assert (found.t_test, found.wilcoxon, found.decided) == (1.0, 1.0, False)


def test_the_same_difference_in_every_pair_is_decided() -> None:
    found = statistics.paired_differences([0.5] * 10)
    assert found is not None
    assert (found.t_test, found.low, found.decided) == (0.0, 0.5, True)


def test_signed_ranks_with_ties_are_counted_out() -> None:
    # ranks of |1, 1, 2|: 1½, 1½, 3; W⁻ = 0 in 1 of 8 ways
    assert statistics.signed_rank([1.0, 1.0, 2.0]) == 2 / 8
    # −1 has 1½; sums of at most 1½: {}, {1½}, {1½} of 8
    assert statistics.signed_rank([-1.0, 1.0, 2.0]) == 6 / 8


@pytest.mark.parametrize("seed", range(100))
def test_rank_sums_are_those_of_the_textbook(seed: int) -> None:
    first, second = random_pairs(seed)
    n, m, size = len(first), len(second), len(first) + len(second)
    ranks = ranks_of([*first, *second])
    ties = sum(count**3 - count for count in Counter(ranks).values())
    spread = math.sqrt(n * m / (12 * size * (size - 1)) * (size**3 - size - ties))
    distance = abs(sum(ranks[:n]) - n * (size + 1) / 2) - 0.5
    expected = math.erfc(max(0.0, distance) / spread / math.sqrt(2))
    assert statistics.rank_sum(first, second) == pytest.approx(expected, rel=1e-12)


def test_rank_sums_of_equal_values_decide_nothing() -> None:
    assert statistics.rank_sum([1.0] * 12, [1.0] * 12) == 1.0


def test_holm_multiplies_the_smallest_most_and_keeps_the_order() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.6, 0.7]) == [1.0, 1.0]
    assert statistics.holm([]) == []


def test_average_ranks_share_ties() -> None:
    assert statistics.average_ranks([[3.0, 1.0, 1.0], [1.0, 2.0, 3.0]]) == [2.0, 1.75, 2.25]


@pytest.mark.parametrize("high", [3, 6, 1000])
def test_friedman_is_that_of_the_textbook(high: int) -> None:
    for _ in range(35):
        scores = DRAW.integers(0, high, (9, 4)).tolist()
        ranks = [ranks_of(row) for row in scores]
        squares = sum(rank**2 for row in ranks for rank in row)
        columns = sum(sum(column) ** 2 for column in zip(*ranks, strict=True))
        expected = 9 * 4 * 5**2 / 4
        statistic = 3 * (columns - 9 * expected) / (squares - expected)
        chance = special.chdtrc(3, statistic)
        assert statistics.friedman(scores) == pytest.approx(chance, rel=1e-11)
        averages = [fmean(column) for column in zip(*ranks, strict=True)]
        assert statistics.average_ranks(scores) == pytest.approx(averages, rel=1e-15)


def test_friedman_needs_two_rows_and_three_columns_that_differ() -> None:
    assert statistics.friedman([]) is None
    assert statistics.friedman([[1.0, 2.0, 3.0]]) is None
    assert statistics.friedman([[1.0, 2.0]] * 4) is None
    assert statistics.friedman([[1.0] * 3] * 4) == 1.0


@pytest.mark.parametrize(
    ("learners", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)]
)  # Demšar 2006, Table 5 (a)
def test_the_critical_difference_is_the_printed_one(learners: int, q: float) -> None:
    expected = q * math.sqrt(learners * (learners + 1) / (6 * 14))
    assert statistics.critical_difference(learners, 14) == pytest.approx(expected, abs=1e-3)
    assert statistics.critical_difference(learners, 1) is None


def test_kendall_counts_pairs_in_the_same_order() -> None:
    for _ in range(100):
        first, second = DRAW.integers(0, 8, 10).tolist(), DRAW.integers(0, 8, 10).tolist()
        pairs = [
            (np.sign(first[a] - first[b]), np.sign(second[a] - second[b]))
            for a in range(10)
            for b in range(a)
        ]
        moved = math.prod(sum(pair[side] != 0 for pair in pairs) for side in (0, 1))
        expected = sum(x * y for x, y in pairs) / math.sqrt(moved)
        assert statistics.kendall(first, second) == pytest.approx(expected, abs=1e-15)


def test_kendall_of_too_few_or_of_equal_values_is_undecided() -> None:
    assert statistics.kendall([1.0, 2.0], [1.0, 2.0]) is None
    assert statistics.kendall([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None


def test_nearly_equal_differences_give_no_warning() -> None:
    found = statistics.paired_differences([0.1, 0.1, 0.30000000000000004 - 0.2] * 3)
    assert found is not None
    assert found.t_test < 1e-90
