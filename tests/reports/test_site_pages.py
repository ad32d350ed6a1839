"""What stands on the pages, and that nobody's name can break them."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcome_material import MACHINE, outcomes, results_file
from site_material import CPU, HOSTILE, NAME, ROWS, TITLE, Page, hostile_site
from small_table import all_measured, small_table

from okbench.reports.frontiers import frontier
from okbench.reports.site.axes import Axis, axis, banded, counted, timed
from okbench.reports.site.build import build
from okbench.reports.site.grids import align_numbers
from okbench.reports.site.index_page import Entry, index_page
from okbench.reports.site.markup import tag
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import Judgement


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folder = tmp_path_factory.mktemp("hostile")
    hostile_site(folder)
    return {
        "index": Page(folder / "site/index.html"),
        "table": Page(folder / f"site/tables/{NAME}.html"),
    }


def test_every_element_closes_and_every_id_is_there_once(pages: dict[str, Page]) -> None:
    for page in pages.values():
        assert page.faults == []
        assert page.open == []
        assert len(page.ids) == len(set(page.ids))


def test_names_that_are_markup_are_shown_as_text(pages: dict[str, Page]) -> None:
    for page in pages.values():
        scripts = [attrs for tag_, attrs in page.tags if tag_ == "script"]
        assert [set(attrs) for attrs in scripts] == [{"src"}]
        assert not [tag_ for tag_, _ in page.tags if tag_ in ("img", "iframe")]
        assert not [key for _, attrs in page.tags for key in attrs if key.startswith("on")]
        assert NAME in page.text
        assert CPU in page.text
    for words in (HOSTILE, ROWS, TITLE):
        assert words in pages["table"].text


def test_a_cell_has_printed_ours_difference_verdict_trials_and_seconds(
    pages: dict[str, Page],
) -> None:
    row = pages["table"].row("one", "Perceptron")
    dataset, learner, ours, outcome, printed, difference, base, reason, trials, _, seconds = row
    assert (dataset, learner, printed, trials, seconds) == (
        "one", "Perceptron", "20.0 ± 0.7", "6", "0.200",
    )  # fmt: skip
    mean = float(ours.split()[0])
    assert difference == f"{mean - 20:+.2f}".replace("-", "−")
    assert outcome in ("= as printed", "≈ within")
    assert base == "printed"
    assert bool(reason) == (outcome == "≈ within")


def test_why_nothing_can_be_said_is_told(pages: dict[str, Page]) -> None:
    row = pages["table"].row("one", "FOGD")
    assert (row[3], row[6]) == ("≈ within", "fitted")
    row = pages["table"].row(ROWS, "Perceptron")
    assert (row[3], *row[6:9]) == ("… too few trials", "", "3 of 6 are done", "3/6")


def test_a_cell_without_trials_is_no_number(pages: dict[str, Page]) -> None:
    row = pages["table"].row(ROWS, "FOGD")
    assert row[2] == "—"
    assert row[8] == "missing"


def test_the_index_counts_cells_trials_and_verdicts(pages: dict[str, Page]) -> None:
    row = pages["index"].row(f"{NAME} {TITLE}")
    assert row[2:4] == ["3 of 6", "21"]
    assert sum(map(int, row[4:10])) == 4  # cells with a printed number


def test_the_index_answers_which_numbers_stand(pages: dict[str, Page]) -> None:
    """The sentences, both axes and the counts per table say the same."""
    index = pages["index"]
    row = index.row(f"{NAME} {TITLE}")
    printed, within, better, worse, waiting, few = map(int, row[4:10])
    agree, by_fit = (int(text or 0) for text in row[10:12])
    assert agree + by_fit == printed + within
    measured = 4 - waiting - few
    answer = (
        f"The papers print 4 numbers in these tables, and {measured} of them were measured. "
        f"{agree} agree with our measurement. {by_fit} more agree"
    )
    assert answer in index.text
    assert f"{better} are better here than printed, and {worse} worse." in index.text
    hrefs = {attrs.get("href") for name, attrs in index.tags if name == "a"}
    assert {"#verdicts", "#tables"} <= hrefs


def test_the_machine_and_its_versions_are_on_every_page(pages: dict[str, Page]) -> None:
    for page in pages.values():
        assert "numpy 2, numba 0, okbench 0.1.0" in page.text
        assert "4 GB" in page.text


def test_every_chart_has_a_title_words_and_its_numbers(pages: dict[str, Page]) -> None:
    page = pages["table"]
    charts = [attrs for tag_, attrs in page.tags if attrs.get("role") == "img"]
    assert len(charts) == 4  # convergence and frontier of two datasets
    for attrs in charts:
        for name in (attrs["aria-labelledby"] or "").split():
            assert name in page.ids
    assert page.text.count("Numbers") == 4
    assert page.row("rows seen")[1:] == ["Perceptron", HOSTILE, "FOGD"]
    assert len([row for row in page.rows if row[0] == "1,000"]) == 2


def test_two_machines_are_both_named_and_share_no_frontier(tmp_path: Path) -> None:
    found = [
        replace(one, environment="e2") if one.trial.learner == "FOGD" else one
        for one in all_measured(small_table())
    ]
    machines = {"e1": MACHINE, "e2": {**MACHINE, "cpu": "another"}}
    results_file(tmp_path / "runs/made/small.jsonl", found, machines=machines)
    build(tmp_path / "runs", tmp_path / "site", [small_table()])
    page = Page(tmp_path / "site/tables/made/small.html")
    assert "one is not drawn: its seconds are of several machines or versions." in page.text
    assert "Seconds of several machines: do not compare them with each other." in page.text
    machines_told = [row for row in page.texts if row in ("one", "another")]
    assert "another" in machines_told


def test_an_environment_that_was_not_recorded_is_said_to_be_so(tmp_path: Path) -> None:
    found = [replace(one, environment="gone") for one in outcomes([100, 110])]
    results_file(tmp_path / "runs/t.jsonl", found)
    build(tmp_path / "runs", tmp_path / "site")
    assert "Machine of okbench: not recorded." in Page(tmp_path / "site/tables/t.html").text
    assert "not recorded" in Page(tmp_path / "site/index.html").texts


def test_the_baseline_stands_in_a_column_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = small_table({("one", "FOGD"): "15.0 ± 1.0"})
    results_file(tmp_path / "runs/made/small.jsonl", all_measured(table))
    blessed = {"table": "made/small", "reason": "first"}
    results_file(tmp_path / "results/made/small.jsonl", all_measured(table), blessed=blessed)
    build(Path("runs"), Path("site"), [table])
    page = Page(tmp_path / "site/tables/made/small.html")
    names = [name.strip() for name in page.row("dataset", "learner")]
    assert names[2:6] == ["okbench", "outcome", "paper prints", "baseline"]
    row = page.row("one", "FOGD")
    assert (row[2], *row[4:6]) == ("15.00 ± 0.71", "15.0 ± 1.0", "15.00 ± 0.71")


@given(st.lists(st.text(alphabet="0123456789.±% −+–abc<&", max_size=12), min_size=1))
def test_aligning_changes_no_text(texts: list[str]) -> None:
    for text, shown in zip(texts, align_numbers(texts), strict=True):
        assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == text


def test_numbers_get_the_room_that_others_need() -> None:
    one, two = align_numbers(["35.2 % ± 0.9", "4.01 % ± 10.10"])
    assert one == '<b data-after="0">35.2</b> % ± <b data-before="0" data-after="0">0.9</b>'
    assert two == "<b>4.01</b> % ± <b>10.10</b>"


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    inside = tag("p", text, title=text)
    assert re.fullmatch(r'<p title="[^"<>\']*">[^<>]*</p>', inside, re.DOTALL)
    assert inside.encode()


def test_characters_no_page_may_have_are_replaced() -> None:
    assert tag("p", "a\x00b\ud800c") == "<p>a\ufffdb\ufffdc</p>"


FINITE = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)


@given(st.lists(FINITE, min_size=1, max_size=20))
def test_values_lie_within_their_axis_in_order(values: list[float]) -> None:
    found = axis(values, 10.0, 90.0)
    places = [found(value) for value in sorted(values)]
    assert all(10.0 - 1e-6 <= place <= 90.0 + 1e-6 for place in places)
    assert places == sorted(places)


@given(st.lists(FINITE, min_size=1, max_size=20))
def test_ticks_are_few_and_on_the_axis(values: list[float]) -> None:
    found = axis(values, 0.0, 1.0)
    ticks = found.ticks()
    assert 1 <= len(ticks) <= 8
    assert all(-1e-6 <= found(tick) <= 1 + 1e-6 for tick in ticks)


def test_ticks_are_round() -> None:
    assert Axis(0, 9.7, 0, 1).ticks() == [0, 2, 4, 6, 8]
    assert Axis(0.0007, 15, 0, 1, logarithmic=True).ticks() == [0.001, 0.01, 0.1, 1, 10]
    assert Axis(2.2, 4.4, 0, 1, logarithmic=True).ticks() == [2.5, 3, 4]


def test_far_apart_means_are_drawn_in_logarithms_and_bands_cannot_undo_that() -> None:
    found = banded([(0.01, 0.5), (30.0, 1.0)], 0, 100)
    assert found.logarithmic
    assert found(0.0) == found(found.low)
    assert not banded([(0.0, 0.5), (30.0, 1.0)], 0, 100).logarithmic


def test_ticks_are_written_with_their_unit() -> None:
    assert [timed(value) for value in (2.0, 0.02, 5e-5)] == ["2 s", "20 ms", "50 µs"]
    assert [counted(value) for value in (200, 1500, 2e6)] == ["200", "1.5k", "2M"]


def cells(*spots: tuple[str, float, float], **more: object) -> Report:
    """A report of one dataset with a complete cell for each (learner, seconds, mean)."""
    found = {
        ("one", name): Cell(
            "one", name, "mistake_rate", (mean,), 1, (0,), seconds=seconds, environments=("e",)
        )
        for name, seconds, mean in spots
    }
    names = tuple(name for name, _, _ in spots)
    return Report("t", "T", "mistake_rate", True, ("one",), names, found, ())


def best(report: Report) -> list[str]:
    return [spot.learner for spot in frontier(report, "one").best]


def test_the_frontier_is_what_nobody_beats_in_both() -> None:
    report = cells(("slow", 9, 10), ("quick", 1, 30), ("beaten", 5, 30), ("middle", 4, 20))
    assert best(report) == ["quick", "middle", "slow"]


def test_the_index_counts_what_cannot_be_judged() -> None:
    found = [Judgement("as printed", ""), Judgement("cannot say", "one trial has no deviation")]
    entry = Entry("t", "T", "", 2, 2, 2, "", found, None, {}, {})
    assert "1 cannot be judged, because a single trial has no deviation." in index_page([entry], {})


def test_of_equals_the_quicker_is_on_the_frontier() -> None:
    assert best(cells(("a", 2, 10), ("b", 1, 10))) == ["b"]
    assert best(cells(("a", 1, 20), ("b", 1, 10))) == ["b"]


def test_where_more_is_better_the_frontier_turns_over() -> None:
    report = replace(cells(("a", 1, 80), ("b", 2, 70), ("c", 3, 90)), lower_is_better=False)
    assert best(report) == ["a", "c"]


def test_an_incomplete_cell_is_not_on_the_frontier() -> None:
    report = cells(("a", 1, 5), ("b", 2, 10))
    half = replace(report.cells["one", "a"], expected=2)
    assert best(replace(report, cells={**report.cells, ("one", "a"): half})) == ["b"]


def test_seconds_measured_alone_and_side_by_side_share_no_frontier() -> None:
    report = cells(("a", 1, 5), ("b", 2, 10))
    alone = replace(report.cells["one", "a"], timed=True)
    found = frontier(replace(report, cells={**report.cells, ("one", "a"): alone}), "one")
    assert found.best == ()
    assert "some side by side" in found.reason
