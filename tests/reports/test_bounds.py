"""What a paper proves, drawn beside what was measured."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from itertools import pairwise
from typing import Any

import pytest

from okbench.papers.table_types import DatasetRow, Figure, LearnerColumn, Point, Protocol, Table
from okbench.reports.figures.curve_text import curves_text
from okbench.reports.figures.draw import _drawn, images
from okbench.reports.figures.figure_data import Picture, lemma_1, lemma_1_line, picture
from okbench.reports.figures.page_look import PageLook
from okbench.reports.figures.text import csv_of, json_of, sheets_of
from okbench.reports.site.charts import line_chart
from okbench.reports.site.markers import look
from okbench.trials.trial_types import Outcome, Trial

COMPONENTS = (10, 100, 800)
TOLERANCES = (0.1, 0.3)
BEYOND = {  # of 1,000 rows, in two trials
    (0.1, 10): (500, 400), (0.1, 100): (60, 40), (0.1, 800): (2, 0),
    (0.3, 10): (90, 110), (0.3, 100): (0, 0), (0.3, 800): (0, 0),
}  # fmt: skip


def figure(**drawn: Any) -> Table:
    columns = tuple(
        LearnerColumn(
            f"ε={tolerance} components={size}",
            "RRF",
            point=Point(f"ε={tolerance}", "components", size),
            tolerance=tolerance,
        )
        for tolerance in TOLERANCES
        for size in COMPONENTS
    )
    return Table(
        name="ours/figure1",
        title="Ours",
        paper="",
        protocol=Protocol("approximation", "exceedance", runs=2),
        datasets=(DatasetRow("rows"),),
        learners=columns,
        settings={},
        kind="sweep",
        figure=Figure(("metric", "seconds"), **{"bound": "lemma-1", **drawn}),
    )


def shown(table: Table | None = None) -> Picture:
    table = table or figure()
    found: dict[str, Outcome] = {}
    expected: dict[tuple[str, str], list[str]] = {}
    for column in table.learners:
        assert column.point
        size, tolerance = int(column.point.value), column.tolerance
        settings = (("components", size),)
        for run, total in enumerate(BEYOND[tolerance, size]):
            trial = Trial("rows", "", "f", "RRF", 1, settings, "approximation", "exceedance", run,
                          tolerance=tolerance)  # fmt: skip
            found[trial.id] = Outcome(trial, "done", rows=1000, total=total, seconds=0.5)
            expected.setdefault(("rows", column.label), []).append(trial.id)
    return picture(table, found, expected, ["rows"])


def page(made: Picture) -> Any:
    from matplotlib import rc_context

    look = PageLook(titled=True)
    with rc_context(look.style):
        return _drawn(made, look)


def test_lemma_1_is_a_probability_in_percent() -> None:
    assert lemma_1(100, 0.3) == pytest.approx(200 * math.exp(-4.5), rel=1e-15)
    assert lemma_1(10, 0.1) == lemma_1(0, 1.0) == 100.0
    assert lemma_1(800, 0.3) == pytest.approx(4.639e-14, rel=1e-3)


@pytest.mark.parametrize("tolerance", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("floor", [0.0, 1e-3, 20.0])
def test_between_its_corners_the_bound_is_straight_in_logarithms(
    tolerance: float, floor: float
) -> None:
    corners = lemma_1_line(tolerance, 10, 800, floor)
    assert corners[0] == (10, lemma_1(10, tolerance))
    for (left, high), (right, low) in pairwise(corners):
        for share in (0.25, 0.5, 0.75):
            straight = math.exp((1 - share) * math.log(high) + share * math.log(low))
            at = left + share * (right - left)
            assert lemma_1(at, tolerance) == pytest.approx(straight, rel=1e-9)
    end, height = corners[-1]
    assert end == 800 or height == pytest.approx(floor, rel=1e-9)


def test_every_mark_of_the_metric_knows_its_bound_and_none_of_seconds() -> None:
    metric, seconds = shown().panels
    assert [mark.bound for mark in metric.lines["ε=0.1"]] == [
        lemma_1(size, 0.1) for size in COMPONENTS
    ]
    assert {mark.bound for line in seconds.lines.values() for mark in line} == {None}
    assert metric.bounds.keys() == {"ε=0.1", "ε=0.3"}
    assert not seconds.bounds
    assert {mark.bound for mark in shown(figure(bound=None)).marks} == {None}


def test_the_plotted_data_have_a_column_of_bounds_where_they_are_drawn() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(shown()))))
    bounds = {
        (row["learner"], row["x"]): row["bound"] for row in rows if row["quantity"] == "metric"
    }
    assert bounds["ε=0.1", "10"] == "100.0"
    assert float(bounds["ε=0.3", "100"]) == pytest.approx(200 * math.exp(-4.5), rel=1e-15)
    assert {row["bound"] for row in rows if row["quantity"] == "seconds"} == {""}
    assert "bound" not in csv_of(shown(figure(bound=None)))
    assert json.loads(json_of(shown()))["points"][0]["bound"] == 100.0


def test_a_sheet_has_the_bound_beside_each_line() -> None:
    metric, seconds = sheets_of(shown(), "exceedance")
    assert metric.header == ("components", "ε=0.1", "bound", "ε=0.3", "bound")
    assert [[entry.text for entry in row] for row in metric.groups[0]] == [
        ["10", "45.00 ± 7.07", "100.00", "10.00 ± 1.41", "100.00"],
        ["100", "5.00 ± 1.41", "100.00", "0.00 ± 0.00", "2.22"],
        ["800", "0.10 ± 0.14", "3.66", "0.00 ± 0.00", "4.639e-14"],
    ]
    assert seconds.header == ("components", "ε=0.1", "ε=0.3")


def test_the_drawing_has_a_thin_dashed_line_of_each_bound_in_the_colour_of_its_line() -> None:
    ax, clock = page(shown()).axes
    lines = ax.get_lines()
    assert len(lines) == 4
    for label, tolerance in (("ε=0.1", 0.1), ("ε=0.3", 0.3)):
        (measured,) = [line for line in lines if line.get_label() == label]
        (bound,) = [
            line
            for line in lines
            if line.get_color() == measured.get_color() and line is not measured
        ]
        for x, y in zip(*bound.get_data(), strict=True):
            assert y == pytest.approx(lemma_1(x, tolerance), rel=1e-12)
        assert bound.get_linewidth() < measured.get_linewidth()
        assert bound.is_dashed()
        assert bound.get_marker() == "None"
    assert ax.get_yscale() == "log"
    assert len(clock.get_lines()) == 2


def test_a_share_of_0_is_masked_and_a_band_ends_with_the_axis() -> None:
    ax = page(shown()).axes[0]
    (line,) = [line for line in ax.get_lines() if line.get_label() == "ε=0.3"]
    assert [math.isnan(mean) for mean in line.get_ydata()] == [False, True, True]
    bottom, top = ax.get_ylim()
    assert bottom == pytest.approx(0.05)  # half of the least share drawn
    assert top > 100
    for band in ax.collections:
        heights = [y for path in band.get_paths() for _, y in path.vertices]
        assert all(y >= bottom for y in heights if math.isfinite(y))


def test_the_legend_has_the_bound_once_and_the_caption_says_what_it_is() -> None:
    made = shown()
    (legend,) = page(made).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "ε=0.1", "ε=0.3", "bound of Lemma 1",
    ]  # fmt: skip
    assert "Lemma 1 bounds the expected share by 2 exp(−D ε² / 2), thin and dashed." in made.notes
    assert any(note.startswith("Where 0 % were measured nothing is drawn") for note in made.notes)
    assert not any("Lemma" in note for note in shown(figure(bound=None)).notes)


def test_nothing_but_shares_of_0_is_still_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.BEYOND", dict.fromkeys(BEYOND, (0, 0)))
    assert images(shown())["svg"].startswith(b"<?xml")
    assert "no finite" in curves_text(shown(), "exceedance")


def test_a_drawing_with_bounds_is_the_same_bytes_every_time() -> None:
    assert images(shown()) == images(shown())


def test_letters_say_nothing_of_what_they_do_not_draw() -> None:
    text = curves_text(shown(), "exceedance")
    assert "thin and dashed" not in text
    assert "2 exp(−D ε² / 2)." in text
    assert "logarithmic against components" in text


def test_a_page_of_the_site_has_the_bounds_and_no_mark_at_0() -> None:
    made = shown()
    drawn = str(line_chart(made.panels[0], made.labels, "exceedance", "c"))
    paths = re.findall(r'<g class="(k\d)"[^>]*><path class="bound" d="M([^"]*)"', drawn)
    colours = [colour for colour, _ in paths]
    assert colours == [look(label) for label in ("ε=0.1", "ε=0.3")]
    heights = [[float(point.split()[1]) for point in path.split("L")] for _, path in paths]
    assert all(line == sorted(line) for line in heights)  # downwards
    (mark,) = re.findall(
        r'<g class="' + look("ε=0.3") + r'"[^>]*>.*?class="mark[^"]*" d="([^"]*)"', drawn
    )
    assert mark.count("M") == 1
    assert drawn.count("0.00 ± 0.00") == 2  # in the table of numbers
