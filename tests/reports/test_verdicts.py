"""Verdicts on cells worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from scipy.special import stdtrit

from okbench.papers.provenance import Ingredient, Source
from okbench.papers.table_types import PrintedCell
from okbench.reports.statistics import printed_sample, sample, welch_interval
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.verdicts import (
    count_outcomes,
    count_words,
    difference_interval,
    equal_as_printed,
    judge,
    judge_all,
)

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
    assert judge(cell(10.0, 0.5, "10.0 % ± 0.5")).outcome == "as printed"


def test_the_interval_is_welch_s_widened_by_the_rounding() -> None:
    # ours: variance 0.5 / 5 = 0.1; theirs the same; 8 degrees of freedom: t = 2.306004
    interval = difference_interval(cell(12.0, None, "12.0"))
    half = 2.306004 * math.sqrt(0.2)
    assert interval == pytest.approx((-2 - half - 0.1, -2 + half + 0.05), abs=1e-6)


def test_a_printed_deviation_stands_for_what_rounds_to_it() -> None:
    """0.7 is anything from 0.65 to 0.8: the largest gives the widest interval."""
    low, high = difference_interval(cell(12.0, 0.7, "12.0 ± 0.7")) or (0.0, 0.0)
    theirs = 0.8**2 / 5
    freedom = (0.1 + theirs) ** 2 / (0.1**2 / 4 + theirs**2 / 4)
    half = float(stdtrit(freedom, 0.975)) * math.sqrt(0.1 + theirs)
    assert (low, high) == pytest.approx((-2 - half - 0.1, -2 + half + 0.05), rel=1e-9)


def test_a_number_inside_the_interval_is_within() -> None:
    found = judge(cell(10.9, 0.7, "10.9 ± 0.7"))
    assert found.outcome == "within"
    assert found.interval is not None
    assert found.interval[0] < 0 < found.interval[1]


@pytest.mark.parametrize(
    ("metric", "mean", "outcome"),
    [
        ("mistake_rate", 13.0, "better"),
        ("mistake_rate", 7.0, "worse"),
        ("accuracy", 13.0, "worse"),
        ("accuracy", 7.0, "better"),
    ],
)
def test_outside_the_interval_the_direction_of_the_metric_decides(
    metric: Any, mean: float, outcome: str
) -> None:
    found = cell(mean, 0.7, f"{mean} ± 0.7")
    assert judge(Cell(**{**vars(found), "metric": metric})).outcome == outcome


def test_without_a_printed_deviation_ours_stands_for_it() -> None:
    ours = cell(12.0, None, "12.0")
    exact = (sample(10.0, math.sqrt(0.5), 5), printed_sample("12.0", 5, math.sqrt(0.5)))
    assert exact[1] is not None
    assert difference_interval(ours) == pytest.approx(welch_interval(exact[0], exact[1]))


@pytest.mark.parametrize(
    ("found", "outcome", "reason"),
    [
        (cell(None), "nothing printed", "nothing printed"),
        (Cell("rows", "A", "mistake_rate", FIVE, 5, runs=5), "nothing printed", "nothing printed"),
        (cell(10.0, values=(), expected=5), "not measured", "missing"),
        (cell(10.0, values=FIVE[:3], runs=20), "too few trials", "3 of 20 are done"),
        (cell(10.0, text="NA", values=(3.0,), runs=1), "cannot say", "one trial has no deviation"),
    ],
)
def test_where_nothing_can_be_compared_the_reason_is_given(
    found: Cell, outcome: str, reason: str
) -> None:
    assert (judge(found).outcome, judge(found).reason) == (outcome, reason)
    assert judge(found).measured == (outcome == "cannot say")


def test_nine_of_ten_trials_are_judged_and_counted() -> None:
    found = judge(cell(10.6, 0.7, "10.6 ± 0.7", values=FIVE, expected=10, runs=10))
    assert found.outcome == "within"
    assert "by 5 of 10 trials" in found.reason


def test_a_paper_of_few_runs_needs_no_more_of_us() -> None:
    assert judge(cell(10.0, None, "10.0", values=FIVE[:2], runs=2)).measured


def test_no_spread_at_all_leaves_the_rounding_alone() -> None:
    same = (10.0,) * 5
    assert difference_interval(cell(10.5, None, "10.5", values=same)) == pytest.approx(
        (-0.6, -0.45)
    )


def with_sources(*sources: Source) -> tuple[Ingredient, ...]:
    return tuple(Ingredient(f"s{n}", source, "why") for n, source in enumerate(sources))


@pytest.mark.parametrize(
    ("sources", "basis"),
    [
        ((), "printed"),
        (("printed", "found"), "found"),
        (("found", "tuned"), "searched"),
        (("searched", "default", "printed"), "default"),
        (("default", "fitted"), "fitted"),
        (("printed", "inferred"), "fitted"),
    ],
)
def test_a_cell_rests_on_the_weakest_of_its_settings_and_rows(
    sources: tuple[Source, ...], basis: str
) -> None:
    assert judge(cell(10.0, ingredients=with_sources(*sources))).rests_on == basis


@pytest.mark.parametrize("source", ["printed", "default", "fitted", "inferred"])
@pytest.mark.parametrize(("mean", "outcome"), [(13.0, "better"), (7.0, "worse")])
def test_no_source_withholds_a_disagreement(source: Source, mean: float, outcome: str) -> None:
    found = cell(mean, 0.7, f"{mean} ± 0.7", ingredients=with_sources(source))
    assert judge(found).outcome == outcome


def test_the_reason_names_what_a_cell_rests_on() -> None:
    found = judge(cell(10.0, ingredients=with_sources("printed", "fitted", "default")))
    assert found.because == ("s1 fitted: why",)


def test_without_anything_random_the_mean_is_the_printed_one_or_differs() -> None:
    """A difference that noise would explain is a difference where there is no noise."""
    noisy = cell(10.2, 0.7, "10.2 ± 0.7")
    assert judge(noisy).outcome == "within"
    assert judge(replace(noisy, exact=True)).outcome == "better"
    assert judge(replace(noisy, exact=True, metric="accuracy")).outcome == "worse"
    assert judge(cell(10.0, 0.7, "10.0 ± 0.7", exact=True)).outcome == "as printed"


def test_equality_is_not_asked_of_fewer_permutations_than_the_paper_has() -> None:
    assert judge(replace(cell(10.2, 0.7, "10.2 ± 0.7"), exact=True, runs=20)).outcome == "within"


def test_a_filler_is_no_deviation_and_its_number_that_of_one_permutation() -> None:
    exact = cell(11.5, 0.1, "11.5 ± 0.1")
    assert judge(exact).outcome == "better"
    assert exact.printed is not None
    filler = replace(exact, printed=replace(exact.printed, std=None, filler="one unit"))
    assert judge(filler).outcome == "within"
    assert judge(replace(filler, exact=True)).outcome == "within"


def test_within_gives_the_difference_that_would_have_been_seen() -> None:
    found = judge(cell(10.9, 0.7, "10.9 ± 0.7"))
    assert found.smallest is not None
    assert found.interval is not None
    assert found.smallest > (found.interval[1] - found.interval[0]) / 2
    assert f"a difference of {found.smallest:.3g} would have been seen" in found.reason


def test_the_cells_of_a_table_are_one_family_of_tests() -> None:
    """One cell is just outside its interval: alone it differs, among forty it does not."""
    edge = cell(11.35, 0.7, "11.35 ± 0.70")
    assert judge(edge).outcome == "better"
    others = {(f"rows {n}", "A"): cell(10.9, 0.7, "10.9 ± 0.7") for n in range(40)}
    found = judge_all({("rows", "A"): edge, **others})["rows", "A"]
    assert found.outcome == "within"
    assert "not once corrected for the cells of the table" in found.reason
    assert found.interval is not None
    assert found.interval[1] < 0


def test_a_large_difference_stands_in_any_family() -> None:
    others = {(f"rows {n}", "A"): cell(10.9, 0.7, "10.9 ± 0.7") for n in range(80)}
    far = cell(15.0, 0.7, "15.0 ± 0.7")
    assert judge_all({("rows", "A"): far, **others})["rows", "A"].outcome == "better"


def test_agreement_by_a_fit_is_counted_apart() -> None:
    judged = [
        judge(cell(10.0)),
        judge(cell(10.0, ingredients=with_sources("fitted"))),
        judge(cell(7.0, 0.7, "7.0 ± 0.7", ingredients=with_sources("default"))),
        judge(cell(10.0, values=())),
    ]
    assert count_words(judged) == (
        "1 of 2 agree (1 as printed, 1 worse) without a fitted setting or fitted rows; "
        "1 of 1 agree (1 as printed) with one; 1 not measured"
    )
    assert count_outcomes(judged) == {
        "printed": {"as printed": 1},
        "default": {"worse": 1},
        "fitted": {"as printed": 1},
    }
