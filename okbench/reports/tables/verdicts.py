"""How a measured cell stands to the number a paper prints for it, and what that rests on.

The outcome:

    as printed        the mean, rounded or cut off to the printed digits, is the printed number
    within            no difference is seen; `smallest` is the one that would have been
    better, worse     they differ, and ours is the better or the worse one
    not measured      no trial is done
    too few trials    fewer than ENOUGH are done
    nothing printed   the paper prints no number there
    cannot say        one trial and no deviation: nothing can be computed

What it rests on is the weakest of the settings and the preparation of the rows, by the scale of
`okbench.papers.provenance`. It never changes the outcome.

A difference is seen by Welch's test at 5 %, corrected after Holm for all cells of the table, with
the most favourable values that the rounding of the printed mean and deviation allows. A learner
without random numbers has no noise on published permutations: there its mean is the printed one, or
it differs. docs/verdicts.md gives the reasons.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Literal, get_args

from okbench.papers.provenance import BASES, Basis
from okbench.reports.statistics import (
    Sample,
    holm,
    printed_sample,
    sample,
    smallest_visible_difference,
    welch_interval,
    welch_test,
)
from okbench.reports.tables.cells import Cell, CellKey

Result = Literal[
    "as printed", "within", "better", "worse", "not measured", "too few trials", "nothing printed",
    "cannot say",
]  # fmt: skip
RESULTS: tuple[Result, ...] = get_args(Result)
AGREES: tuple[Result, ...] = ("as printed", "within")
ENOUGH = 5  # trials, unless the paper itself ran fewer
ALPHA = 0.05
_FIRST_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Judgement:
    """An outcome, what it rests on, why, and the interval of ours minus the paper's.

    `because` names the settings or rows that make it rest there. `smallest` is the smallest
    difference that would have been seen, `p` the corrected p value of no difference.
    """

    outcome: Result
    reason: str
    rests_on: Basis = "printed"
    because: tuple[str, ...] = ()
    interval: tuple[float, float] | None = None
    smallest: float | None = None
    p: float | None = None

    @property
    def measured(self) -> bool:
        return self.outcome not in ("not measured", "too few trials", "nothing printed")


def judge_all(cells: Mapping[CellKey, Cell]) -> dict[CellKey, Judgement]:
    """The verdicts on all cells of a table, which are one family of tests."""
    found = {key: _alone(cell) for key, cell in cells.items()}
    tested = {key: one.p for key, one in found.items() if one.p is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {
        key: _decided(cells[key], one, corrected[key]) if key in corrected else one
        for key, one in found.items()
    }


def judge(cell: Cell) -> Judgement:
    """The verdict on a cell that is a table of its own."""
    return judge_all({(cell.dataset, cell.learner): cell})[cell.dataset, cell.learner]


def count_outcomes(judged: Iterable[Judgement]) -> dict[Basis, Counter[Result]]:
    """How many of the measured cells have which outcome, by what they rest on."""
    counts: dict[Basis, Counter[Result]] = {basis: Counter() for basis in BASES}
    for one in judged:
        if one.measured:
            counts[one.rests_on][one.outcome] += 1
    return {basis: count for basis, count in counts.items() if count}


def count_words(judged: Sequence[Judgement]) -> str:
    """The counts of both axes in a sentence. Agreement by a fit stands apart from the other."""
    measured = [one for one in judged if one.measured]
    waiting = Counter(one.outcome for one in judged)
    fitted = [one for one in measured if one.rests_on == "fitted"]
    rest = [one for one in measured if one.rests_on != "fitted"]
    parts = [f"{_shares(rest)} without a fitted setting or fitted rows"] if rest else []
    parts += [f"{_shares(fitted)} with one"] if fitted else []
    parts += [f"{n} not measured"] if (n := waiting["not measured"]) else []
    parts += [f"{n} with too few trials"] if (n := waiting["too few trials"]) else []
    return "; ".join(parts)


def _shares(judged: Sequence[Judgement]) -> str:
    counts = Counter(one.outcome for one in judged)
    listed = ", ".join(f"{counts[one]} {one}" for one in RESULTS if counts[one])
    return f"{sum(counts[one] for one in AGREES)} of {len(judged)} agree ({listed})"


def _alone(cell: Cell) -> Judgement:
    """The verdict on a cell before the correction. `p` is there where a test takes part in it."""
    if cell.printed is None or cell.printed.mean is None:
        return Judgement("nothing printed", "nothing printed")
    wanted = max(cell.expected, cell.runs)
    if not cell.values or cell.mean is None or cell.na:
        return Judgement("not measured", cell.shortfall or "nothing measured")
    if cell.n < min(ENOUGH, cell.runs or ENOUGH):
        return Judgement("too few trials", f"{cell.n} of {wanted} are done")
    short = "" if cell.complete else f", by {cell.n} of {wanted} trials"
    because = tuple(one.words for one in cell.ingredients if one.basis == cell.rests_on)
    found = Judgement(
        "as printed", "", cell.rests_on, () if cell.rests_on == "printed" else because
    )
    equal = equal_as_printed(cell.mean, cell.printed.text)
    if equal:
        return replace(found, reason=f"{cell.mean:.6g} is printed so{short}", p=1.0)
    if must_be_equal(cell):
        worse = (cell.mean > cell.printed.mean) == cell.lower_is_better
        reason = "not the printed number, on the published permutations and without random numbers"
        return replace(found, outcome="worse" if worse else "better", reason=reason)
    pair = samples(cell)
    if pair is None:
        return replace(found, outcome="cannot say", reason="one trial has no deviation")
    low, high = interval = welch_interval(*pair)
    reason = f"ours minus the paper's is between {low:+.4g} and {high:+.4g}{short}"
    return replace(
        found,
        outcome="within",
        reason=reason,
        interval=interval,
        smallest=smallest_visible_difference(*pair),
        p=welch_test(*pair),
    )


def _decided(cell: Cell, found: Judgement, p: float) -> Judgement:
    """The verdict once its p value is corrected for the other cells of the table."""
    if found.outcome != "within" or found.interval is None:
        return replace(found, p=None)
    if p < ALPHA:
        lower = found.interval[1] < 0
        better = lower == cell.lower_is_better
        return replace(found, outcome="better" if better else "worse", p=p)
    reason = f"{found.reason}; a difference of {found.smallest:.3g} would have been seen"
    if found.p is not None and found.p < ALPHA:
        reason += "; outside the interval, but not once corrected for the cells of the table"
    return replace(found, reason=reason, p=p)


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


def must_be_equal(cell: Cell) -> bool:
    """Whether nothing random is in our mean nor in the printed one."""
    filler = bool(cell.printed and cell.printed.filler)
    return cell.exact and cell.n == cell.runs and not filler


def difference_interval(cell: Cell) -> tuple[float, float] | None:
    """Where ours minus the paper's lies; None when there is no deviation to judge by."""
    pair = samples(cell)
    return welch_interval(*pair) if pair else None


def samples(cell: Cell) -> tuple[Sample, Sample] | None:
    """Ours and the paper's. Where the paper prints no deviation, ours is taken for both; where it
    prints a filler, its number is taken for that of a single permutation."""
    printed, spread, mean = cell.printed, cell.std, cell.mean
    if printed is None or printed.mean is None or spread is None or mean is None:
        return None
    text = printed.text.partition("±")[0] if printed.filler else printed.text
    theirs = printed_sample(text, 1 if printed.filler else cell.runs, spread)
    return (sample(mean, spread, cell.n), theirs) if theirs else None
