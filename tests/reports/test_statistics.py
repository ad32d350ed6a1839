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


def test_pairs_are_those_of_the_same_permutation() -> None:
    first = {r: 10.0 + r for r in range(8)}
    second = {r: 9.0 + r for r in range(2, 12)}
    found = statistics.paired(first, second)
    assert found is not None
    assert (found.n, found.mean, found.decided) == (6, 1.0, True)


def test_too_few_pairs_cannot_decide() -> None:
    assert statistics.paired_differences([1.0] * 5) is None
    assert statistics.paired_differences([1.0] * 6 + [math.nan]) is None


def test_turned_differences_are_those_of_the_exchanged_samples() -> None:
    first, second = (dict(enumerate(DRAW.normal(size=9))) for _ in range(2))
    one, other = statistics.paired(first, second), statistics.paired(second, first)
    assert one is not None
    assert other is not None
    assert vars(one.turned) == pytest.approx(vars(other))


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


def test_nearly_equal_differences_give_no_warning() -> None:
    found = statistics.paired_differences([0.1, 0.1, 0.30000000000000004 - 0.2] * 3)
    assert found is not None
    assert found.t_test < 1e-90


def test_the_fewest_pairs_are_those_that_reach_five_percent_after_holm() -> None:
    for family in (1, 9, 81, 405):
        n = statistics.fewest_pairs(family)
        best, one_less = (statistics.signed_rank([1.0 + i for i in range(m)]) for m in (n, n - 1))
        assert statistics.holm([best, *[1.0] * (family - 1)])[0] < 0.05
        assert statistics.holm([one_less, *[1.0] * (family - 1)])[0] >= 0.05
    assert statistics.fewest_pairs() == statistics.FEWEST_PAIRS
    assert statistics.fewest_pairs(9) == 9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("35.2 % ± 0.9", (35.15, 35.3)),
        ("0.9", (0.85, 1.0)),
        ("0.04017 ±0.00043", (0.040165, 0.04018)),
        ("4.017e-2", (4.0165e-2, 4.018e-2)),
        ("1,234", (1233.5, 1235.0)),
        ("-2.5", (-2.6, -2.45)),
        ("0.0", (0.0, 0.1)),
        ("NA", None),
    ],
)
def test_a_printed_number_stands_for_an_interval(
    text: str, expected: tuple[float, float] | None
) -> None:
    assert statistics.rounding_interval(text) == expected


@pytest.mark.parametrize("places", [0, 1, 3])
def test_the_interval_of_a_printed_number_holds_what_is_printed_so(places: int) -> None:
    for value in DRAW.uniform(0, 50, 200).tolist():
        cut_off = math.floor(value * 10**places) / 10**places
        for text in (f"{value:.{places}f}", f"{cut_off:.{places}f}"):
            low, high = statistics.rounding_interval(text) or (math.nan, math.nan)
            assert low - 1e-12 <= value <= high + 1e-12


def test_a_value_three_interquartile_ranges_outside_is_far_out() -> None:
    assert not statistics.far_out([*range(10)])
    # with an eleventh value above, the quartiles are 2.5 and 7.5, and the fence is at 22.5
    assert not statistics.far_out([*range(10), 22.4])
    assert statistics.far_out([*range(10), 22.6])
    assert statistics.far_out([*range(10), -13.6])  # quartiles 1.5 and 6.5, fence at −13.5
    assert not statistics.far_out([*range(10), -13.4])
    assert not statistics.far_out([3.0] * 8)


def known(values: list[float]) -> statistics.Sample:
    return statistics.sample(fmean(values), stdev(values), len(values))


@pytest.mark.parametrize("seed", range(40))
def test_welch_is_scipy_s(seed: int) -> None:
    first, second = random_pairs(seed)
    theirs = stats.ttest_ind(first, second, equal_var=False)
    interval = statistics.welch_interval(known(first), known(second))
    assert interval == pytest.approx(tuple(theirs.confidence_interval(0.95)), rel=1e-9)
    assert statistics.welch_test(known(first), known(second)) == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("seed", range(40))
def test_equivalence_is_two_one_sided_tests_of_scipy(seed: int) -> None:
    first, second = random_pairs(seed)
    above = stats.ttest_ind([x - 0.5 for x in first], second, equal_var=False, alternative="less")
    below = stats.ttest_ind(
        [x + 0.5 for x in first], second, equal_var=False, alternative="greater"
    )
    expected = max(above.pvalue, below.pvalue)
    assert statistics.equivalence(known(first), known(second), 0.5) == pytest.approx(expected)


def test_rounding_widens_welch_s_interval_to_the_extremes_of_what_it_allows() -> None:
    ours = statistics.sample(34.8, 0.9, 5)
    printed = statistics.printed_sample("35.2 % ± 0.4", 20, std=9.9)
    assert printed is not None
    assert printed.std == (0.35, 0.5)
    allowed = [
        statistics.welch_interval(ours, statistics.sample(mean, std, 20))
        for mean in np.linspace(35.15, 35.3, 13).tolist()
        for std in np.linspace(0.35, 0.5, 13).tolist()
    ]
    extremes = min(low for low, _ in allowed), max(high for _, high in allowed)
    assert statistics.welch_interval(ours, printed) == pytest.approx(extremes, rel=1e-12)


def test_the_p_value_and_the_interval_decide_alike() -> None:
    printed = statistics.printed_sample("35.2 ± 0.9", 20, std=1.0)
    assert printed is not None
    for mean in np.linspace(33.5, 37.0, 71).tolist():
        ours = statistics.sample(mean, 1.1, 20)
        low, high = statistics.welch_interval(ours, printed)
        assert (statistics.welch_test(ours, printed) < 0.05) == (not low <= 0 <= high)


def test_without_a_printed_deviation_another_stands_in() -> None:
    printed = statistics.printed_sample("35.2", 20, std=0.7)
    assert printed == statistics.Sample((35.15, 35.3), (0.7, 0.7), 20)
    assert statistics.printed_sample("NA", 20, std=0.7) is None


def test_samples_without_spread_are_compared_by_their_means_alone() -> None:
    ours, printed = statistics.sample(10.0, 0.0, 5), statistics.Sample((10.0, 10.1), (0.0, 0.0), 5)
    assert statistics.welch_interval(ours, printed) == pytest.approx((-0.1, 0.0))
    assert statistics.welch_test(ours, printed) == 1.0
    assert statistics.welch_test(statistics.sample(9.0, 0.0, 5), printed) == 0.0
    assert statistics.equivalence(ours, printed, 0.2) == 0.0
    assert statistics.equivalence(ours, printed, 0.05) == 1.0
    assert statistics.smallest_visible_difference(ours, printed) == pytest.approx(0.1)


def test_the_smallest_visible_difference_is_cohen_s() -> None:
    # two groups of 20 and of 64, α = 0.05 two-sided, power 0.8: d = 0.909 and 0.500 (G*Power)
    for n, d in ((20, 0.9091), (64, 0.4990)):
        unit = statistics.sample(0.0, 1.0, n)
        assert statistics.smallest_visible_difference(unit, unit) == pytest.approx(d, abs=1e-4)


def test_the_smallest_visible_difference_is_seen_four_times_in_five() -> None:
    ours, theirs = statistics.sample(0.0, 2.0, 8), statistics.sample(0.0, 1.0, 20)
    shift = statistics.smallest_visible_difference(ours, theirs)
    draw = np.random.default_rng(3)
    first, second = draw.normal(shift, 2.0, (20_000, 8)), draw.normal(0.0, 1.0, (20_000, 20))
    seen = stats.ttest_ind(first, second, axis=1, equal_var=False).pvalue < 0.05
    assert seen.mean() == pytest.approx(0.8, abs=0.015)


def test_an_exact_printed_mean_is_a_one_sample_test() -> None:
    ours, exact = statistics.sample(10.0, 2.0, 12), statistics.Sample((9.0, 9.0), (2.0, 2.0), 0)
    half = stats.t.ppf(0.975, 11) * 2 / math.sqrt(12)
    assert statistics.welch_interval(ours, exact) == pytest.approx((1 - half, 1 + half))
