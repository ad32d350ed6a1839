"""Against SciPy where it has the test, against printed tables and counting by hand elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from okbench.reports import statistics

DRAW = np.random.default_rng(5)


@pytest.mark.parametrize("n", [6, 12, 20, 60])
def test_paired_tests_agree_with_scipy(n: int) -> None:
    differences = DRAW.normal(0.4, 1.0, n).tolist()
    found = statistics.paired_differences(differences)
    theirs = stats.ttest_1samp(differences, 0.0)
    low, high = theirs.confidence_interval(0.95)
    assert found is not None
    assert (found.n, found.mean) == (n, pytest.approx(np.mean(differences)))
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.t_test == pytest.approx(theirs.pvalue)
    assert found.wilcoxon == pytest.approx(stats.wilcoxon(differences).pvalue)


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


def test_rank_sums_agree_with_scipy() -> None:
    first, second = DRAW.integers(0, 9, 15).tolist(), DRAW.integers(2, 12, 14).tolist()
    theirs = stats.mannwhitneyu(first, second, method="asymptotic").pvalue
    assert statistics.rank_sum(first, second) == pytest.approx(theirs)
    assert statistics.rank_sum([1.0] * 12, [1.0] * 12) == 1.0


def test_holm_multiplies_the_smallest_most_and_keeps_the_order() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.6, 0.7]) == [1.0, 1.0]
    assert statistics.holm([]) == []


def test_average_ranks_share_ties() -> None:
    assert statistics.average_ranks([[3.0, 1.0, 1.0], [1.0, 2.0, 3.0]]) == [2.0, 1.75, 2.25]


def test_friedman_agrees_with_scipy() -> None:
    scores = DRAW.integers(0, 6, (9, 4)).tolist()
    theirs = stats.friedmanchisquare(*zip(*scores, strict=True)).pvalue
    assert statistics.friedman(scores) == pytest.approx(theirs)
    assert statistics.friedman(scores[:1]) is None
    assert statistics.friedman([[1.0] * 3] * 4) == 1.0


@pytest.mark.parametrize(
    ("learners", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)]
)  # Demšar 2006, Table 5 (a)
def test_the_critical_difference_is_the_printed_one(learners: int, q: float) -> None:
    expected = q * math.sqrt(learners * (learners + 1) / (6 * 14))
    assert statistics.critical_difference(learners, 14) == pytest.approx(expected, abs=1e-3)
    assert statistics.critical_difference(learners, 1) is None


def test_kendall_agrees_with_scipy() -> None:
    first, second = DRAW.integers(0, 8, 10).tolist(), DRAW.integers(0, 8, 10).tolist()
    assert statistics.kendall(first, second) == pytest.approx(
        stats.kendalltau(first, second).statistic
    )
    assert statistics.kendall([1.0, 2.0], [1.0, 2.0]) is None
    assert statistics.kendall([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None
