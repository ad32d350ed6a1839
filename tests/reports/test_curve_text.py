"""Curves for a terminal."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from outcome_material import results_file
from site_material import with_curve
from small_table import all_measured, small_table

from okbench.base.errors import UsageError
from okbench.papers.table_types import StatedComplexity
from okbench.reports.figures.curve_text import HEIGHT, curves_text, stored_curves
from okbench.reports.figures.figure_data import Mark, Panel, Picture
from okbench.trials.plan.options import Options


def line(learner: str, *means: float, n: int = 2) -> tuple[Mark, ...]:
    return tuple(
        Mark("one", learner, "rows seen", 100.0 * (place + 1), "metric", mean, 1.0, n, 2)
        for place, mean in enumerate(means)
    )


def picture(**lines: tuple[Mark, ...]) -> Picture:
    panel = Panel("one", "rows seen", "mistake rate in %", "metric", lines)
    return Picture("t", "T", tuple(lines), (panel,), (), ("A note.",))


def drawing(text: str) -> list[str]:
    """The lines between the scale on the left and what is below."""
    return [row[11:] for row in text.splitlines() if row[10:11] in ("|", "+")][:HEIGHT]


def test_a_falling_line_falls_and_a_level_one_is_level() -> None:
    rows = drawing(curves_text(picture(Falls=line("F", 40, 30, 20), Level=line("L", 20, 20, 20)),
                               "mistake_rate", 60))  # fmt: skip
    ups = {letter: [up for up, row in enumerate(rows) if letter in row] for letter in "ab"}
    assert ups["a"] == list(range(ups["a"][0], ups["a"][-1] + 1))  # without a gap
    assert len(ups["a"]) > 10
    assert len(ups["b"]) == 1
    assert ups["b"][0] >= ups["a"][-1]


def test_the_legend_begins_with_the_highest_and_has_the_last_values() -> None:
    text = curves_text(picture(A=line("A", 40, 10), B=line("B", 20, 30, n=1)), "mistake_rate", 40)
    legend = [row.split() for row in text.splitlines() if "±" in row]
    assert legend == [
        ["b", "B", "30.00", "±", "1.00", "(1/2)"],
        ["a", "A", "10.00", "±", "1.00"],
    ]


def test_no_line_is_wider_than_asked() -> None:
    lines = {f"learner{k}": line("x", k, k + 1) for k in range(30)}
    for width in (60, 100):
        text = curves_text(picture(**lines), "mistake_rate", width)
        assert max(map(len, text.splitlines())) <= width


def test_numbers_that_are_not_finite_are_left_out() -> None:
    text = curves_text(picture(A=line("A", 5, math.inf), B=line("B", math.inf)), "rmse")
    assert "5.0000" in text
    assert "B" not in text.splitlines()[-3]
    assert "no finite" in curves_text(picture(A=line("A", math.nan)), "rmse")


def test_the_curves_of_a_table_come_from_its_outcomes(tmp_path: Path) -> None:
    table = small_table()
    results_file(tmp_path / "made/small.jsonl", map(with_curve, all_measured(table)))
    text = stored_curves(table, tmp_path, Options(datasets=("one",)), encoding="ascii")
    assert text.startswith("made/small: A small table\n\none: mistake rate in % against rows seen")
    assert "b  FOGD        15.00 +/- 0.71" in text
    assert "two:" not in text
    assert text.isascii()


def test_without_outcomes_the_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="okbench run made/small"):
        stored_curves(small_table(), tmp_path, Options())


def test_orders_have_no_curves(tmp_path: Path) -> None:
    stated = {"FOGD": StatedComplexity("", ("", ""), {}, {})}
    orders = replace(small_table(), kind="complexity", stated=stated)
    with pytest.raises(UsageError, match="has no curves"):
        stored_curves(orders, tmp_path, Options())
