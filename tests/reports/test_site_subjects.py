"""Pages that speak of several tables: trials, learners, datasets, claims, ranks, memory, search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from outcome_material import outcomes, results_file
from site_material import HOSTILE, NAME, ROWS, Page, hostile_site
from small_table import FOGD, PERCEPTRON, all_measured, measured, small_table

from okbench.papers.paper_list import papers
from okbench.papers.table_types import LearnerColumn
from okbench.reports.claims.claim_evidence import Evidence
from okbench.reports.claims.claims_file import Claim, ClaimTest
from okbench.reports.claims.judge import Settled
from okbench.reports.claims.judge import Tested as Part
from okbench.reports.figures.figure_data import Mark, Panel
from okbench.reports.site import trial_lists
from okbench.reports.site.about import About, DatasetFacts, LearnerFacts, SettingFacts
from okbench.reports.site.build import build
from okbench.reports.site.charts import shared_scales
from okbench.reports.site.claims_page import claims_page
from okbench.reports.site.labels import places
from okbench.reports.site.places import dataset_page, learner_page
from okbench.reports.site.site_files import SiteFiles
from okbench.reports.site.table_views import table_views

ABOUT = About(
    {
        "FOGD": LearnerFacts(
            "FOGD",
            "A rule in a sentence.",
            "A rule in a sentence.\n\nMore of <it>.",
            "lsokl",
            3,
            ("binary",),
            (
                SettingFacts("step", "0.002", "the step & size"),
                SettingFacts("width", "", "a width"),
            ),
        )
    },
    {"one": DatasetFacts("one", "binary", 24, "Cited 1994", "CC BY", "https://example.org/one")},
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subjects")
    hostile_site(folder)
    return folder / "site"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two complete datasets, with bytes, and facts of a learner and a dataset."""
    folder = tmp_path_factory.mktemp("small")
    found = [
        replace(one, bytes=1000 if one.trial.learner == "FOGD" else 500)
        for one in all_measured(small_table())
    ]
    results_file(folder / "runs/made/small.jsonl", found)
    build(folder / "runs", folder / "site", [small_table()], about=ABOUT)
    return folder / "site"


def test_every_page_closes_its_elements_and_names_a_place_once(site: Path, small: Path) -> None:
    for path in [*site.rglob("*.html"), *small.rglob("*.html")]:
        page = Page(path)
        assert page.faults == [], path
        assert page.open == [], path
        assert len(page.ids) == len(set(page.ids)), path


def test_hostile_names_are_text_on_every_page(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = Page(path)
        assert not [tag for tag, _ in page.tags if tag in ("img", "iframe")], path
        assert not [key for _, attrs in page.tags for key in attrs if key.startswith("on")], path
    assert ROWS in Page(site / dataset_page(ROWS)).text
    assert HOSTILE in Page(site / "datasets/one.html").text
    assert b"<" not in (site / "assets/search.js").read_bytes()


def test_all_trials_of_a_cell_are_listed_with_the_command(site: Path) -> None:
    page = Page(site / f"trials/{NAME}.1.html")
    done = [row for row in page.rows if len(row) > 2 and row[2] == "done"]
    assert len(done) == 21
    missing = [row for row in page.rows if row[2:] == ["missing"]]
    assert {len(row) for row in missing} <= {3}
    assert "Perceptron on one" in page.texts


def test_a_list_of_trials_is_cut_into_pages_and_cells_lead_to_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_lists, "PER_PAGE", 4)
    results_file(tmp_path / "runs/made/small.jsonl", all_measured(small_table()))
    build(tmp_path / "runs", tmp_path / "site", [small_table()])
    files = sorted((tmp_path / "site/trials/made").glob("small.*.html"))
    pages = {path.name: Page(path) for path in files}
    listed = [row for page in pages.values() for row in page.rows if row[2:3] == ["done"]]
    assert len(listed) == len({row[1] for row in listed}) == 24  # 4 cells of 6 trials
    assert all(sum(row[2:3] == ["done"] for row in p.rows) <= 4 for p in pages.values())
    table = Page(tmp_path / "site/tables/made/small.html")
    hrefs = {attrs["href"] for name, attrs in table.tags if attrs.get("class") == "trials"}
    for href in filter(None, hrefs):
        file, _, place = href.rpartition("#")
        assert place in pages[file.rpartition("/")[2]].ids


def sizes(folder: Path, trials: int) -> tuple[int, int]:
    """Bytes of the list of trials, and of the other pages, of a table of so many trials."""
    table = small_table(protocol=replace(small_table().protocol, runs=trials))
    found = [
        one
        for name, totals in (("Perceptron", PERCEPTRON), ("FOGD", FOGD))
        for one in measured(table, "one", name, (totals * trials)[:trials])
    ]
    results_file(folder / "runs/made/small.jsonl", found)
    build(folder / "runs", folder / "site", [table])
    pages = [(path, path.stat().st_size) for path in (folder / "site").rglob("*.html")]
    listed = sum(size for path, size in pages if "trials" in path.parts)
    return listed, sum(size for _, size in pages) - listed


def test_lists_grow_in_proportion_to_the_trials_and_other_pages_do_not(tmp_path: Path) -> None:
    few, many = (sizes(tmp_path / str(count), count) for count in (500, 1500))
    assert many[0] / few[0] == pytest.approx(3, rel=0.15)
    assert many[1] == pytest.approx(few[1], rel=0.05)


def test_tables_are_read_and_written_one_after_the_other(tmp_path: Path) -> None:
    """No file of outcomes is read before the pages of the one before it are handed out."""
    for name in ("first", "second"):
        results_file(tmp_path / f"runs/{name}.jsonl", outcomes([100, 110]))
    read: list[str] = []

    def noted() -> object:
        for view in table_views(tmp_path / "runs"):
            read.append(view.table.name)
            yield view

    handed = []
    for name, _ in SiteFiles(tmp_path / "runs", noted(), About()).files():  # type: ignore[arg-type]
        handed.append(name)
        if name == "tables/first.html":
            assert read == ["first"]
    assert handed.index("tables/first.html") < handed.index("trials/second.1.html")
    assert handed[-1] == "index.html"


def test_a_learner_has_its_rule_its_settings_and_its_places(small: Path) -> None:
    page = Page(small / learner_page("FOGD"))
    assert "A rule in a sentence." in page.text
    assert "More of <it>." in page.text
    assert papers()["lsokl"].title in page.text
    assert page.row("step") == ["step", "0.002", "the step & size", "0.01"]
    assert page.row("width")[1:3] == ["to be given", "a width"]
    assert page.row("made/small", "FOGD")[2:5] == ["2", "1.00 of 2", "2"]
    assert page.row("one", "15.00 ± 0.71")[2] == "1 of 2"
    assert page.row("one", "15.00 ± 0.71")[-1] == "1 kB"


def test_a_learner_without_facts_has_what_was_recorded(small: Path) -> None:
    page = Page(small / learner_page("Perceptron"))
    assert page.row("width")[3] != ""
    assert page.row("made/small", "Perceptron")[3] == "2.00 of 2"


def test_a_dataset_has_its_source_and_every_learner(small: Path) -> None:
    page = Page(small / dataset_page("one"))
    for words in ("binary", "24", "Cited 1994", "CC BY", "https://example.org/one", "made/small"):
        assert words in page.text
    assert page.row("FOGD")[1:3] == ["15.00 ± 0.71", "1 of 2"]
    assert page.row("Perceptron")[2] == "2 of 2"


def test_ranks_and_memory_of_complete_datasets(small: Path) -> None:
    assert Page(small / "ranks.html").row("FOGD")[1] == "1.00"
    assert Page(small / "ranks.html").row("Perceptron")[1] == "2.00"
    memory = Page(small / "memory.html")
    assert memory.row("learner")[1:] == ["one", "two"]
    assert memory.row("FOGD")[1:] == ["1 kB", "1 kB"]
    assert memory.row("Perceptron")[1:] == ["500 B", "500 B"]


def test_learners_that_tie_have_one_mean_rank_on_all_pages(tmp_path: Path) -> None:
    found = [
        replace(one, bytes=1000, total=150)
        if one.trial.dataset == "one"
        else replace(one, bytes=1000)
        for one in all_measured(small_table())
    ]
    results_file(tmp_path / "runs/made/small.jsonl", found)
    build(tmp_path / "runs", tmp_path / "site", [small_table()], about=ABOUT)
    pages = {name: Page(tmp_path / f"site/{name}.html") for name in ("ranks", "learners/FOGD")}
    assert pages["ranks"].row("FOGD")[1] == "1.25"
    assert pages["learners/FOGD"].row("made/small")[3:5] == ["1.25 of 2", "2"]
    memory = (tmp_path / "site/memory.html").read_text(encoding="utf-8")
    assert "FOGD: mean rank 1.25" in memory
    assert "Perceptron: mean rank 1.75" in memory


def test_pages_without_anything_to_show_say_so(site: Path) -> None:
    assert "belong to no claim" in Page(site / "claims.html").text
    assert "No table has two datasets" in Page(site / "ranks.html").text
    assert "No outcome says" in Page(site / "memory.html").text


def test_the_search_list_has_learners_datasets_tables_and_cells(small: Path) -> None:
    text = (small / "assets/search.js").read_text(encoding="utf-8")
    listed = json.loads(text.removeprefix("window.okbenchList = ").removesuffix(";\n"))
    assert ["learner", "FOGD", "", "learners/FOGD.html"] in listed
    assert ["dataset", "two", "", "datasets/two.html"] in listed
    assert ["table", "made/small", "A small table", "tables/made/small.html"] in listed
    found = [one for one in listed if one[:2] == ["cell", "FOGD on two"]]
    assert [one[2] for one in found] == ["made/small: 15.00 ± 0.71"]
    for *_, href in listed:
        assert (small / href.partition("#")[0]).is_file()


def settled(*parts: tuple[str, Sequence[bool | None]]) -> Settled:
    tests = tuple(
        Part(
            standing,  # type: ignore[arg-type]
            len(decisions),
            tuple(Evidence(f"set{k}", each, f"A 1 <b> {k}") for k, each in enumerate(decisions)),
            "not measured on set0" if None in decisions else "",
            "okbench run made/small" if None in decisions else "",
        )
        for standing, decisions in parts
    )
    comparison = ClaimTest("made/small", "score", ("A",), False, "beats", ("B",), ours="a reading")
    claim = Claim("lsokl/claim1", "A beats <B>", "Table 1", (comparison,) * len(tests))
    return Settled(claim, tests[0].standing, tests)


def test_a_claim_has_its_verdict_its_evidence_and_the_command(tmp_path: Path) -> None:
    shown = [
        settled(("refuted", (True, False))),
    ]
    open_ = settled(("holds partly", (True, None)))
    shown.append(replace(open_, claim=replace(open_.claim, id="lsokl/claim2")))
    path = tmp_path / "claims.html"
    path.write_text(claims_page(shown, papers(), frozenset({"made/small"})), encoding="utf-8")
    page = Page(path)
    assert page.faults == []
    assert "2 claims. Of these, holds partly: 1, refuted: 1." in page.text
    assert "A beats <B>" in page.text
    assert "1 yes and 1 no of 2 datasets" in page.text
    assert page.row("set1", "no") == ["set1", "no", "A 1 <b> 1"]
    assert page.row("set1", "not decided")
    assert "okbench run made/small" in page.text
    assert "a reading" in page.text
    assert ("a", {"href": "tables/made/small.html"}) in page.tags


def test_the_paper_stands_on_the_index_and_on_its_tables(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/lsokl/table5.jsonl", outcomes([100]))
    build(tmp_path / "runs", tmp_path / "site")
    for name in ("index.html", "tables/lsokl/table5.html", "claims.html"):
        page = Page(tmp_path / "site" / name)
        assert "Jing Lu, Steven C.H. Hoi" in page.text
        assert ("a", {"href": papers()["lsokl"].link, "rel": "noreferrer"}) in page.tags
    assert "not measured on" in Page(tmp_path / "site/claims.html").text.lower()


def test_the_configuration_of_a_table_can_be_downloaded(tmp_path: Path) -> None:
    results_file(tmp_path / "runs/lsokl/table7.jsonl", outcomes([100]))
    build(tmp_path / "runs", tmp_path / "site")
    config = tmp_path / "site/config/lsokl"
    shipped = Path(__file__).parents[2] / "configs/lsokl"
    for name in ("table7.yaml", "table7.searched.yaml"):
        assert (config / name).read_bytes() == (shipped / name).read_bytes()
    page = Page(tmp_path / "site/tables/lsokl/table7.html")
    downloads = [attrs["href"] for name, attrs in page.tags if "download" in attrs]
    assert "../../config/lsokl/table7.yaml" in downloads


OWN = """\
title: My rows
protocol: {kind: single-pass, metric: mistake_rate, runs: 2}
datasets: {rows: {file: my.csv, target: y}}
learners: {FOGD: {step: 0.1}, my FOGD: {learner: FOGD, step: 0.2}}
"""


def test_an_own_table_keeps_its_title_and_the_names_of_its_learners(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    results_file(runs / "own/my.csv.jsonl", outcomes([100, 110], "FOGD", "rows"))
    (runs / "own/my.csv.yaml").write_text(OWN, encoding="utf-8")
    build(runs, tmp_path / "site")
    page = Page(tmp_path / "site/tables/own/my.csv.html")
    assert "My rows" in page.texts
    assert page.row("learner")[0].strip() == "learner"
    assert [row[0] for row in page.rows if row[0] == "my FOGD"] == ["my FOGD"]
    assert (tmp_path / "site/config/own/my.csv.yaml").read_text(encoding="utf-8") == OWN


def panel(title: str, *means: float) -> Panel:
    marks = tuple(
        Mark(title, "A", "rows seen", float(k), "metric", mean, 0.0, 1, 1)
        for k, mean in enumerate(means, start=1)
    )
    return Panel(title, "rows seen", "mistake rate", "metric", {"A": marks})


def test_panels_side_by_side_share_their_scale() -> None:
    wide, narrow, zero = panel("wide", 0.1, 100), panel("narrow", 10, 20), panel("zero", 0, 5)
    assert shared_scales([wide]).y == {"metric": True}
    assert shared_scales([wide, narrow]).y == {"metric": True}
    assert shared_scales([wide, narrow, narrow]).y == {"metric": False}
    assert shared_scales([wide, wide, zero]).y == {"metric": False}  # 0 has no logarithm


def test_every_point_has_a_name_beside_the_others() -> None:
    crowd = [(f"Learner {n}", 200.0 + n % 3, 150.0 + n // 3) for n in range(14)]
    found = places(crowd)
    boxes = []
    for name, x, y in crowd:
        across, up = found[name]
        boxes.append((x + across, y + up - 8.5, x + across + 6.2 * len(name), y + up + 1.5))
    for n, one in enumerate(boxes):
        for other in boxes[n + 1 :]:
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )


def test_a_table_whose_learners_have_other_labels_is_on_the_page_of_the_learner(
    tmp_path: Path,
) -> None:
    labels = (LearnerColumn("Ours", "FOGD"), LearnerColumn("Perceptron", "Perceptron"))
    table = small_table(learners=labels, settings={})
    results_file(tmp_path / "runs/made/small.jsonl", measured(table, "one", "Ours", FOGD))
    build(tmp_path / "runs", tmp_path / "site", [table])
    assert Page(tmp_path / "site/learners/FOGD.html").row("made/small", "Ours")[2] == "1"
