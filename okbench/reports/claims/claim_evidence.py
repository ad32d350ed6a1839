"""What a dataset says to a comparison: yes, no or not decided; as measured, or as printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from okbench.papers.table_types import Table
from okbench.reports.claims.claims_file import CLOCKS, ClaimTest, Ratio
from okbench.reports.statistics import paired
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import ENOUGH

NOISE = 1.05  # a ratio of seconds this near to the one asked for decides nothing


@dataclass(frozen=True)
class Evidence:
    """What one dataset says, with its figures. `missing` names the learners still to be run."""

    dataset: str
    holds: bool | None
    figures: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Side:
    """The learner that speaks for a side, and its value."""

    cell: Cell
    value: float


Value = Callable[[Cell], float | None]
Judge = Callable[[Report, ClaimTest, str], Evidence | None]


def measured_evidence(report: Report, test: ClaimTest, dataset: str) -> Evidence | None:
    """What was measured on a dataset; None when the paper leaves a whole side of it out."""
    ours, theirs = _cells(report, test, dataset)
    ours = [cell for cell in ours if not cell.left_out]
    theirs = [cell for cell in theirs if not cell.left_out]
    if not ours or not theirs:
        return None
    value = _VALUES[test.measure]
    absent = [cell for cell in (*ours, *theirs) if not _counts(cell) or value(cell) is None]
    if absent:
        names = tuple(cell.learner for cell in absent)
        text = ", ".join(f"{cell.learner} {cell.shortfall or 'not recorded'}" for cell in absent)
        return Evidence(dataset, None, text, names)
    if test.measure in CLOCKS:
        crowded = tuple(cell.learner for cell in (*ours, *theirs) if not cell.timed)
        if crowded:
            return Evidence(dataset, None, f"not timed alone: {', '.join(crowded)}", crowded)
        if len({found for cell in (*ours, *theirs) for found in cell.environments}) > 1:
            return Evidence(dataset, None, "seconds of several machines or versions")
    left, right = _sides(report, test, value, ours, theirs)
    if test.measure == "score" and test.times == 1.0:
        return _paired(report, test, left, right)
    return _by_ratio(report, test, left, right, NOISE if test.measure in CLOCKS else 1.0)


def _counts(cell: Cell) -> bool:
    """Whether every trial has ended and enough of them with a number: nine of ten do."""
    ended = cell.n + sum(cell.statuses.values())
    return cell.complete or (cell.n >= ENOUGH and ended >= cell.expected)


def configured(ratio: Ratio, table: Table, dataset: str) -> Evidence:
    """What the settings of a dataset say, which no outcome can change."""
    first, second = (
        table.settings[dataset, name][ratio.setting].value for name in (ratio.learner, ratio.other)
    )
    assert isinstance(first, int | float)
    assert isinstance(second, int | float)
    found = first / second
    text = f"{ratio.setting}: {ratio.learner} {first:g}, {found:g} times {ratio.other} {second:g}"
    return Evidence(dataset, found in ratio.values, text)


def printed(report: Report, test: ClaimTest, dataset: str) -> Evidence | None:
    """What the paper itself prints of a dataset; None when it prints nothing on one side."""
    value = _PRINTED.get(test.measure)
    if value is None:
        return None
    ours, theirs = _cells(report, test, dataset)
    lost = [c for c in (*ours, *theirs) if c.printed and c.printed.note and value(c) is None]
    ours = [cell for cell in ours if value(cell) is not None]
    theirs = [cell for cell in theirs if value(cell) is not None]
    if lost:
        return Evidence(
            dataset, None, ", ".join(f"{c.learner}: {c.printed.note}" for c in lost if c.printed)
        )
    if not ours or not theirs:
        return None
    left, right = _sides(report, test, value, ours, theirs)
    if test.verb == "is near":
        holds = abs(left.value - right.value) <= test.within * (1 + 1e-9)
        return Evidence(
            dataset, holds, _figures(left, right, "is near" if holds else "is far from")
        )
    if test.verb == "matches" and left.value == right.value:
        return Evidence(dataset, True, _figures(left, right, "equals"))
    return _by_ratio(report, test, left, right, 1.0)


def _cells(report: Report, test: ClaimTest, dataset: str) -> tuple[list[Cell], list[Cell]]:
    ours = [report.cells[dataset, learner] for learner in test.learners]
    return ours, [report.cells[dataset, learner] for learner in test.others]


def _sides(
    report: Report, test: ClaimTest, value: Value, ours: Sequence[Cell], theirs: Sequence[Cell]
) -> tuple[_Side, _Side]:
    """Who speaks for each side: the best of the others, and the best or worst of the learners."""
    sign = 1 if _low_is_good(report, test) else -1

    def rank(side: _Side) -> float:
        return sign * side.value

    left = [_Side(cell, number) for cell in ours if (number := value(cell)) is not None]
    right = [_Side(cell, number) for cell in theirs if (number := value(cell)) is not None]
    return (max if test.every else min)(left, key=rank), min(right, key=rank)


def _low_is_good(report: Report, test: ClaimTest) -> bool:
    return report.lower_is_better or test.measure != "score"


def _paired(report: Report, test: ClaimTest, left: _Side, right: _Side) -> Evidence:
    """By the interval of the paired differences."""
    dataset = left.cell.dataset
    if left.value == right.value and test.verb == "matches":
        return Evidence(dataset, True, _figures(left, right, "equals"))
    if left.cell.once and right.cell.once:
        return _exactly(report, test, left, right)
    found = paired(*_pairs(left.cell, right.cell), fewest=ENOUGH)
    if found is None:
        return Evidence(dataset, None, _figures(left, right, "beside") + ", too few trials")
    interval = f", difference {found.low:+.3g} … {found.high:+.3g}"
    if test.verb == "is near":
        holds = _inside(found.low, found.high, test.within)
        words = {True: "is near", False: "is far from", None: "may be near"}[holds]
        return Evidence(dataset, holds, _figures(left, right, words) + interval)
    if not found.decided:
        return Evidence(dataset, None, _figures(left, right, "undecided beside") + interval)
    better = (found.high < 0) == report.lower_is_better
    words = "beats" if better else "loses to"
    return Evidence(dataset, better, _figures(left, right, words) + interval)


def _exactly(report: Report, test: ClaimTest, left: _Side, right: _Side) -> Evidence:
    """By the values themselves, which no further trial would change."""
    difference = left.value - right.value
    if test.verb == "is near":
        holds = abs(difference) <= test.within
        words = "is near" if holds else "is far from"
    else:
        holds = difference != 0.0 and (difference < 0) == report.lower_is_better
        words = "beats" if holds else "loses to" if difference else "equals"
    figures = _figures(left, right, words)
    return Evidence(left.cell.dataset, holds, f"{figures}, nothing random in either")


def _pairs(left: Cell, right: Cell) -> tuple[dict[int, float], dict[int, float]]:
    """The values of both by repetition. What is run once has the same value in all of them."""
    ours, theirs = left.by_repetition, right.by_repetition
    if left.once and not right.once:
        ours = dict.fromkeys(theirs, left.values[0])
    if right.once and not left.once:
        theirs = dict.fromkeys(ours, right.values[0])
    return ours, theirs


def _inside(low: float, high: float, margin: float) -> bool | None:
    if -margin <= low and high <= margin:
        return True
    return False if low > margin or high < -margin else None


def _by_ratio(report: Report, test: ClaimTest, left: _Side, right: _Side, noise: float) -> Evidence:
    """By how many times better the left value is."""
    better, worse = (
        (left.value, right.value) if _low_is_good(report, test) else (right.value, left.value)
    )
    ratio = 1.0 if worse == better else worse / better if better else math.inf
    holds: bool | None = ratio >= test.times
    if test.times == 1.0 and noise == 1.0:
        holds = ratio > 1.0
    elif test.times / noise < ratio < test.times * noise:
        holds = None
    words = "beats" if ratio > 1 else "equals" if ratio == 1 else "loses to"
    words = "beside" if holds is None else words
    text = f"{_figures(left, right, words)}, {ratio:.3g} times"
    return Evidence(left.cell.dataset, holds, text)


def _figures(left: _Side, right: _Side, words: str) -> str:
    return f"{_named(left)} {words} {_named(right)}"


def _named(side: _Side) -> str:
    cell = side.cell
    short = f" ({cell.n} of {cell.expected})" if cell.values and not cell.complete else ""
    return f"{cell.learner} {side.value:.4g}{short}"


_VALUES: dict[str, Value] = {
    "score": lambda cell: cell.mean,
    "seconds": lambda cell: None if cell.awaits_search or cell.cut_time else cell.time,
    "training": lambda cell: cell.training,
    "without map": lambda cell: cell.without_map,
    "bytes": lambda cell: cell.bytes,
}
_PRINTED: dict[str, Value] = {
    "score": lambda cell: cell.printed.mean if cell.printed else None,
    "seconds": lambda cell: cell.printed.seconds if cell.printed else None,
}
