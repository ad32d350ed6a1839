"""What ranges give beside the print, from results files made by hand."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from outcome_material import MACHINE
from small_table import FOGD, measured, small_table

from okbench.base.errors import UsageError
from okbench.cli import okbench
from okbench.papers.table_types import Range, Search, Setting, Table
from okbench.reports.load import load_table
from okbench.reports.pages import varied_text
from okbench.reports.tables.envelopes import Envelope, Envelopes, envelopes_of
from okbench.reports.tables.envelopes_text import statement
from okbench.trials.plan.options import Options
from okbench.trials.search.search_grid import label_of, with_candidates
from okbench.trials.store.files import Store
from okbench.trials.store.plans import CellPlan

NEAR = (299, 300, 301)  # of 1000 rows
WIDE = (270, 300, 345)
FAR = (400, 401, 402)
LOW = (200, 201, 202)
LOST = (None, None, None)
SEARCH = Search((Range("step", (0.1, 1.0)),), subset=0.1, at_least=10, runs=3)
Given = Mapping[float, Sequence[float | None]]


def page(text: str = "30.0 % ± 0.1", **more: Any) -> Table:
    """FOGD with a step of 0.01 that is inferred, and ranges; `text` is printed of it on `one`."""
    return small_table({("one", "FOGD"): text}, **{"search": SEARCH, **more})


def varied(
    folder: Path, given: Given, whole: Table | None = None, dataset: str = "one", **options: Any
) -> Envelopes:
    """The envelopes after trials with each step came to these totals."""
    table = whole or page()
    store_values(folder, table, given, dataset)
    return envelopes_of(load_table(table, folder, Options(**options), None))


def store_values(folder: Path, table: Table, given: Given, dataset: str = "one") -> None:
    row = next(row for row in table.datasets if row.name == dataset)
    column = table.learners[-1]
    candidates = [{"step": step} for step in given]
    grid = with_candidates(table, {(row, column): candidates})
    with Store.of(folder, table.name).writer(MACHINE, "e1") as writer:
        for candidate, totals in zip(candidates, given.values(), strict=True):
            label = label_of(column, candidate)
            ended = ["diverged" if total is None else "done" for total in totals]
            found = measured(grid, dataset, label, totals)
            trial = found[0].trial
            takes = frozenset(name for name, _ in trial.settings)
            given_names = takes & grid.settings[dataset, label].keys()
            plan = CellPlan(table.name, label, trial, given_names, takes)
            writer.plan([plan])
            for one, status in zip(found, ended, strict=True):
                writer.add(replace(one, status=status))


def only(found: Envelopes) -> Envelope:
    (one,) = found.found.values()
    return one


@pytest.mark.parametrize(
    ("given", "outcome", "words"),
    [
        ({0.1: NEAR, 1.0: FAR}, "reachable", "reachable at step = 0.1 (30.00 ± 0.10)"),
        ({0.1: LOST, 1.0: NEAR}, "reachable", "reachable at step = 1 (30.00 ± 0.10)"),
        (
            {0.1: LOW, 1.0: FAR},
            "between values",
            "reached at no value of the range, but between step = 0.1 (20.10 ± 0.10) and "
            "step = 1 (40.10 ± 0.10)",
        ),
        (
            {0.1: FAR, 1.0: (500, 501, 502)},
            "unreachable",
            "unreachable at every value of the range; nearest: step = 0.1 (40.10 ± 0.10), "
            "10.10 above the print",
        ),
        (
            {0.1: LOW, 1.0: LOST},
            "unreachable",
            "unreachable at every value of the range; nearest: step = 0.1 (20.10 ± 0.10), "
            "9.90 below the print",
        ),
        (
            {0.1: (270, 310, 345), 1.0: FAR},
            "not decided",
            "not decided by 3 permutations at step = 0.1 (30.83 ± 3.75)",
        ),
        ({0.1: FAR}, "not decided", "not decided: 1 of 2 values are measured"),
        ({0.1: FAR, 1.0: (400,)}, "not decided", "not decided: 1 of 2 values are measured"),
    ],
)
def test_the_statement_of_a_cell(given: Given, outcome: str, words: str, tmp_path: Path) -> None:
    one = only(varied(tmp_path, given, page(protocol=replace(page().protocol, runs=200))))
    assert (one.outcome, statement(one)) == (outcome, words)


def test_a_printed_setting_has_an_envelope_where_its_range_is_not_searched(tmp_path: Path) -> None:
    given = {0.1: (300.0,) * 6, 1.0: (400.0,) * 6}
    settings = {("one", "FOGD"): {"step": Setting(0.01)}}
    for searched, found in ((True, False), (False, True)):
        range_ = Range("step", (0.1, 1.0), searched=searched)
        whole = page(settings=settings, search=replace(SEARCH, ranges=(range_,)))
        if found:
            assert only(varied(tmp_path / "b", given, whole)).given == {"step": 0.01}
        else:
            with pytest.raises(UsageError, match="no chosen cell has a stored trial"):
                varied(tmp_path / "a", given, whole)


def test_a_range_of_another_learner_varies_nothing(tmp_path: Path) -> None:
    others = replace(SEARCH, ranges=(Range("step", (0.1, 1.0), only=("RRF",)),))
    with pytest.raises(UsageError, match="no chosen cell has a stored trial"):
        varied(tmp_path, {0.1: (300.0,) * 6, 1.0: (400.0,) * 6}, page(search=others))


def test_few_permutations_do_not_reach_what_many_would_miss(tmp_path: Path) -> None:
    """The same means and deviations, of a paper with 4 and with 400 trials."""
    given = {0.1: (270, 310, 345), 1.0: FAR}
    for runs, outcome in ((4, "reachable"), (400, "not decided")):
        table = page(protocol=replace(page().protocol, runs=runs))
        assert only(varied(tmp_path / str(runs), given, table)).outcome == outcome


def test_the_envelope_is_of_all_values_and_own_trials_are_apart(tmp_path: Path) -> None:
    table = page()
    store_values(tmp_path, table, {0.01: FOGD})
    one = only(varied(tmp_path, {0.1: FAR, 1.0: WIDE}, table))
    assert (one.low, one.high) == (pytest.approx(30.5), pytest.approx(40.1))
    assert (one.own.n, one.own.mean) == (len(FOGD), 15.0)
    assert not one.own_agrees


def test_a_value_beside_the_range_that_gives_the_print_is_named(tmp_path: Path) -> None:
    table = page()
    store_values(tmp_path, table, {0.01: (299, 300, 301, 300, 299, 301)})
    one = only(varied(tmp_path, {0.1: FAR, 1.0: LOST}, table))
    assert one.outcome == "unreachable"
    assert statement(one).endswith("above the print; the table's own step = 0.01 gives it")


def test_a_print_is_missed_only_after_correction_for_all_varied_cells(tmp_path: Path) -> None:
    """One cell alone is missed with p = 0.03; among two, of which one is shown, it is not."""
    near = {0.1: (304, 305, 307), 1.0: FAR}
    both = small_table(
        {("one", "FOGD"): "30.0 % ± 0.1", ("two", "FOGD"): "30.0 % ± 0.1"}, search=SEARCH
    )
    alone = only(varied(tmp_path, near, both, datasets=("one",)))
    nearest = min(alone.tried, key=lambda tried: tried.miss)
    assert 0.025 < nearest.p < 0.05
    assert alone.outcome == "unreachable"
    store_values(tmp_path, both, near, "two")
    found = envelopes_of(load_table(both, tmp_path, Options(datasets=("one",)), None))
    assert only(found).outcome == "not decided"


def test_only_the_first_trials_count_if_asked_for(tmp_path: Path) -> None:
    given = {0.1: (*FAR, 300, 300), 1.0: FAR}
    one = only(varied(tmp_path, given, trials=3))
    assert (one.low, one.tried[0].cell.n) == (pytest.approx(40.1), 3)
    again = only(envelopes_of(load_table(page(), tmp_path, Options(), None)))
    assert again.tried[0].cell.n == 5


def test_settings_without_a_range_are_held_and_named(tmp_path: Path) -> None:
    settings = {
        "step": Setting(0.01, "inferred"),
        "width": Setting(8, "default"),
        "components": Setting(50),
    }
    table = page(settings={("one", "FOGD"): settings, ("two", "FOGD"): settings})
    found = varied(tmp_path, {0.1: NEAR, 1.0: FAR}, table)
    one = only(found)
    assert statement(one).endswith("(30.00 ± 0.10); held: width = 8 (default)")
    assert (found.fixed, dict(one.given)) == ({"width": ("FOGD",)}, {"step": 0.01})


def test_a_learner_that_a_range_spares_is_not_varied(tmp_path: Path) -> None:
    spared = replace(SEARCH, ranges=(replace(SEARCH.ranges[0], spared=("fogd",)),))
    with pytest.raises(UsageError, match="no chosen cell has a stored trial"):
        varied(tmp_path, {0.1: NEAR}, replace(page(), search=spared))


def test_every_format_says_the_same(tmp_path: Path) -> None:
    store_values(tmp_path, page(), {0.1: NEAR, 1.0: FAR})
    given = {form: varied_text(page(), tmp_path, Options(), form) for form in FORMATS}
    said = "reachable at step = 0.1 (30.00 ± 0.10)"
    assert all(said in given[form] for form in ("terminal", "md"))
    (row,) = csv.DictReader(io.StringIO(given["csv"]))
    assert (row["outcome"], row["at"], row["printed"]) == (
        "reachable",
        "step = 0.1",
        "30.0 % ± 0.1",
    )
    (cell,) = json.loads(given["json"])["cells"]
    assert cell["statement"] == said
    assert (cell["at"], [one["standing"] for one in cell["tried"]]) == (
        [{"step": 0.1}],
        ["reaches", "differs"],
    )
    with pytest.raises(UsageError, match="no format"):
        varied_text(page(), tmp_path, Options(), "yaml")


FORMATS = ("terminal", "md", "csv", "json", "latex")

TABLE = """\
title: Small
protocol: {kind: single-pass, metric: mistake_rate, runs: 2}
settings: {width: 0.25, budget: 20}
datasets: {breast-cancer: }
learners: {RBP: , OGD: {step: {value: 0.3, default: not known}}}
tune:
  step: {values: [2, 0.2]}
  subset: 0.1
  at_least: 100
  runs: 2
printed:
  breast-cancer: {RBP: [5.0 % ± 0.1, 1], OGD: [90.0 % ± 0.1, 1]}
"""


def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(TABLE, encoding="utf-8")
    words = ["small.yaml", "--vary", "inferred"]
    dry = CliRunner().invoke(okbench, ["run", *words, "--dry-run"])
    assert dry.output.startswith("small: 6 trials, 0 done, 6 to run")
    dry = CliRunner().invoke(okbench, ["run", *words, "--trials", "2", "--dry-run"])
    assert dry.output.startswith("small: 4 trials, 0 done, 4 to run")
    ran = CliRunner().invoke(okbench, ["run", *words, "--trials", "2", "-j", "1"])
    assert (ran.exit_code, "unreachable at every value of the range" in ran.output) == (0, True)
    lines = Path("runs/small.jsonl").read_bytes()
    told = subprocess.run(
        [sys.executable, "-c", WATCHED, *words], capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "[]\n")
    assert told.stdout in ran.output
    assert Path("runs/small.jsonl").read_bytes() == lines
    both = CliRunner().invoke(okbench, ["report", *words, "--curve"])
    assert both.exit_code != 0


WATCHED = """
import sys
from click.testing import CliRunner
from okbench.cli import okbench
found = CliRunner().invoke(okbench, ["report", *sys.argv[1:]])
print(found.output, end="")
known = ("okbench.learners", "okbench.learners.registry")
heavy = [m for m in sys.modules if m.startswith("okbench.learners") and m not in known]
print(heavy, file=sys.stderr)
sys.exit(found.exit_code)
"""
