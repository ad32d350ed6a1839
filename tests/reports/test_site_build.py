"""The folder of pages: what is written, what is kept, what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from outcome_material import outcome, outcomes, results_file, trial
from site_material import HOSTILE, NAME, Page, hostile_outcomes, hostile_site, hostile_table
from small_table import PERCEPTRON, all_measured, small_table

from okbench.base.errors import StoreError, UsageError
from okbench.cli.site import site
from okbench.papers.table_types import Figure, LearnerColumn, Point
from okbench.reports.site.build import LIST, build


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_same_outcomes_give_the_same_bytes(tmp_path: Path) -> None:
    hostile_site(tmp_path / "a")
    hostile_site(tmp_path / "b")
    first, second = files_of(tmp_path / "a/site"), files_of(tmp_path / "b/site")
    assert first == second
    assert first


def test_the_outcomes_lie_beside_as_they_were_written(tmp_path: Path) -> None:
    hostile_site(tmp_path)
    raw = tmp_path / f"site/raw/{NAME}.jsonl"
    assert raw.read_bytes() == (tmp_path / f"runs/{NAME}.jsonl").read_bytes()


def test_no_page_needs_a_network(tmp_path: Path) -> None:
    hostile_site(tmp_path)
    for name, content in files_of(tmp_path / "site").items():
        if name.endswith((".html", ".css", ".js")):
            own = re.sub(
                rb'<a href="https://[^>]*>.*?</a>', b"", content
            )  # what a reader may follow
            assert not re.search(rb"(?:https?:)?//[a-z0-9]|@import|url\(", own), name


def test_every_link_leads_to_a_file_or_a_place_of_the_page(tmp_path: Path) -> None:
    hostile_site(tmp_path)
    pages = {path: Page(path) for path in (tmp_path / "site").rglob("*.html")}
    folders = {path.relative_to(tmp_path / "site").parts[0] for path in pages}
    assert folders >= {"tables", "trials", "learners", "datasets", "index.html", "claims.html"}
    for path, page in pages.items():
        links = [attrs.get("href") or attrs.get("src") for _, attrs in page.tags]
        for link in filter(None, links):
            if link == "data:," or link.startswith("https://"):
                continue
            file, _, place = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), link
            assert not place or unquote(place) in pages[target].ids, link


def test_a_site_is_replaced_and_what_others_put_there_stays(tmp_path: Path) -> None:
    runs, to = tmp_path / "runs", tmp_path / "site"
    results_file(runs / "first.jsonl", outcomes([100, 110]))
    build(runs, to)
    (to / "CNAME").write_text("mine", encoding="utf-8")
    (runs / "first.jsonl").rename(runs / "second.jsonl")
    build(runs, to)
    assert not (to / "tables/first.html").exists()
    assert not (to / "raw/first.jsonl").exists()
    assert (to / "tables/second.html").is_file()
    assert (to / "CNAME").read_text(encoding="utf-8") == "mine"


def test_a_page_of_another_hand_is_not_overwritten(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", outcomes([100]))
    (tmp_path / "home").mkdir()
    (tmp_path / "home/index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="okbench did not write"):
        build(tmp_path / "runs", tmp_path / "home")
    assert files_of(tmp_path / "home") == {"index.html": b"mine"}


def test_a_list_of_files_reaches_nothing_outside_the_site(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", outcomes([100]))
    precious = tmp_path / "precious"
    precious.write_text("mine", encoding="utf-8")
    (tmp_path / "site").mkdir()
    listed = {"files": ["../precious", str(precious), "assets"]}
    (tmp_path / "site" / LIST).write_text(json.dumps(listed), encoding="utf-8")
    build(tmp_path / "runs", tmp_path / "site")
    assert precious.read_text(encoding="utf-8") == "mine"


def test_a_damaged_list_is_told(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", outcomes([100]))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / LIST).write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be read"):
        build(tmp_path / "runs", tmp_path / "site")


def test_a_site_among_the_results_is_refused(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", outcomes([100]))
    with pytest.raises(UsageError, match="lies in the results"):
        build(tmp_path / "runs", tmp_path / "runs/site")


@pytest.mark.parametrize("there", [False, True], ids=["no folder", "an empty folder"])
def test_nothing_measured_names_the_command(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "runs").mkdir()
    with pytest.raises(UsageError, match="okbench run demo"):
        build(tmp_path / "runs", tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_table_that_was_not_run_is_told(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", outcomes([100]))
    with pytest.raises(UsageError, match="okbench run made/small"):
        build(tmp_path / "runs", tmp_path / "site", [small_table()])


def test_a_table_named_twice_is_shown_once(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/made/small.jsonl", all_measured(small_table()))
    site = build(tmp_path / "runs", tmp_path / "site", [small_table(), small_table()])
    assert site.tables == ("made/small",)


def test_results_of_no_known_table_are_shown_as_they_stand(tmp_path: Path) -> None:
    slow, quick = (outcomes([100 * k, 110 * k], "FOGD", settings=(("step", k),)) for k in (1, 2))
    other = outcome(5.0, trial("RRF", metric="rmse"))
    results_file(tmp_path / "runs/own/my rows.jsonl", [*slow, *quick, other])
    build(tmp_path / "runs", tmp_path / "site")
    page = Page(tmp_path / "site/tables/own/my rows.html")
    assert page.row("rows", "FOGD(step=1)")[2] == "10.50 ± 0.71"
    assert page.row("rows", "FOGD(step=2)")[2] == "21.00 ± 1.41"
    assert "No table of this name is known here" in page.text
    assert "other settings, versions or seeds (1)" in page.text


def test_outcomes_of_a_learner_that_cannot_be_loaded_stand_in_their_cells(tmp_path: Path) -> None:
    table = replace(small_table(), learners=(LearnerColumn("mine", "nowhere:Mine"),))
    results_file(
        tmp_path / "runs/made/small.jsonl",
        [
            outcome(total, trial("nowhere:Mine", "one", repetition))
            for repetition, total in enumerate(PERCEPTRON)
        ],
    )
    build(tmp_path / "runs", tmp_path / "site", [table])
    page = Page(tmp_path / "site/tables/made/small.html")
    assert "1 of 2 cells complete" in page.text
    assert "20.00" in "".join(page.row("one", "mine"))


def test_a_sweep_has_a_chart_a_panel(tmp_path: Path) -> None:
    swept = small_table(
        learners=tuple(
            LearnerColumn(f"{line} step={x}", line, point=Point(line, "step", x))
            for line in ("Perceptron",)
            for x in (0.5, 1.0)
        ),
        settings={},
        kind="sweep",
        figure=Figure(("metric", "seconds")),
    )
    table = small_table()
    results_file(
        tmp_path / "runs/made/small.jsonl",
        [one for one in all_measured(table) if one.trial.learner == "Perceptron"],
    )
    build(tmp_path / "runs", tmp_path / "site", [swept])
    page = Page(tmp_path / "site/tables/made/small.html")
    captions = [tag for tag, _ in page.tags if tag == "figcaption"]
    assert len(captions) == 4  # two datasets, the metric and the seconds of each
    assert page.faults == []


def test_the_command_writes_and_says_where(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", outcomes([100, 110]))
    to = tmp_path / "site"
    said = CliRunner().invoke(site, ["--results", str(tmp_path / "runs"), "--to", str(to)])
    assert said.exit_code == 0, said.output
    assert said.output.startswith(f"{to / 'index.html'}: t (")


def test_outcomes_measured_by_two_names_of_one_learner_stay_apart(tmp_path: Path) -> None:
    table = hostile_table()
    results_file(tmp_path / f"runs/{NAME}.jsonl", list(hostile_outcomes(table)))
    build(tmp_path / "runs", tmp_path / "site", [table])
    page = Page(tmp_path / f"site/tables/{NAME}.html")
    assert page.row("one", HOSTILE)[3] != page.row("one", "Perceptron")[3]


def test_a_file_without_outcomes_has_a_page_that_says_so(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", [])
    build(tmp_path / "runs", tmp_path / "site")
    page = Page(tmp_path / "site/tables/t.html")
    assert "0 trials" in page.text
    assert page.faults == []


def test_a_baseline_tells_when_and_why_it_was_blessed(tmp_path: Path) -> None:
    told = {"table": "t", "date": "2026-01-02", "reason": "first <measured>"}
    results_file(tmp_path / "runs/t.jsonl", outcomes([100, 110]), blessed=told)
    build(tmp_path / "runs", tmp_path / "site")
    page = Page(tmp_path / "site/tables/t.html")
    assert "A baseline of 2026-01-02: first <measured>." in page.text


def test_a_trial_with_two_scores_is_told(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/t.jsonl", [*outcomes([100, 110]), *outcomes([101])])
    build(tmp_path / "runs", tmp_path / "site")
    page = Page(tmp_path / "site/tables/t.html")
    assert "Measured more than once, with different scores: 1 trials" in page.text


def test_a_table_of_a_known_name_is_shown_as_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # away from the project's own baselines
    results_file(tmp_path / "runs/demo.jsonl", outcomes([100]))
    results_file(tmp_path / "runs/lsokl/table1.jsonl", outcomes([100]))
    built = build(tmp_path / "runs", tmp_path / "site")
    assert built.tables == ("demo", "lsokl/table1")
    demo = Page(tmp_path / "site/tables/demo.html")
    assert demo.row("spirals", "FOGD")[2:4] == ["—", "missing"]
    assert "other settings, versions or seeds (1)" in demo.text
    orders = Page(tmp_path / "site/tables/lsokl/table1.html")
    assert orders.row("RBP", "Removal")[2:4] == ["O(B)", "budget: not measured"]
