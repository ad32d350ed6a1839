"""Against textbook formulas, printed examples, full enumeration, and another implementation."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest
from scipy import special, stats

from okbench.reports.compare import rank_tests

DRAW = np.random.default_rng(5)

# Demšar 2006, Table 6: four variants of C4.5 on fourteen datasets (AUC)
C45 = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],  # printed as equal, and ranked by further digits
    [0.957, 0.978, 0.946, 0.970],
]


def ranks_of(values: list[float]) -> list[float]:
    """One plus the number of smaller values, plus half the number of equal others."""
    return [
        sum(other < one for other in values) + (sum(other == one for other in values) + 1) / 2
        for one in values
    ]


def test_average_ranks_share_ties() -> None:
    assert rank_tests.average_ranks([[3.0, 1.0, 1.0], [1.0, 2.0, 3.0]]) == [2.0, 1.75, 2.25]


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
        assert rank_tests.friedman(scores) == pytest.approx(chance, rel=1e-11)
        averages = [fmean(column) for column in zip(*ranks, strict=True)]
        assert rank_tests.average_ranks(scores) == pytest.approx(averages, rel=1e-15)


def test_friedman_needs_two_rows_and_three_columns_that_differ() -> None:
    assert rank_tests.friedman([]) is None
    assert rank_tests.friedman([[1.0, 2.0, 3.0]]) is None
    assert rank_tests.friedman([[1.0, 2.0]] * 4) is None
    assert rank_tests.friedman([[1.0] * 3] * 4) == 1.0


@pytest.mark.parametrize(
    ("learners", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)]
)  # Demšar 2006, Table 5 (a)
def test_the_critical_difference_is_the_printed_one(learners: int, q: float) -> None:
    expected = q * math.sqrt(learners * (learners + 1) / (6 * 14))
    assert rank_tests.critical_difference(learners, 14) == pytest.approx(expected, abs=1e-3)
    assert rank_tests.critical_difference(learners, 1) is None


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
        assert rank_tests.kendall(first, second) == pytest.approx(expected, abs=1e-15)


def test_kendall_of_too_few_or_of_equal_values_is_undecided() -> None:
    assert rank_tests.kendall([1.0, 2.0], [1.0, 2.0]) is None
    assert rank_tests.kendall([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None


def test_the_ranks_of_a_printed_example_are_the_printed_ones() -> None:
    ranks = rank_tests.average_ranks([[-value for value in row] for row in C45])
    assert ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    # the paper does not correct for ties, so that its χ² of 9.28 and F of 3.69 are smaller
    uncorrected = 12 * 14 / 20 * (sum(rank**2 for rank in ranks) - 25)
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert rank_tests.friedman(C45) == pytest.approx(special.chdtrc(3, 9.28), abs=0.01)
    assert rank_tests.iman_davenport(C45) == pytest.approx(stats.f.sf(3.69, 3, 39), abs=0.01)
    assert rank_tests.critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize("high", [3, 6, 1000])
def test_iman_and_davenport_s_f_is_that_of_a_two_way_analysis_of_ranks(high: int) -> None:
    for _ in range(35):
        scores = DRAW.integers(0, high, (9, 4)).tolist()
        ranks = np.array([ranks_of(row) for row in scores])
        between = 9 * ((ranks.mean(axis=0) - 2.5) ** 2).sum()
        rest = ((ranks - 2.5) ** 2).sum() - between
        expected = stats.f.sf((between / 3) / (rest / 24), 3, 24)
        assert rank_tests.iman_davenport(scores) == pytest.approx(expected, rel=1e-9)


def test_iman_and_davenport_s_edges() -> None:
    assert rank_tests.iman_davenport([[1.0, 2.0, 3.0]]) is None
    assert rank_tests.iman_davenport([[1.0] * 3] * 4) == 1.0
    assert rank_tests.iman_davenport([[1.0, 2.0, 3.0]] * 4) == 0.0


@pytest.mark.parametrize("seed", range(30))
def test_tied_groups_are_the_largest_of_all_subsets(seed: int) -> None:
    draw = np.random.default_rng(seed)
    count = 6
    pairs = list(combinations(range(count), 2))
    different = {pair for pair in pairs if draw.random() < 0.5}
    alike = [
        set(group)
        for size in range(2, count + 1)
        for group in combinations(range(count), size)
        if not different & set(combinations(group, 2))
    ]
    expected = [group for group in alike if not any(group < other for other in alike)]
    found = rank_tests.tied_groups(count, different)
    assert sorted(found) == found
    assert sorted(map(sorted, expected)) == [list(group) for group in found]


def test_ranks_far_apart_are_those_beyond_the_critical_difference() -> None:
    assert rank_tests.far_apart([1.0, 2.0, 3.5], 1.5) == {(0, 2)}
    assert rank_tests.tied_groups(3, {(0, 2)}) == [(0, 1), (1, 2)]


def test_bootstrap_intervals_are_those_of_all_resamples() -> None:
    scores = DRAW.normal(size=(5, 4)).tolist()
    ranks = np.array([ranks_of(row) for row in scores])
    every = np.array([ranks[list(rows)].mean(axis=0) for rows in product(range(5), repeat=5)])
    low, high = np.quantile(every, [0.025, 0.975], axis=0)
    found = rank_tests.rank_intervals(scores)
    assert found is not None
    # a mean of five ranks moves in steps of 0.2: by one step a percentile may be off
    assert [one for one, _ in found] == pytest.approx(low.tolist(), abs=0.21)
    assert [other for _, other in found] == pytest.approx(high.tolist(), abs=0.21)
    assert rank_tests.rank_intervals(scores) == found


def test_the_bootstrap_interval_of_a_mean_is_nearly_normal_for_many_values() -> None:
    values = DRAW.normal(3.0, 1.0, 400).tolist()
    error = np.std(values) / math.sqrt(400)
    expected = fmean(values) - 1.96 * error, fmean(values) + 1.96 * error
    assert rank_tests.mean_interval(values) == pytest.approx(expected, abs=0.1 * error)


def test_few_datasets_have_no_bootstrap_interval() -> None:
    assert rank_tests.rank_intervals([[1.0, 2.0]] * 4) is None
    assert rank_tests.mean_interval([1.0] * 4) is None


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([0.4, -1.2, 2.5, 3.1, 0.2, -0.3, 1.9, 4.0, 0.8], (0.000105, 0.365345, 0.63455)),
        ([-0.5, 1.5, 0.6, -2.2, 0.1, 0.9, -1.1, 0.3], (0.01258, 0.985245, 0.002175)),
        ([1.2, 1.4, 0.9, 2.0, 1.1], (0.0, 0.09903, 0.90097)),
    ],
)
def test_the_bayesian_signed_rank_test_is_that_of_baycomp(
    differences: list[float], expected: tuple[float, float, float]
) -> None:
    # baycomp 1.0.3, SignedRankTest.probs with rope=1, 200 000 draws
    found = rank_tests.bayesian_signed_rank(differences, 1.0)
    assert (found.below, found.within, found.above) == pytest.approx(expected, abs=0.008)
    turned = rank_tests.bayesian_signed_rank([-each for each in differences], 1.0)
    assert (turned.above, turned.within) == pytest.approx((found.below, found.within), abs=1e-9)


def test_one_dataset_leaves_the_bayesian_test_a_beta_distribution() -> None:
    # The weight w of the one difference 3 has the distribution Beta(1, ½). The averages 3 (w²) and
    # 1.5 (2w (1 − w)) are above 1, and 0 is within: above has the most if 1 − (1 − w)² > ½.
    expected = stats.beta.sf(1 - math.sqrt(0.5), 1, 0.5)
    found = rank_tests.bayesian_signed_rank([3.0], 1.0)
    assert found.above == pytest.approx(expected, abs=0.008)
    assert found.below == 0.0


def test_without_a_region_averages_on_its_edge_count_half() -> None:
    found = rank_tests.bayesian_signed_rank([1.0, -1.0], 0.0)
    assert found.within == 0.0
    assert found.below == pytest.approx(0.5, abs=0.01)
