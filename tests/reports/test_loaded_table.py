"""What reports are made of: files and YAML, each read once, whatever became of the learners."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from outcome_material import results_file
from small_table import FOGD, PERCEPTRON, RUNS, all_measured, measured, small_table

from okbench.cli import okbench
from okbench.papers.table_catalogue import find
from okbench.papers.table_types import LearnerColumn
from okbench.reports.figures.figure_data import picture_of
from okbench.reports.guard.bless import bless
from okbench.reports.guard.merge import merge as put_together
from okbench.reports.load import load_table
from okbench.reports.pages import stored_text
from okbench.reports.tables.explain import explain
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "results_files"
INSTALLED = {"Perceptron": 1, "FOGD": 1}


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_files_of_every_schema_are_read_for_ever(schema: int, tmp_path: Path) -> None:
    """Two columns of one learner differ in a setting that one of them leaves to its default."""
    table = find(str(FILES / "tiny.yaml"))
    (tmp_path / "tiny.jsonl").write_bytes((FILES / f"schema{schema}.jsonl").read_bytes())
    assert bool(Store.of(tmp_path, "tiny").read().plans) is (schema > 1)
    printed = stored_text(table, tmp_path, Options(), "csv")
    assert printed == (FILES / "cells.csv").read_text(encoding="utf-8")


def report_text(
    tmp_path: Path, found: list[Outcome], versions: dict[str, Any], form: str = "terminal"
) -> str:
    results_file(tmp_path / "made/small.jsonl", found)
    return stored_text(small_table(), tmp_path, Options(), form, versions=versions)


def test_outcomes_of_the_installed_versions_are_not_marked(tmp_path: Path) -> None:
    assert "outdated" not in report_text(tmp_path, all_measured(small_table()), INSTALLED)


def test_a_learner_that_is_newer_now_is_printed_and_marked(tmp_path: Path) -> None:
    text = report_text(tmp_path, all_measured(small_table()), {**INSTALLED, "FOGD": 2})
    fogd, perceptron = (
        next(line for line in text.splitlines() if line.startswith(name))
        for name in ("FOGD", "Perceptron")
    )
    assert fogd.count("15.00 ± 0.71 (outdated)") == 2
    assert "outdated" not in perceptron
    assert "outdated: FOGD: measured with version 1; version 2 is installed." in text


def test_a_learner_that_is_gone_is_printed_and_marked(tmp_path: Path) -> None:
    found = all_measured(small_table())
    text = report_text(tmp_path, found, {"Perceptron": 1})
    assert "outdated: FOGD: learner no longer installed." in text
    assert text.count("15.00 ± 0.71 (outdated)") == 2
    assert "15.0," in report_text(tmp_path, found, {"Perceptron": 1}, "csv")


def test_only_some_datasets_are_named(tmp_path: Path) -> None:
    table = small_table()
    old = measured(table, "one", "FOGD", FOGD)
    new = measured(table, "two", "FOGD", FOGD)
    new = [replace(one, trial=replace(one.trial, learner_version=2)) for one in new]
    text = report_text(tmp_path, [*old, *new], {**INSTALLED, "FOGD": 2})
    assert "outdated: FOGD on one: measured with version 1; version 2 is installed." in text


def test_the_installed_version_is_shown_where_both_were_measured(tmp_path: Path) -> None:
    table = small_table()
    new = [
        replace(one, trial=replace(one.trial, learner_version=2))
        for one in measured(table, "one", "FOGD", PERCEPTRON)
    ]
    results_file(tmp_path / "made/small.jsonl", [*new, *all_measured(table)])
    for version, mean in ((1, 15.0), (2, 20.0)):
        report = load_table(table, tmp_path, versions={**INSTALLED, "FOGD": version}).report
        assert report.cells["one", "FOGD"].mean == mean


def test_a_learner_whose_version_is_not_known_is_not_marked(tmp_path: Path) -> None:
    text = report_text(tmp_path, all_measured(small_table()), {**INSTALLED, "FOGD": None})
    assert "outdated" not in text


def test_figures_and_explanations_say_it_too(tmp_path: Path) -> None:
    table, versions = small_table(), {"Perceptron": 1, "FOGD": 2}
    found = [replace(one, curve=((1000, 100, 1, 0.5),)) for one in all_measured(table)]
    results_file(tmp_path / "made/small.jsonl", found)
    loaded = load_table(table, tmp_path, versions=versions)
    told = "measured with version 1; version 2 is installed"
    assert f"outdated      {told}" in explain(loaded, "FOGD", "one").splitlines()
    assert f"outdated: FOGD: {told}." in picture_of(loaded, converging=True).notes


def test_learners_neither_installed_nor_measured_are_named_apart(tmp_path: Path) -> None:
    table = small_table()
    table = replace(table, learners=(*table.learners, LearnerColumn("Mine", "Mine")))
    results_file(tmp_path / "made/small.jsonl", all_measured(small_table()))
    report = load_table(table, tmp_path, versions=INSTALLED).report
    assert (report.learners, report.absent) == (("Perceptron", "FOGD"), ("Mine",))
    text = stored_text(table, tmp_path, Options(), "terminal", versions=INSTALLED)
    assert "Not here: Mine." in text


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each results file is read."""
    counts: Counter[str] = Counter()
    whole = Store.read

    def counted(self: Store, *given: Any, **named: Any) -> Any:
        if self.path.exists():
            counts[str(self.path.resolve())] += 1
        return whole(self, *given, **named)

    monkeypatch.setattr(Store, "read", counted)
    return counts


COMMANDS = {
    "report": "report demo --results results",
    "report another": "report demo --results runs",
    "json": "report demo --format json --results results",
    "explain": "report demo --explain FOGD spirals --results results",
    "curve": "report rrf/figure1 --curve --results results",
    "figure": "report lsokl/figure3 --results results",
    "plot": "plot rrf/figure1 --results results --to {tmp}",
    "site": "site --results results --to {tmp}/site",
    "one site": "site demo --results results --to {tmp}/site",
    "claims": "claims --results results",
    "compare learners": "compare demo --results results",
    "compare sets": "compare results/demo.jsonl runs/demo.jsonl",
    "check": "check results/demo.jsonl runs/demo.jsonl",
    "check all": "check results runs --subset",
    "export": "export results/demo.jsonl -o {tmp}/all.csv",
    "bless": "bless demo --reason again --results results --into {tmp}/into",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the committed results, and runs/ that hold the demo table once more."""
    (tmp_path / "results").symlink_to(ROOT / "results")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/demo.jsonl").write_bytes((ROOT / "results/demo.jsonl").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_every_command_reads_each_file_once(
    command: str, project: Path, reads: Counter[str]
) -> None:
    words = command.format(tmp=project / "to").split()
    said = CliRunner().invoke(okbench, words)
    assert said.exit_code == 0, said.output
    assert reads
    assert set(reads.values()) == {1}, reads


WATCHED = """
import sys
from click.testing import CliRunner
from okbench.cli import okbench
for line in sys.stdin:
    said = CliRunner().invoke(okbench, line.split())
    assert said.exit_code == 0, said.output
known = ("okbench.learners", "okbench.learners.registry")
print(*(m for m in sys.modules if m.split(".")[0] == "numba"
        or m.startswith("okbench.learners") and m not in known))
"""


def test_no_report_imports_a_learner_or_numba(project: Path) -> None:
    apart = ("site", "one site", "check all")  # a site shows what is known of learners
    chosen = [words for name, words in COMMANDS.items() if name not in apart]
    lines = "\n".join(words.format(tmp=project / "to") for words in chosen)
    told = subprocess.run(
        [sys.executable, "-c", WATCHED], input=lines, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout.strip()) == (0, ""), told.stderr


def test_a_loaded_table_knows_the_whole_and_what_was_asked_for(tmp_path: Path) -> None:
    table = small_table()
    results_file(tmp_path / "made/small.jsonl", all_measured(table))
    loaded = load_table(table, tmp_path, Options(datasets=("one",)))
    assert len(loaded.counted) == 2 * RUNS
    assert (len(loaded.expected), loaded.datasets) == (4, ["one"])
    assert loaded.machines == load_table(table, tmp_path).machines


def planned_file(folder: Path) -> Path:
    """The committed file of schema 2 as the results of its table."""
    path = folder / "tiny.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((FILES / "schema2.jsonl").read_bytes())
    return path


def test_plans_are_merged_with_the_outcomes_each_once(tmp_path: Path) -> None:
    first, second = planned_file(tmp_path / "a"), planned_file(tmp_path / "b")
    second.write_bytes(second.read_bytes() + first.read_bytes())
    put_together([first, second], tmp_path / "all")
    merged = Store.of(tmp_path / "all", "tiny").read()
    assert merged.plans == Store(first).read().plans
    assert len(merged.measured) == 9


def test_a_baseline_keeps_the_plans_of_its_cells(tmp_path: Path) -> None:
    table = find(str(FILES / "tiny.yaml"))
    planned_file(tmp_path / "runs")
    options = Options(learners=("narrow", "RBP"))
    made = bless(table, tmp_path / "runs", tmp_path / "results", "as measured", options)
    assert [plan.label for plan in Store(made.path).read().plans] == ["narrow", "RBP"]
    report = load_table(table, tmp_path / "runs", baselines=tmp_path / "results").report
    assert {learner for _, learner in report.blessed} == {"narrow", "RBP"}
    assert report.blessed["breast-cancer", "RBP"].mean == report.cells["breast-cancer", "RBP"].mean
