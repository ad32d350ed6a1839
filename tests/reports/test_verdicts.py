"""Verdicts on cells worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from okbench.papers.table_types import PrintedCell
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.verdicts import difference_interval, equal_as_printed, judge

FIVE = (9.0, 10.0, 11.0, 10.0, 10.0)  # mean 10, standard deviation √0.5


def cell(
    mean: float | None,
    std: float | None = None,
    text: str = "",
    values: tuple[float, ...] = FIVE,
    **more: Any,
) -> Cell:
    printed = PrintedCell("rows", "A", mean, std, text=text or f"{mean}")
    fields: dict[str, Any] = {"expected": len(values), "runs": 5, "printed": printed}
    return Cell("rows", "A", "mistake_rate", values, **{**fields, **more})


@pytest.mark.parametrize(
    ("value", "text", "equal"),
    [
        (29.5449, "29.5 % ± 0.5", True),  # rounded
        (29.5999, "29.5 % ± 0.5", True),  # cut off
        (29.45, "29.5", True),  # half rounds up
        (29.45, "29.4", True),  # and to even, and cut off
        (29.44, "29.5", False),
        (29.60, "29.5", False),
        (0.0401749, "0.04017 ± 0.00043", True),
        (4.0174e-2, "4.017e-2", True),
        (35.0, "35.2 % ± 0.9", False),
        (29.949999999999996, "29.95", True),  # what ten floats add up to
        (1234.0, "1,234", True),
        (math.inf, "29.5", False),
        (3.0, "NA", False),
    ],
)
def test_equal_is_meant_as_printed(value: float, text: str, equal: bool) -> None:
    assert equal_as_printed(value, text) is equal


def test_a_mean_that_rounds_to_the_printed_number_is_as_printed() -> None:
    assert judge(cell(10.0, 0.5, "10.0 % ± 0.5")).verdict == "as printed"


def test_the_interval_is_welch_s_widened_by_the_rounding() -> None:
    # ours: variance 0.5 / 5 = 0.1; theirs 0.5 / 5 = 0.1; 8 degrees of freedom: t = 2.306004
    interval = difference_interval(cell(12.0, math.sqrt(0.5), "12.0"))
    half = 2.306004 * math.sqrt(0.2)
    assert interval == pytest.approx((-2 - half - 0.1, -2 + half + 0.05), abs=1e-6)


def test_a_number_inside_the_interval_is_within() -> None:
    found = judge(cell(10.9, 0.7, "10.9 ± 0.7"))
    assert found.verdict == "within"
    assert found.interval is not None
    assert found.interval[0] < 0 < found.interval[1]


@pytest.mark.parametrize(
    ("metric", "mean", "verdict"),
    [
        ("mistake_rate", 13.0, "better"),
        ("mistake_rate", 7.0, "worse"),
        ("accuracy", 13.0, "worse"),
        ("accuracy", 7.0, "better"),
    ],
)
def test_outside_the_interval_the_direction_of_the_metric_decides(
    metric: Any, mean: float, verdict: str
) -> None:
    found = cell(mean, 0.7, f"{mean} ± 0.7")
    assert judge(Cell(**{**vars(found), "metric": metric})).verdict == verdict


def test_without_a_printed_deviation_ours_stands_for_it() -> None:
    printed, ours = cell(12.0, math.sqrt(0.5), "12.0"), cell(12.0, None, "12.0")
    assert difference_interval(printed) == pytest.approx(difference_interval(ours))


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (cell(None), "nothing printed"),
        (Cell("rows", "A", "mistake_rate", FIVE, 5, runs=5), "nothing printed"),
        (cell(10.0, values=(), expected=5), "nothing measured"),
        (cell(10.0, values=FIVE, expected=20, runs=20), "too few trials (5 of 20)"),
        (cell(10.0, values=FIVE[:3], runs=20), "too few trials (3 of 20)"),
        (cell(10.0, inferred=("step", "decay")), "the paper does not give: step, decay"),
        (cell(10.0, text="NA", values=(3.0,), runs=1), "one trial has no interval"),
    ],
)
def test_what_cannot_be_decided_is_said_and_never_passes(found: Cell, reason: str) -> None:
    assert (judge(found).verdict, judge(found).reason) == ("cannot say", reason)


def test_a_paper_of_few_runs_needs_no_more_of_us() -> None:
    assert judge(cell(10.0, None, "10.0", values=FIVE[:2], runs=2)).verdict != "cannot say"


def test_no_spread_at_all_leaves_the_rounding_alone() -> None:
    same = (10.0,) * 5
    assert difference_interval(cell(10.5, 0.0, "10.5", values=same)) == pytest.approx((-0.6, -0.45))
