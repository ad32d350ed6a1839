"""Figures for print: their sizes, fonts and files, the ranks and the trade-offs of a table."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from okbench.base.errors import UsageError
from okbench.cli.plot import plot
from okbench.cli.run import run
from okbench.papers.table_types import DatasetRow, LearnerColumn, Protocol, Table
from okbench.reports.compare.ranking import ranking_on
from okbench.reports.compare.ranking_picture import ranking_csv, ranking_images
from okbench.reports.figures.drawings import drawings
from okbench.reports.figures.page_look import FORMATS, SIZES, PageLook, Size
from okbench.reports.figures.tradeoff import tradeoff, tradeoff_csv, tradeoff_images
from okbench.reports.tables.report import Report, report
from okbench.trials.trial_types import Outcome, Trial

LEARNERS = ("slow", "quick", "poor", "same")
TABLE = Table(
    name="own/my.csv",
    title="Mine",
    paper="own",
    protocol=Protocol("single-pass", "mistake_rate", runs=4),
    datasets=(DatasetRow("my.csv"), DatasetRow("other")),
    learners=tuple(LearnerColumn(name, name) for name in LEARNERS),
    settings={},
)
MISTAKES = {
    "slow": (10, 10, 11, 9), "quick": (20, 21, 19, 22), "poor": (30, 31, 32, 33),
    "same": (20, 21, 19, 22),
}  # fmt: skip
SECONDS = {"slow": 2.0, "quick": 0.5, "poor": 1.0, "same": 0.75}
BYTES = {"slow": 100, "quick": 4000, "poor": 200, "same": 100}


def stored(**more: Any) -> dict[str, Outcome]:
    found = {}
    for learner, mistakes in MISTAKES.items():
        for r, total in enumerate(mistakes):
            trial = Trial("my.csv", "", "f", learner, 1, (), "single-pass", "mistake_rate", r)
            fields = {"seconds": SECONDS[learner], "bytes": BYTES[learner], "environment": "e1"}
            found[f"{learner}{r}"] = Outcome(trial, "done", 100, total, **(fields | more))
    return found


def made(found: dict[str, Outcome] | None = None, **more: Any) -> Report:
    outcomes = stored(**more) if found is None else found
    ids = {("my.csv", name): [f"{name}{r}" for r in range(4)] for name in LEARNERS}
    return report(TABLE, outcomes, ids)


def test_no_other_learner_beats_the_frontier_in_both() -> None:
    found = tradeoff(made(), "seconds")
    assert list(found.frontiers) == ["my.csv"]  # nothing is measured on the other
    assert [spot.learner for spot in found.frontiers["my.csv"].best] == ["quick", "slow"]
    memory = tradeoff(made(), "bytes")
    assert [spot.learner for spot in memory.frontiers["my.csv"].best] == ["slow"]
    accuracy = report(
        replace(TABLE, protocol=replace(TABLE.protocol, metric="accuracy")), stored(),
        {("my.csv", name): [f"{name}{r}" for r in range(4)] for name in LEARNERS},
    )  # fmt: skip
    best = tradeoff(accuracy, "seconds").frontiers["my.csv"].best
    assert [spot.learner for spot in best] == ["quick", "slow"]


def test_costs_that_are_not_comparable_are_not_drawn_and_the_reason_is_given() -> None:
    found = stored()
    crowded = {**found, "slow0": replace(found["slow0"], timed=True)}
    elsewhere = {
        id_: replace(one, environment="e2") if id_.startswith("slow") else one
        for id_, one in found.items()
    }
    for outcomes, words in ((crowded, "measured alone"), (elsewhere, "several machines")):
        drawn = tradeoff(made(outcomes), "seconds")
        assert not drawn.frontiers
        assert words in drawn.notes[0]
        assert tradeoff(made(outcomes), "bytes").frontiers
    incomplete = {id_: one for id_, one in found.items() if id_ != "slow3"}
    spots = tradeoff(made(incomplete), "seconds").frontiers["my.csv"].spots
    assert "slow" not in [spot.learner for spot in spots]


def test_the_plotted_trade_offs_are_rows_as_measured() -> None:
    rows = list(csv.DictReader(io.StringIO(tradeoff_csv(tradeoff(made(), "seconds")))))
    assert [(row["table"], row["dataset"], row["cost_name"]) for row in rows] == [
        ("own/my.csv", "my.csv", "seconds")
    ] * 4
    by_learner = {row["learner"]: row for row in rows}
    assert (by_learner["slow"]["cost"], by_learner["slow"]["mean"]) == ("2.0", "10.0")
    assert {name for name, row in by_learner.items() if row["unbeaten"] == "True"} == {
        "quick", "slow",
    }  # fmt: skip


def test_ranks_over_the_permutations_of_one_dataset_are_those_counted_by_hand() -> None:
    found = ranking_on(made(), "my.csv")
    assert [(one.learner, one.rank) for one in found.ranks] == [
        ("slow", 1.0), ("quick", 2.5), ("same", 2.5), ("poor", 4.0),
    ]  # fmt: skip
    assert (found.over, found.datasets) == ("4 permutations of my.csv", ("my.csv",))
    # q(0.05; 4 groups) is 3.633, and 3.633 / √2 · √(4 · 5 / (6 · 4)) = 2.345
    assert found.critical == pytest.approx(2.345, abs=0.001)
    assert found.nemenyi == (("slow", "quick", "same"), ("quick", "same", "poor"))
    rows = list(csv.DictReader(io.StringIO(ranking_csv(found))))
    assert [row["rank"] for row in rows] == ["1.0", "2.5", "2.5", "4.0"]


@pytest.mark.parametrize("size", SIZES)
def test_every_picture_is_as_wide_as_its_columns(size: Size) -> None:
    look = PageLook(size)
    inches = {"column": 3.3, "page": 6.8}[size]
    for files in (
        tradeoff_images(tradeoff(made(), "seconds"), look),
        ranking_images(ranking_on(made(), "my.csv"), "r", look),
    ):
        assert set(files) == set(FORMATS)
        width = int.from_bytes(files["png"][16:20], "big")
        assert width == pytest.approx(200 * inches, abs=1)
        box = files["pdf"].partition(b"/MediaBox [ ")[2].split()[2]
        assert float(box) == pytest.approx(72 * inches)
        assert files["svg"].count(b"<svg") == 1
        assert b"<image" not in files["svg"]  # nothing is made of pixels


def test_the_same_numbers_give_the_same_bytes() -> None:
    found, look = tradeoff(made(), "bytes"), PageLook()
    assert tradeoff_images(found, look) == tradeoff_images(found, look)


def test_the_title_is_in_the_picture_only_if_it_is_asked_for() -> None:
    from matplotlib import rc_context

    from okbench.reports.figures.tradeoff import _drawn

    for titled in (False, True):
        look = PageLook(titled=titled)
        with rc_context(look.style):
            page = _drawn(tradeoff(made(), "seconds"), look)
        words = [text.get_text() for text in page.texts]
        assert any("own/my.csv-frontier: Mine" in text for text in words) is titled
        assert any("no other beats" in text for text in words) is titled


def test_the_font_is_part_of_the_pdf() -> None:
    found = tradeoff(made(), "seconds")
    page = tradeoff_images(found, PageLook(font="DejaVu Serif"))["pdf"]
    assert b"DejaVuSerif" in page
    assert b"/Subtype /Type3" not in page
    assert b"DejaVuSerif" not in tradeoff_images(found, PageLook())["pdf"]
    with pytest.raises(UsageError, match="there is no font 'No Such Font' here; serif"):
        tradeoff_images(found, PageLook(font="No Such Font"))


def test_a_single_learner_has_room_on_its_axis() -> None:
    """Matplotlib alone finds no room around this cost and divides by zero."""
    found = tradeoff(made(), "seconds")
    one = found.frontiers["my.csv"]
    spot = replace(one.best[0], cost=0.02661150368651009)
    alone = replace(one, spots=(spot,), best=(spot,))
    images = tradeoff_images(replace(found, frontiers={"my.csv": alone}), PageLook())
    assert set(images) == set(FORMATS)


def test_without_matplotlib_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip install 'okbench\[plot\]'"):
        tradeoff_images(tradeoff(made(), "seconds"), PageLook())


def test_drawings_load_no_matplotlib() -> None:
    code = (
        "import sys, okbench.cli.plot, okbench.reports.figures.drawings;"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


YAML = """\
title: Small
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
settings: {width: 0.25, budget: 20}
datasets: {breast-cancer: }
learners: {RBP: , FOGD: {components: 2 * budget}}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and its outcomes."""
    folder = tmp_path_factory.mktemp("plotted")
    (folder / "small.yaml").write_text(YAML, encoding="utf-8")
    words = [str(folder / "small.yaml"), "--results", str(folder / "runs"), "--jobs", "1"]
    assert CliRunner().invoke(run, words).exit_code == 0
    return folder


def plotted(folder: Path, *words: str) -> Result:
    place = ["--results", str(folder / "runs")]
    return CliRunner().invoke(plot, [str(folder / "small.yaml"), *place, *words])


def test_a_table_is_drawn_without_a_file_for_its_figures(measured: Path, tmp_path: Path) -> None:
    done = plotted(measured, "--to", str(tmp_path))
    assert done.exit_code == 0, done.output
    names = ("small", "small-ranks", "small-frontier", "small-memory")
    files = [f"{name}.{ending}" for name in names for ending in (*FORMATS, "csv")]
    assert done.stdout.split() == [str(tmp_path / file) for file in files]
    assert all((tmp_path / file).stat().st_size > 80 for file in files)
    assert "ranks: Mean ranks over 3 permutations of breast-cancer, 1 the best" in done.stderr
    assert "curves: Means over 3 permutations; shaded: standard deviation" in done.stderr


def test_one_of_the_drawings_may_be_chosen(measured: Path, tmp_path: Path) -> None:
    words = ("--draw", "frontier", "--size", "column", "--title", "--to", str(tmp_path))
    done = plotted(measured, *words)
    assert [Path(line).name for line in done.stdout.split()] == [
        f"small-frontier.{ending}" for ending in (*FORMATS, "csv")
    ]
    assert done.stderr == ""  # the caption is in the picture


def test_what_cannot_be_drawn_is_named_and_the_rest_is_drawn(
    measured: Path, tmp_path: Path
) -> None:
    done = plotted(measured, "--learners", "FOGD", "--to", str(tmp_path))
    assert done.exit_code == 0
    assert "not drawn: ranks, because there are" in done.stderr
    assert (tmp_path / "small-memory.pdf").is_file()
    nothing = plotted(measured, "--learners", "FOGD", "--draw", "ranks", "--to", str(tmp_path))
    assert isinstance(nothing.exception, UsageError)


def test_a_figure_has_one_drawing(measured: Path) -> None:
    assert [one.kind for one in drawings_of(measured, "curves", "memory")] == ["curves", "memory"]
    curves = "title: C\nkind: curves\nof: small\ndraw: {quantities: [metric]}\n"
    (measured / "c.yaml").write_text(curves, encoding="utf-8")
    refused = CliRunner().invoke(plot, [str(measured / "c.yaml"), "--draw", "ranks"])
    assert "--draw goes with a table, and c is a figure" in str(refused.exception)


def drawings_of(folder: Path, *kinds: Any) -> list[Any]:
    from okbench.papers.table_catalogue import find
    from okbench.reports.load import load_table

    table = find(str(folder / "small.yaml"))
    return drawings(load_table(table, folder / "runs"), PageLook(), kinds)
