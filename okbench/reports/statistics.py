"""Tests of whether two means differ, and of whether they are practically equal.

Two trials of two learners on one permutation are a pair: what counts is the difference within the
pair (`paired`). The trials of a paper have no partner: `welch_interval` and its relatives compare
two `Sample`s, of which one may be known only as far as it is printed. None stands for "cannot
decide": there are too few pairs for the question. SciPy computes what it has, and is imported only
when a test is asked for. docs/statistics.md explains each method.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from statistics import fmean, quantiles

FEWEST_PAIRS = 6  # with fewer pairs, Wilcoxon's test cannot reach 5 %
MOST_COUNTED = 50  # beyond so many pairs, the normal approximation is good enough
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")

Interval = tuple[float, float]


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

    @property
    def turned(self) -> Paired:
        """The same for second − first."""
        return replace(self, mean=0 - self.mean, low=0 - self.high, high=0 - self.low)  # no −0


def paired(
    first: Mapping[int, float],
    second: Mapping[int, float],
    level: float = 0.95,
    fewest: int = FEWEST_PAIRS,
) -> Paired | None:
    """The differences first − second on the permutations that both have, `fewest` or more."""
    shared = sorted(first.keys() & second.keys())
    return paired_differences([first[r] - second[r] for r in shared], level, fewest)


def paired_differences(
    differences: Sequence[float], level: float = 0.95, fewest: int = FEWEST_PAIRS
) -> Paired | None:
    """The mean of differences with its t interval, the paired t test and Wilcoxon's test."""
    n = len(differences)
    if n < fewest or not all(map(math.isfinite, differences)):
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


def paired_p(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The p value of the paired t test, two-sided. Where one side is a single value, it is tested
    as a number against the other side's sample; None where there is nothing to test with."""
    longer = max(len(first), len(second))
    if longer < 2 or min(len(first), len(second)) not in (1, longer):
        return None
    one, other = (list(side) * (longer if len(side) == 1 else 1) for side in (first, second))
    differences = [a - b for a, b in zip(one, other, strict=True)]
    if not all(map(math.isfinite, differences)):
        return None
    if len(set(differences)) == 1:  # without a deviation SciPy's t is not a number
        return 0.0 if differences[0] else 1.0
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(differences, 0.0).pvalue)


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
    ways = _ways_to_sum(tuple(sorted(doubled)))
    return min(1.0, 2 * sum(ways[: least + 1]) / 2 ** len(moved))


@lru_cache(maxsize=1024)  # without ties, all tests of so many pairs share one distribution
def _ways_to_sum(ranks: tuple[int, ...]) -> list[int]:
    """In how many ways some of the ranks add up to each total."""
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return ways


def far_out(values: Sequence[float]) -> bool:
    """Whether a value lies more than three interquartile ranges outside the quartiles ("far out",
    Tukey 1977): then the median says more about a typical trial than the mean.
    """
    low, _, high = quantiles(values, method="inclusive")
    return max(max(values) - high, low - min(values)) > 3 * (high - low)


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


def fewest_pairs(family: int = 1, alpha: float = 0.05) -> int:
    """The smallest number of pairs with which one of `family` signed-rank tests can be significant.

    The smallest p value of n pairs is 2 / 2ⁿ, and Holm multiplies the smallest of all by `family`.
    """
    return next(n for n in range(1, 1000) if family * 2.0 ** (1 - n) < alpha)


@dataclass(frozen=True)
class Sample:
    """The mean and the standard deviation (n − 1) of n trials, each as the interval in which it
    lies: a single point where the trials are known, wider where only a rounded number is known.
    An n of 0 says that the mean is exact.
    """

    mean: Interval
    std: Interval
    n: int


def sample(mean: float, std: float, n: int) -> Sample:
    """A sample whose trials are known."""
    return Sample((mean, mean), (std, std), n)


def printed_sample(text: str, n: int, std: float) -> Sample | None:
    """A sample as a paper prints it (`35.2 % ± 0.9`) for n trials; `std` is used where the text has
    no deviation. None if the text has no number.
    """
    printed, _, spread = text.partition("±")
    mean = rounding_interval(printed)
    return None if mean is None else Sample(mean, rounding_interval(spread) or (std, std), n)


def rounding_interval(text: str) -> Interval | None:
    """The values for which the first number of a text may stand, if it was rounded or cut off:
    35.15 to 35.3 for `35.2`. None if the text has no number.
    """
    found = _NUMBER.search(text)
    if not found:
        return None
    number = Decimal(found[0].replace(",", ""))
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    if number.is_signed():
        return float(number - unit), float(number + unit / 2)
    return float(max(number - unit / 2, Decimal(0))), float(number + unit)


def welch_interval(first: Sample, second: Sample, level: float = 0.95) -> Interval:
    """Where the difference of means, first − second, lies (Welch 1947): the widest interval for any
    values that the intervals of the two samples allow.
    """
    low, high = _differences(first, second)
    half = max(error * _t_quantile(freedom, level) for error, freedom in _errors(first, second))
    return low - half, high + half


def welch_test(first: Sample, second: Sample) -> float:
    """The p value of the same mean in both samples: below 5 % where `welch_interval` excludes 0."""
    low, high = _differences(first, second)
    distance = max(0.0, low, -high)
    return max(
        min(1.0, 2 * _t_tail(distance, error, freedom)) for error, freedom in _errors(first, second)
    )


def smallest_visible_difference(
    first: Sample, second: Sample, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest distance between the two true means that a Welch test at `alpha` finds with
    probability `power`. A smaller one may well go unseen, so that "within" does not exclude it.

    The power is that of the noncentral t distribution (Cohen 1988). What rounding hides is added.
    """
    from scipy.special import nctdtrinc, ndtri

    low, high = _differences(first, second)
    found = 0.0
    for error, freedom in _errors(first, second):
        t = _t_quantile(freedom, 1 - alpha)
        shift = t + ndtri(power) if math.isinf(freedom) else nctdtrinc(freedom, 1 - power, t)
        found = max(found, error * float(shift))
    return found + (high - low)


def equivalence(first: Sample, second: Sample, margin: float) -> float:
    """The p value of two one-sided tests (Schuirmann 1987) of the hypothesis that the means differ
    by `margin` or more; if it is small, they are equal for practical purposes.
    """
    low, high = _differences(first, second)
    nearest = min(margin - high, margin + low)  # to the margin, for the worst allowed values
    return max(_t_tail(nearest, error, freedom) for error, freedom in _errors(first, second))


def _differences(first: Sample, second: Sample) -> Interval:
    """The smallest and the largest difference of the means that their intervals allow."""
    return first.mean[0] - second.mean[1], first.mean[1] - second.mean[0]


def _errors(first: Sample, second: Sample) -> list[tuple[float, float]]:
    """The standard error of the difference and its degrees of freedom (Welch 1947), for each end of
    the intervals of both deviations: the result of a test is extreme at one of them.
    """
    found = []
    for deviations in ((a, b) for a in first.std for b in second.std):
        pairs = list(zip(deviations, (first.n, second.n), strict=True))
        variances = [std**2 / n if n else 0.0 for std, n in pairs]
        total = sum(variances)
        parts = sum(v**2 / (n - 1) for v, (_, n) in zip(variances, pairs, strict=True) if n > 1)
        found.append((math.sqrt(total), total**2 / parts if parts else math.inf))
    return found


def _t_quantile(freedom: float, level: float) -> float:
    """Half the width of a two-sided t interval, in standard errors."""
    from scipy.special import ndtri, stdtrit

    upper = (1 + level) / 2
    return float(ndtri(upper) if math.isinf(freedom) else stdtrit(freedom, upper))


def _t_tail(distance: float, error: float, freedom: float) -> float:
    """The probability of a t variable above distance / error."""
    from scipy.special import ndtr, stdtr

    if error == 0:
        return 0.5 if distance == 0 else float(distance < 0)
    t = distance / error
    return float(ndtr(-t) if math.isinf(freedom) else stdtr(freedom, -t))
