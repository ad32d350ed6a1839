"""What tables with test rows ask of their reports: total times, stars, NA, and classes."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from outcome_material import outcome, trial
from scipy.stats import ttest_1samp, ttest_rel

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import ConfigError
from okbench.papers.printed import printed_cell
from okbench.papers.table_file import read_table
from okbench.papers.table_parts import read_shown
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    PrintedCell,
    Protocol,
    Searched,
    Shown,
    Table,
)
from okbench.protocols.metrics import METRICS
from okbench.reports.claims.claim_evidence import _VALUES
from okbench.reports.numbers import duration
from okbench.reports.statistics import paired_p
from okbench.reports.tables.layout import compared
from okbench.reports.tables.paper_layout import paper_sheet
from okbench.reports.tables.render import render
from okbench.reports.tables.report import Report, report
from okbench.trials.plan.cells import repetitions_of
from okbench.trials.plan.options import Options
from okbench.trials.trial_types import Outcome

SHOWN = Shown("search + training", "hours", stars=0.05, classes=True)
PRINTED = {
    ("rows", "BKM"): PrintedCell("rows", "BKM", 84.45, 0.18, 1512.0, "84.45 ± 0.18", "0.42"),
    ("rows", "SVM"): PrintedCell("rows", "SVM", 84.92, None, 5184.0, "84.92", "1.44 (1.42+0.02)"),
    ("rows", "RKS"): PrintedCell("rows", "RKS", None, None, None, "NA", "NA"),
}
DAY = 86400.0
TABLE = Table(
    name="ours/fits",
    title="Fits",
    paper="ours",
    protocol=Protocol("train-test", "accuracy", runs=5, na_after=50 * DAY),
    datasets=(DatasetRow("rows"),),
    learners=(LearnerColumn("BKM", "B"), LearnerColumn("SVM", "S", runs=1),
              LearnerColumn("RKS", "R")),
    settings={},
    shown=SHOWN,
    searched={("rows", "SVM"): Searched(5400.0), ("rows", "RKS"): Searched(36.0)},
)  # fmt: skip
BKM, SVM, RKS = (100, 102, 99, 101, 100), (110,), (300, 310, 290, 305, 295)  # mistakes of 1000
CLASSES = [["yes", 900, 40], ["no", 100, 60]]


def stored(label: str, mistakes: Sequence[float], **more: Any) -> dict[str, Outcome]:
    fields = {"train_seconds": 90.0, "seconds": 100.0, "extra": {"classes": CLASSES}, **more}
    return {
        f"{label}{r}": outcome(total, trial(label, repetition=r, metric="accuracy"), **fields)
        for r, total in enumerate(mistakes)
    }


def made(table: Table = TABLE, **cells: dict[str, Outcome]) -> Report:
    found = {"BKM": stored("BKM", BKM), "SVM": stored("SVM", SVM), "RKS": stored("RKS", RKS)}
    found |= cells
    ids = {("rows", label): tuple(held) for label, held in found.items()}
    every = {id_: one for held in found.values() for id_, one in held.items()}
    return report(table, every, ids, {"e1": "a machine"})


def lines_of(page: str, learner: str) -> list[str]:
    (line,) = [line for line in page.splitlines() if line.split("  ")[0] == learner]
    return [part.strip() for part in line.split("  ") if part.strip()]


# --- times --------------------------------------------------------------------------------------


def test_search_and_one_training_are_added_and_prediction_is_not() -> None:
    cells = made().cells
    assert cells["rows", "SVM"].time == 5400.0 + 90.0
    assert cells["rows", "BKM"].time == 90.0  # nothing was searched
    alone = made(replace(TABLE, shown=Shown("training"))).cells
    assert alone["rows", "SVM"].time == 90.0
    everything = made(replace(TABLE, shown=Shown())).cells
    assert everything["rows", "SVM"].time == 100.0


def test_the_time_of_feature_maps_is_left_out_where_learners_state_it() -> None:
    mapped = stored("SVM", SVM, extra={"map_seconds": 60.0})
    half = stored("RKS", RKS)
    half["RKS0"] = replace(half["RKS0"], extra={"map_seconds": 60.0})
    shown = made(replace(TABLE, shown=Shown("without map")), SVM=mapped, RKS=half)
    times = {label: cell.time for (_, label), cell in shown.cells.items()}
    assert times == {"BKM": 100.0, "SVM": 40.0, "RKS": 100.0}
    assert _VALUES["without map"](shown.cells["rows", "SVM"]) == 40.0
    assert made(SVM=mapped).cells["rows", "SVM"].time == 5400.0 + 90.0
    page = render(shown, "terminal")
    assert "time without map" in page
    assert "without those of its feature map" in page
    assert "The feature map of SVM took 60 % of all its seconds." in page
    assert "feature map of RKS" not in page  # four of its five trials do not state it


def test_metric_and_time_stand_in_one_sheet_with_the_papers() -> None:
    sheet = compared(made(replace(TABLE, printed=PRINTED)))
    assert sheet.header == (
        "learner", "paper prints", "okbench", "balanced", "outcome", "rests on", "paper prints",
        "okbench",
    )  # fmt: skip
    assert sheet.over == (("accuracy, % ↑", 5), ("total time ↓", 2))
    by_learner = {row[0].text: [entry.text for entry in row] for row in sheet.groups[0]}
    assert by_learner["rows"][-2:] == ["hours", ""]
    assert by_learner["SVM"][-2:] == ["1.44 (1.42+0.02)", "1.52 h (1.50 + 0.03)"]
    assert by_learner["BKM"][-2:] == ["0.42", "1.50 min"]
    assert by_learner["RKS"][-2:] == ["NA", "2.10 min (0.60 + 1.50)"]
    assert any("one training at the settings it chose" in note for note in sheet.notes)


def test_a_search_that_was_cut_is_marked_and_its_time_proves_nothing() -> None:
    cut = {**TABLE.searched, ("rows", "RKS"): Searched(36.0, cut="0.1 of the rows instead of 1")}
    report = made(replace(TABLE, searched=cut))
    sheet = compared(report)
    by_learner = {row[0].text: [entry.text for entry in row] for row in sheet.groups[0]}
    assert by_learner["RKS"][-1] == "2.10 min (0.60 + 1.50) (cut)"
    assert [note for note in sheet.notes if note.startswith("(cut)")] == [
        "(cut): the search was smaller than the table asks for, 0.1 of the rows instead of 1: "
        "RKS on rows."
    ]
    assert _VALUES["seconds"](report.cells["rows", "RKS"]) is None
    assert _VALUES["seconds"](report.cells["rows", "SVM"]) is not None


@pytest.mark.parametrize(
    ("seconds", "parts", "text"),
    [
        (0.0, (), "0.00 s"),
        (12.345, (12.0, 0.345), "12.35 s (12.00 + 0.34)"),
        (90.0, (), "1.50 min"),
        (5184.0, (), "86.40 min"),
        (5400.0, (5112.0, 288.0), "1.50 h (1.42 + 0.08)"),
        (978336.0, (), "271.76 h"),
    ],
)
def test_times_have_the_unit_that_suits(seconds: float, parts: Sequence[float], text: str) -> None:
    assert duration(seconds, parts) in (text, text.replace("0.34)", "0.35)"))


@pytest.mark.parametrize(
    ("text", "unit", "seconds"),
    [
        ("1.44 (1.42+0.02)", "hours", 5184.0),
        ("0.40", "hours", 1440.0),
        ("2", "minutes", 120.0),
        ("1,008.5", "seconds", 1008.5),
        ("NA", "hours", None),
        ("(1.42+0.02)", "hours", None),
        ("> 50 days", "hours", None),
    ],
)
def test_a_printed_total_counts_in_its_unit(text: str, unit: Any, seconds: float | None) -> None:
    node = parse_yaml(f'["84.92", "{text}"]', "t.yaml")
    cell = printed_cell("rows", "SVM", node, unit)
    assert cell.seconds == (None if seconds is None else pytest.approx(seconds))
    assert (cell.seconds_text, cell.mean) == (text, 84.92)


# --- NA -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("searched", "cell", "words"),
    [
        ({("rows", "SVM"): Searched(63 * DAY, "by 3 of 121")}, {}, "NA (about 63 days)"),
        ({}, {"status": "diverged"}, "NA (did not converge)"),
        (
            {("rows", "SVM"): Searched(5 * DAY)},
            {"status": "timeout", "extra": {"expected_seconds": 60 * DAY}},
            "NA (about 65 days)",
        ),
        ({}, {"status": "timeout", "seconds": 50 * DAY}, "NA (over 50 days)"),
        ({("rows", "SVM"): Searched(49.5 * DAY)}, {"train_seconds": DAY}, "NA (50.5 days)"),
    ],
)
def test_what_takes_too_long_or_does_not_converge_is_na(
    searched: Mapping[Any, Searched], cell: dict[str, Any], words: str
) -> None:
    page = made(replace(TABLE, searched=searched), SVM=stored("SVM", SVM, **cell))
    found = page.cells["rows", "SVM"]
    assert (found.na, found.shortfall, found.complete) == (words, words, False)
    assert ("rows", "SVM") not in page.best
    text = render(page, "terminal")
    assert lines_of(text, "SVM")[-2:].count(words) >= 1
    assert "NA: search and training take longer than 50 days" in text
    assert json.loads(render(page, "json"))["cells"][1]["na"] == words


def test_a_table_without_a_limit_has_no_na() -> None:
    table = replace(TABLE, protocol=replace(TABLE.protocol, na_after=math.inf))
    late = made(table, SVM=stored("SVM", SVM, status="timeout"))
    assert (late.cells["rows", "SVM"].na, late.cells["rows", "SVM"].shortfall) == ("", "timeout 1")
    json.loads(render(late, "json"))


def test_a_cell_with_some_trials_done_is_not_na() -> None:
    mixed = stored("BKM", BKM)
    mixed["BKM0"] = replace(mixed["BKM0"], status="timeout")
    cell = made(BKM=mixed).cells["rows", "BKM"]
    assert (cell.na, cell.shortfall) == ("", "4/5, timeout 1")


# --- stars --------------------------------------------------------------------------------------


def test_the_p_value_is_scipys() -> None:
    one, other = [90.0, 89.8, 90.1, 89.9, 90.0], [89.9, 89.9, 89.7, 89.8, 89.6]
    assert paired_p(one, other) == pytest.approx(ttest_rel(one, other).pvalue, rel=1e-12)
    assert paired_p(one, [89.8]) == pytest.approx(ttest_1samp(one, 89.8).pvalue, rel=1e-12)
    assert paired_p([89.8], one) == paired_p(one, [89.8])
    # by hand: differences 1, 2, 3 have mean 2, deviation 1, t = 2 √3, p of 2 degrees of freedom
    t = 2 * math.sqrt(3)
    assert paired_p([1, 2, 3], [0, 0, 0]) == pytest.approx(1 - t / math.sqrt(2 + t * t))
    assert (paired_p([2, 2], [1, 1]), paired_p([1, 1], [1, 1])) == (0.0, 1.0)
    assert [paired_p([1.0], [2.0]), paired_p([1, 2, 3], [1, 2]), paired_p([], [])] == [None] * 3
    assert paired_p([1.0, math.inf], [1.0, 2.0]) is None


def test_the_best_is_tested_against_a_rival_that_is_run_once() -> None:
    star = made().stars["rows"]
    values = [100 - total / 10 for total in BKM]
    assert (star.best, star.runner_up) == ("BKM", "SVM")
    assert star.p == pytest.approx(ttest_1samp(values, 89.0).pvalue, rel=1e-9)
    assert star.is_set


def test_repetitions_are_paired_where_both_have_them() -> None:
    rival = stored("RKS", (101, 101, 102, 100, 102))
    star = made(SVM=stored("SVM", (400,)), RKS=rival).stars["rows"]
    first = [90 - (total - 100) / 10 for total in BKM]
    second = [89.9, 89.9, 89.8, 90.0, 89.8]
    assert star.runner_up == "RKS"
    assert star.p == pytest.approx(ttest_rel(first, second).pvalue, rel=1e-6)
    assert not star.is_set


def test_no_star_where_there_is_nothing_to_tell_apart() -> None:
    same = made(SVM=stored("SVM", (400,)), RKS=stored("RKS", BKM))
    assert same.stars == {}  # two are the best
    incomplete = made(BKM={}, RKS={})
    assert incomplete.stars == {}
    assert made(replace(TABLE, shown=replace(SHOWN, stars=0.0))).stars == {}


def test_stars_and_underlines_stand_in_every_format() -> None:
    page = made()
    terminal = render(page, "terminal")
    assert "* 89.96 ± 0.11*" in terminal
    assert "_89.00_" in terminal
    assert "A star: the best differs from the runner-up" in terminal
    assert "**89.96 ± 0.11\\***" in render(page, "md")
    assert "<u>89.00</u>" in render(page, "md")
    assert r"\textbf{89.96 $\pm$ 0.11$^*$}" in render(page, "latex")
    assert r"\underline{89.00}" in render(page, "latex")
    best, second, last = csv.DictReader(io.StringIO(render(page, "csv")))
    assert (best["place"], best["star"], second["underlined"], last["place"]) == (
        "1", "True", "True", ""
    )  # fmt: skip
    assert best["p"] == second["p"] != last["p"] == ""
    assert float(second["search_seconds"]) == 5400.0
    assert float(second["time_seconds"]) == 5490.0
    marks = [cell["marks"] for cell in json.loads(render(page, "json"))["cells"]]
    assert [one["star"] for one in marks] == [True, False, False]
    assert [one["underlined"] for one in marks] == [False, True, False]


def test_a_table_that_asks_for_nothing_has_neither() -> None:
    page = made(replace(TABLE, shown=Shown()))
    for form in ("terminal", "md", "latex"):
        text = render(page, form)
        assert not any(sign in text for sign in ("star", "_89.00_", "<u>", "underline", "balanced"))
    assert "search_seconds" not in render(page, "csv")


# --- classes ------------------------------------------------------------------------------------


def test_balanced_accuracy_and_the_most_frequent_class_are_those_counted_by_hand() -> None:
    cell = made().cells["rows", "BKM"]
    assert cell.balanced == pytest.approx(100 * (860 / 900 + 40 / 100) / 2)
    assert cell.majority == 90.0


def test_who_is_no_better_than_the_most_frequent_class_is_named() -> None:
    better = {"BKM": stored("BKM", (50,) * 5), "SVM": stored("SVM", (99,))}
    text = render(made(**better, RKS=stored("RKS", (100,) * 5)), "terminal")
    assert (
        "rows: always answering its most frequent class is right on 90.00 % of the test rows; no "
        "more than that: RKS." in text
    )


def test_the_same_of_a_table_of_mistakes_without_printed_numbers() -> None:
    protocol = replace(TABLE.protocol, metric="mistake_rate")
    worse = {"BKM": stored("BKM", (50,) * 5), "SVM": stored("SVM", (101,))}
    sheet = paper_sheet(
        made(replace(TABLE, protocol=protocol), **worse, RKS=stored("RKS", (99,) * 5))
    )
    assert sheet.header == ("learner", "% ↓", "balanced", "time ↓")
    (note,) = [note for note in sheet.notes if "most frequent class" in note]
    assert note.endswith("; no more than that: SVM.")


# --- what the file says ---------------------------------------------------------------------------


def test_what_a_file_asks_of_its_reports() -> None:
    text = "{seconds: search + training, unit: hours, stars: 0.05, classes: true}"
    assert read_shown(parse_yaml(text, "t.yaml"), METRICS["accuracy"]) == SHOWN
    assert read_shown(None, METRICS["accuracy"]) == Shown()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{seconds: total}", "'total' is not one of all, search"),
        ("{unit: days}", "'days' is not one of hours"),
        ("{stars: 0}", "a p value between 0 and 1"),
        ("{stars: 5}", "a p value between 0 and 1"),
        ("{stars: yes!}", "a number is expected"),
        ("{classes: 1}", "true or false is expected"),
        ("{together: true}", "'together' is not a key here"),
        ("{star: 0.05}", "'star' is not a key here. Did you mean 'stars'"),
    ],
)
def test_what_a_file_asks_wrongly_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_shown(parse_yaml(text, "t.yaml"), METRICS["accuracy"])


FILE = """\
title: Fits
protocol: {kind: train-test, metric: accuracy, runs: 5, na_after: 50d}
datasets: {hyperplane: }
learners: {OGD: {runs: 1}, RBP: }
report: {stars: 0.01}
printed: {hyperplane: {OGD: [90.0, "1.5"]}}
"""


def test_a_learner_may_have_a_number_of_runs_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "fits.yaml").write_text(FILE, encoding="utf-8")
    table = read_table(tmp_path / "fits.yaml", "fits")
    assert (table.protocol.na_after, table.shown.stars) == (50 * DAY, 0.01)
    asked = [Options(), Options(trials=3), Options(repetitions=(0, 4))]
    assert [repetitions_of(table, one, "OGD") for one in asked] == [(0,), (0,), (0, 4)]
    assert [len(repetitions_of(table, one, "RBP")) for one in asked] == [5, 3, 2]
    for runs in ("0", "many"):
        (tmp_path / "fits.yaml").write_text(FILE.replace("runs: 1", f"runs: {runs}"), "utf-8")
        with pytest.raises(ConfigError, match=r"fits\.yaml:4"):
            read_table(tmp_path / "fits.yaml", "fits")
