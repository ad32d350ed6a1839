"""How a measured cell stands to the number a paper prints for it.

    as printed   the mean, rounded or cut off to the printed digits, is the printed number
    within       the paper's number lies inside the interval of the difference
    better       it lies outside, and ours is the better one
    worse        it lies outside, and ours is the worse one
    cannot say   too few trials, nothing printed, or a setting the paper does not give

The interval is Welch's at 95 % for the difference of two means, widened by what the paper's
rounding hides: a printed 35.2 stands for anything from 35.15 up to 35.3. Where no deviation is
printed, ours is taken for the paper's too.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Literal

from okbench.reports.tables.cells import Cell

Verdict = Literal["as printed", "within", "better", "worse", "cannot say"]
ENOUGH = 5  # trials, unless the paper itself ran fewer
LEVEL = 0.95
_FIRST_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Judgement:
    """A verdict, what it rests on in words, and the interval of ours minus the paper's."""

    verdict: Verdict
    reason: str
    interval: tuple[float, float] | None = None


def judge(cell: Cell) -> Judgement:
    """The verdict on a cell."""
    doubt = _doubt(cell)
    if doubt:
        return Judgement("cannot say", doubt)
    assert cell.printed is not None
    assert cell.printed.mean is not None
    assert cell.mean is not None
    if equal_as_printed(cell.mean, cell.printed.text):
        return Judgement("as printed", f"{cell.mean:.6g} is printed so")
    interval = difference_interval(cell)
    if interval is None:
        return Judgement("cannot say", "one trial has no interval")
    low, high = interval
    words = f"ours minus the paper's is between {low:+.4g} and {high:+.4g}"
    if low <= 0 <= high:
        return Judgement("within", words, interval)
    lower = high < 0
    return Judgement("better" if lower == cell.lower_is_better else "worse", words, interval)


def _doubt(cell: Cell) -> str:
    """Why a cell has no verdict but "cannot say"; empty when it has another."""
    if cell.printed is None or cell.printed.mean is None:
        return "nothing printed"
    if not cell.values:
        return "nothing measured"
    if not cell.complete or cell.n < min(ENOUGH, cell.runs or ENOUGH):
        return f"too few trials ({cell.n} of {max(cell.expected, cell.runs)})"
    if cell.inferred:
        return f"the paper does not give: {', '.join(cell.inferred)}"
    return ""


def equal_as_printed(value: float, text: str) -> bool:
    """Whether a value is what the text prints, once rounded or cut off to the printed digits."""
    found = _FIRST_NUMBER.search(text)
    if not found or not math.isfinite(value):
        return False
    printed = Decimal(found[0].replace(",", ""))
    exact = Decimal(f"{value:.12g}")  # 29.949999999999996 is meant as 29.95
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    ways = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)
    return any((exact / unit).quantize(Decimal(1), way) * unit == printed for way in ways)


def difference_interval(cell: Cell) -> tuple[float, float] | None:
    """Where ours minus the paper's lies; None when there is no spread to judge by."""
    printed, spread, mean = cell.printed, cell.std, cell.mean
    if printed is None or printed.mean is None or spread is None or mean is None:
        return None
    theirs = spread if printed.std is None else printed.std
    variances = (spread**2 / cell.n, theirs**2 / cell.runs if cell.runs else 0.0)
    half = _t_quantile(_welch(variances, (cell.n, cell.runs))) * math.sqrt(sum(variances))
    unit = _unit(printed.text)
    offset = mean - printed.mean
    return offset - half - unit, offset + half + unit / 2


def _unit(text: str) -> float:
    """One in the last printed digit."""
    found = _FIRST_NUMBER.search(text)
    return 10.0 ** int(Decimal(found[0].replace(",", "")).as_tuple().exponent) if found else 0.0


def _welch(variances: tuple[float, float], counts: tuple[int, int]) -> float:
    """Degrees of freedom of the difference of two means (Welch 1947)."""
    total = sum(variances)
    pairs = zip(variances, counts, strict=True)
    parts = sum(variance**2 / (count - 1) for variance, count in pairs if count > 1)
    return total**2 / parts if parts else math.inf


def _t_quantile(freedom: float) -> float:
    from scipy.special import ndtri, stdtrit

    upper = (1 + LEVEL) / 2
    return float(ndtri(upper) if math.isinf(freedom) else stdtrit(freedom, upper))
