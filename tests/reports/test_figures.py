"""Figures computed from outcomes made here, and drawn."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from okbench.base.errors import UsageError
from okbench.cli.plot import plot
from okbench.papers.table_types import (
    DatasetRow,
    Figure,
    LearnerColumn,
    Lines,
    Point,
    Protocol,
    Setting,
    Table,
)
from okbench.reports.figures.draw import images
from okbench.reports.figures.figure_data import Picture, picture
from okbench.reports.figures.page_look import SIZES, PageLook, Size
from okbench.reports.figures.text import csv_of, json_of, sheets_of
from okbench.trials.trial_types import Outcome, Trial

LEARNERS = ("A", "B")
DATASETS = ("first", "second")
VALUES = (10, 20)


def figure(kind: Any = "sweep", lines: Lines = "learners") -> Table:
    swept = kind == "sweep"
    columns = [
        LearnerColumn(f"{line} size={value}", line, point=Point(line, "size", value))
        for line in LEARNERS
        for value in VALUES
    ]
    plain = [LearnerColumn(line, line) for line in LEARNERS]
    learners = tuple(columns if swept else plain)
    size = Setting(1, "inferred", "a guess")
    return Table(
        name="ours/figure1",
        title="Ours",
        paper="",
        protocol=Protocol("single-pass", "mistake_rate", runs=2),
        datasets=tuple(map(DatasetRow, DATASETS)),
        learners=learners,
        settings={(name, c.label): {"size": size} for name in DATASETS for c in learners},
        kind=kind,
        of="" if swept else "ours/table1",
        figure=Figure(("metric", "seconds"), lines),
    )


def outcome(dataset: str, label: str, run: int, total: float, **more: Any) -> Outcome:
    trial = Trial(dataset, "", "f", label, 1, (), "single-pass", "mistake_rate", run)
    curve = ((50, total, 3, 0.5), (100, 1.5 * total, 4, 1.0))
    fields = {"rows": 100, "total": 1.5 * total, "seconds": 1.0 + run, "curve": curve, **more}
    return Outcome(trial, fields.pop("status", "done"), **fields)


def drawn(table: Table, *found: Outcome, datasets: tuple[str, ...] = DATASETS) -> Picture:
    outcomes = {one.trial.id: one for one in found}
    expected: dict[tuple[str, str], list[str]] = {}
    for row in table.datasets:
        for column in table.learners:
            expected[row.name, column.label] = [
                Trial(row.name, "", "f", column.label, 1, (), "single-pass", "mistake_rate", run).id
                for run in range(2)
            ]
    return picture(table, outcomes, expected, datasets, ["a machine"])


def swept() -> list[Outcome]:
    """A is twice as often mistaken as B, and half as often with the larger size."""
    return [
        outcome("first", f"{line} size={value}", run, total=amount * 100 / value + run)
        for line, amount in (("A", 2), ("B", 1))
        for value in VALUES
        for run in range(2)
    ]


def test_a_sweep_has_a_point_for_each_value_of_a_learner() -> None:
    first = drawn(figure(), *swept()).panels[0]
    assert (first.title, first.x_name, first.y_name) == ("first", "size", "mistake rate in %")
    assert {label: [(m.x, m.mean, m.n) for m in line] for label, line in first.lines.items()} == {
        "A": [(10, 30.75, 2), (20, 15.75, 2)],
        "B": [(10, 15.75, 2), (20, 8.25, 2)],
    }
    assert first.lines["A"][0].std == pytest.approx(1.5 / 2**0.5)


def test_a_learner_that_is_not_swept_is_a_level_line_beside_those_that_are() -> None:
    table = figure()
    level = LearnerColumn("apart", "A")
    table = replace(
        table,
        learners=(*table.learners, level),
        settings={**table.settings, **{(name, "apart"): {} for name in DATASETS}},
    )
    apart = [outcome("first", "apart", run, total=4.0 + run) for run in range(2)]
    found = drawn(table, *swept(), *apart)
    line = found.panels[0].lines["apart"]
    assert [(mark.x_name, mark.x, mark.mean, mark.n) for mark in line] == [
        ("size", 10, 6.75, 2), ("size", 20, 6.75, 2)
    ]  # fmt: skip
    assert "Not swept, the same at every place: apart." in found.notes
    others = [replace(c, point=Point("B", "other", 1)) for c in table.learners if c.line == "B"]
    table = replace(table, learners=(*table.learners[:2], *others, level))
    assert "apart" not in drawn(table, *swept(), *apart).panels[0].lines


@pytest.mark.parametrize(("values", "wide"), [((1, 100), True), ((1, 99), False), ((0, 9), False)])
def test_a_sweep_over_two_decades_is_drawn_in_logarithms(
    values: tuple[int, int], wide: bool
) -> None:
    table = figure()
    places = dict(zip(VALUES, values, strict=True))
    columns = [
        replace(column, point=replace(column.point, value=places[int(column.point.value)]))
        for column in table.learners
        if column.point
    ]
    panel = drawn(replace(table, learners=tuple(columns)), *swept()).panels[0]
    assert panel.is_wide is wide


def test_each_quantity_has_a_panel_and_seconds_are_spread_too() -> None:
    panels = drawn(figure(), *swept()).panels
    assert [(panel.title, panel.quantity) for panel in panels] == [
        ("first", "metric"),
        ("first", "seconds"),
    ]
    mark = panels[1].lines["A"][0]
    assert (mark.mean, mark.std) == (1.5, pytest.approx(0.5**0.5))


def test_lines_can_be_datasets_and_panels_learners() -> None:
    panels = drawn(figure(lines="datasets"), *swept()).panels
    assert [panel.title for panel in panels] == ["A", "A", "B", "B"]
    assert set(panels[0].lines) == {"first"}


def test_a_curve_is_what_the_table_would_be_had_trials_ended_there() -> None:
    found = [outcome("first", "A", run, total=10 + 2 * run) for run in range(2)]
    metric, seconds = drawn(figure("curves"), *found).panels
    assert [(m.x_name, m.x, m.mean, m.n) for m in metric.lines["A"]] == [
        ("rows seen", 50, 22.0, 2),
        ("rows seen", 100, 16.5, 2),
    ]
    assert [m.mean for m in seconds.lines["A"]] == [0.5, 1.0]


def test_trials_that_were_cut_short_make_no_point() -> None:
    found = [
        outcome("first", "A", 0, 10),
        outcome("first", "A", 1, 10, status="timeout"),
        outcome("second", "A", 0, 10, status="failed"),
    ]
    made = drawn(figure("curves"), *found)
    assert {mark.n for mark in made.marks} == {1}
    assert made.absent == ("second",)
    assert "Some points are of fewer trials (1)." in made.notes


def test_seconds_measured_alone_count_instead_of_others() -> None:
    table = figure()
    found = [
        outcome("first", "A size=10", 0, 10, seconds=9.0),
        outcome("first", "A size=10", 1, 10, seconds=1.0, timed=True),
    ]
    metric, seconds = drawn(table, *found).panels
    assert (metric.lines["A"][0].n, seconds.lines["A"][0].mean) == (2, 1.0)
    assert any("side by side" in note for note in drawn(table, *found).notes)
    assert not any("side by side" in note for note in drawn(table, found[1]).notes)


def test_what_is_missing_or_inferred_is_said_in_the_caption() -> None:
    made = drawn(figure(), *swept())
    assert made.absent == ("second",)
    assert "Left out, not measured here: second." in made.notes
    assert "Values of size: inferred (a guess)." in made.notes
    assert "Seconds inside the learner on a machine." in made.notes


def test_a_line_that_is_missing_is_said_in_the_caption() -> None:
    made = drawn(figure("curves"), outcome("first", "A", 0, 10))
    assert "No line, not measured here: B on first." in made.notes


def test_datasets_not_asked_for_are_not_missed() -> None:
    assert drawn(figure(), *swept(), datasets=("first",)).absent == ()


def test_a_sheet_has_values_down_and_learners_across() -> None:
    sheet = sheets_of(drawn(figure(), *swept()[:-1]), "mistake_rate")[0]
    assert sheet.header == ("size", "A", "B")
    assert [[entry.text for entry in row] for row in sheet.groups[0]] == [
        ["10", "30.75 ± 1.06", "15.75 ± 1.06"],
        ["20", "15.75 ± 1.06", "7.50 (1/2)"],
    ]


def test_a_figure_of_which_nothing_is_measured_says_so() -> None:
    (sheet,) = sheets_of(drawn(figure()), "mistake_rate")
    assert [[entry.text for entry in row] for row in sheet.groups[0]] == [
        ["A", "missing"],
        ["B", "missing"],
    ]


def test_the_plotted_data_are_rows_of_means_deviations_and_counts() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(drawn(figure(), *swept())))))
    assert len(rows) == 8
    assert rows[0]["learner"] == "A"
    assert [rows[0][key] for key in ("x_name", "x", "quantity", "n")] == [
        "size", "10", "metric", "2",
    ]  # fmt: skip
    assert float(rows[0]["mean"]) == 30.75
    everything = json.loads(json_of(drawn(figure(), *swept())))
    assert [point["mean"] for point in everything["points"]] == [float(row["mean"]) for row in rows]
    assert everything["absent"] == ["second"]


def test_a_drawing_is_the_same_bytes_every_time() -> None:
    made = drawn(figure(), *swept())
    once, again = images(made), images(made)
    assert once == again
    svg = once["svg"].decode("utf-8")
    assert svg.startswith("<?xml")
    assert not re.search(r"<dc:date>", svg)
    assert once["png"].startswith(b"\x89PNG")
    assert once["pdf"].startswith(b"%PDF")
    assert b"CreationDate" not in once["pdf"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("panels", "lines"), [(1, 1), (2, 2), (9, 10), (18, 10)])
def test_caption_legend_and_panels_do_not_overlap(panels: int, lines: int, size: Size) -> None:
    from matplotlib import rc_context

    from okbench.reports.figures.draw import _drawn

    made = drawn(figure(), *swept())
    labels = tuple(f"Learner {number}++" for number in range(lines))
    line = made.panels[0].lines["A"]
    both = [replace(panel, lines=dict.fromkeys(labels, line)) for panel in made.panels]
    crowded = replace(made, labels=labels, panels=tuple((both * 9)[:panels]), notes=made.notes * 3)
    look = PageLook(size, titled=True)
    with rc_context(look.style):
        page = _drawn(crowded, look)
        page.draw_without_rendering()
        renderer = page.canvas.get_renderer()
        title, caption = (text.get_window_extent(renderer) for text in page.texts)
        legend = page.legends[0].get_window_extent(renderer)
        axes = [ax.get_tightbbox(renderer) for ax in page.axes]
    assert caption.y0 >= 0
    assert max(caption.x1, legend.x1, title.x1) <= page.bbox.x1
    assert legend.y0 >= caption.y1
    assert all(title.y0 >= panel.y0 >= legend.y1 for panel in axes)
    assert not any(a.overlaps(b) for a, b in combinations(axes, 2))


def test_matplotlib_is_imported_only_for_drawing() -> None:
    code = (
        "import sys, okbench.cli.plot, okbench.reports.figures.figure_data,"
        "okbench.reports.figures.draw,"
        "okbench.reports.figures.text; print('matplotlib' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


CURVES = "title: Curves\nkind: curves\nof: table1\ndraw: {quantities: [metric]}\n"
TABLE = """\
title: Small
protocol: {kind: single-pass, metric: mistake_rate, runs: 2}
settings: {width: 0.25, budget: 20}
datasets: {breast-cancer: , mnist: {variant: lsokl}}
learners: {RBP: , FOGD: {components: 2 * budget}}
"""


def plotted(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(plot, [str(folder / "figure1.yaml"), *words])


def test_plot_draws_what_is_stored_of_the_table_and_tells_what_is_missing(tmp_path: Path) -> None:
    from okbench import datasets
    from okbench.papers.table_catalogue import find
    from okbench.trials.plan.options import Options
    from okbench.trials.run.run_table import run
    from okbench.trials.store.files import Store

    (tmp_path / "table1.yaml").write_text(TABLE, encoding="utf-8")
    (tmp_path / "figure1.yaml").write_text(CURVES, encoding="utf-8")
    table, results = find(str(tmp_path / "table1.yaml")), tmp_path / "runs"
    only = Options(datasets=("breast-cancer",))
    run(table, datasets.load, datasets.missing, Store.of(results, table.name), only, lambda t: None)
    done = plotted(tmp_path, "--results", str(results), "--to", str(tmp_path / "drawn"))
    assert done.exit_code == 0, done.output
    files = [tmp_path / "drawn" / f"figure1.{ending}" for ending in ("pdf", "svg", "png", "csv")]
    assert done.stdout.split() == [str(path) for path in files]
    assert all(path.stat().st_size > 500 for path in files)
    assert "left out, because there are no outcomes: mnist" in done.stderr
    rows = list(csv.DictReader(files[3].read_text(encoding="utf-8").splitlines()))
    assert {row["n"] for row in rows} == {"2"}
    assert {row["learner"] for row in rows} == {"RBP", "FOGD"}
    (standing,) = {o.rows for o in Store.of(results, table.name).outcomes().values()}
    assert max(float(row["x"]) for row in rows) == standing


def test_plot_refuses_a_table_and_a_figure_without_outcomes(tmp_path: Path) -> None:
    (tmp_path / "table1.yaml").write_text(TABLE, encoding="utf-8")
    (tmp_path / "figure1.yaml").write_text(CURVES, encoding="utf-8")
    nothing = plotted(tmp_path, "--results", str(tmp_path))
    assert isinstance(nothing.exception, UsageError)
    assert "there are no outcomes of figure1" in str(nothing.exception)
    table = CliRunner().invoke(plot, [str(tmp_path / "table1.yaml")])
    assert "there are no outcomes of table1" in str(table.exception)
