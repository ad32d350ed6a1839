"""What a check keeps of each commit, and how that is shown again."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from outcome_material import MACHINE, outcomes, results_file

from okbench.base.errors import OkbenchError, StoreError, UsageError
from okbench.cli.check import check as command
from okbench.reports.guard.check import check
from okbench.reports.guard.trend import TREND_PAGES, Kept, KeptCell, chosen, keep, read_trend
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

BASE = [
    *outcomes([200, 210, 190, 205], "A", "rows"),
    *outcomes([100, 110, 90, 105], "B", "rows"),
]
RISEN = [replace(BASE[0], total=240), *BASE[1:]]


def kept_check(path: Path, commit: str, now: list[Outcome]) -> None:
    contents = Contents(now, {"e1": MACHINE})
    keep(path, check("made/t", Contents(BASE, {"e1": MACHINE}), contents), commit)


def invoked(*words: str) -> Result:
    return CliRunner().invoke(command, list(words))


def test_a_line_per_commit_holds_the_means_and_seconds_counted_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "trend.jsonl"
    clocked = [replace(one, seconds=0.5 + place) for place, one in enumerate(BASE)]
    kept_check(path, "c1", clocked)
    kept_check(path, "c2", [replace(clocked[0], total=240), *clocked[1:]])
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
    first, second = read_trend(path)
    assert (first.commit, first.passed, first.summary) == ("c1", True, "no regressions")
    assert (second.passed, second.summary) == (False, "1 regression")
    assert first.cells[0] == KeptCell("made/t", "rows", "A", "mistake_rate", 20.125, 2.0)
    assert [cell.value for cell in second.cells] == [21.125, 10.125]


def test_a_commit_that_is_checked_again_has_one_line(tmp_path: Path) -> None:
    path = tmp_path / "trend.jsonl"
    kept_check(path, "c1", RISEN)
    kept_check(path, "c2", BASE)
    kept_check(path, "c1", BASE)
    assert [(one.commit, one.cells[0].value) for one in read_trend(path)] == [
        ("c2", 20.125), ("c1", 20.125),
    ]  # fmt: skip


def test_cells_that_are_not_measured_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "trend.jsonl"
    kept_check(path, "c1", BASE[:4])
    assert [cell.learner for cell in read_trend(path)[0].cells] == ["A"]


def test_what_changed_is_shown_by_commit_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "trend.jsonl"
    kept_check(path, "a" * 40, BASE)
    kept_check(path, "b" * 40, RISEN)
    page = TREND_PAGES["text"](read_trend(path))
    lines = [line.split() for line in page.splitlines()]
    assert page.startswith("made/t: A × rows\n")
    assert ["commit", "date", "mistake", "rate", "in", "%", "↓", "change", "ms"] in lines
    first, second = [line for line in lines if line and line[0] in ("a" * 12, "b" * 12)]
    assert (first[2], second[2:4]) == ("20.12", ["21.12", "+1.00"])
    assert "1 of 2 cells have one and the same mean at 2 commits." in page
    assert "B × rows" not in page


def test_a_single_cell_is_shown_although_nothing_changed(tmp_path: Path) -> None:
    path = tmp_path / "trend.jsonl"
    kept_check(path, "c1", BASE)
    kept_check(path, "c2", BASE)
    page = TREND_PAGES["md"](chosen(read_trend(path), learners=["b"]))
    assert "#### made/t: B × rows" in page
    assert page.count("10.12") == 2
    assert " 0.00 |" in page
    whole = TREND_PAGES["text"](read_trend(path))
    assert whole == "2 of 2 cells have one and the same mean at 2 commits.\n"


def test_names_that_were_not_kept_are_refused(tmp_path: Path) -> None:
    kept_check(tmp_path / "t", "c1", BASE)
    with pytest.raises(UsageError, match=r"no dataset 'row' was kept\. Did you mean 'rows'"):
        chosen(read_trend(tmp_path / "t"), datasets=["row"])


HOSTILE = [
    "{",
    "[]",
    "3",
    '{"okbench": "trend"}',
    '{"okbench": "results", "schema": 1}',
    '{"okbench": "trend", "schema": 2, "commit": "c", "date": "d", "summary": "", "passed": true, '
    '"cells": []}',
    '{"okbench": "trend", "schema": 1, "commit": "c", "date": "d", "summary": "", "passed": true, '
    '"cells": [{"table": "t", "dataset": "d", "learner": "l", "metric": "no", "value": 1}]}',
    '{"okbench": "trend", "schema": 1, "commit": "c", "date": "d", "summary": "", "passed": true, '
    '"cells": [{"table": "t", "dataset": "d", "learner": "l", "metric": "rmse", "value": NaN}]}',
    '{"okbench": "trend", "schema": 1, "commit": "c", "date": "d", "summary": "", "passed": true, '
    '"cells": [{"learner": "l"}]}',
    "[" * 100_000,
]


@pytest.mark.parametrize("line", HOSTILE)
def test_a_damaged_file_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "trend.jsonl"
    kept_check(path, "c1", BASE)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"trend\.jsonl:2 "):
        read_trend(path)
    with pytest.raises(StoreError):
        kept_check(path, "c2", BASE)
    assert path.read_bytes() == before


def test_commits_cannot_move_the_cursor(tmp_path: Path) -> None:
    kept_check(tmp_path / "t", "\x1b[2J", BASE)
    (found,) = read_trend(tmp_path / "t")
    assert "\x1b" not in TREND_PAGES["text"]([found])
    assert "\x1b" not in found.commit


def test_the_command_keeps_what_it_checked_also_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_SHA", raising=False)
    monkeypatch.delenv("CI_COMMIT_SHA", raising=False)
    results_file(Path("results/made/t.jsonl"), BASE, blessed={"table": "made/t"})
    results_file(Path("runs/made/t.jsonl"), BASE)
    done = invoked("results", "--keep", "trend.jsonl", "--commit", "first")
    assert (done.exit_code, done.exception) == (0, None)
    results_file(Path("runs/made/t.jsonl"), RISEN)
    monkeypatch.setenv("CI_COMMIT_SHA", "second")
    done = invoked("results", "--keep", "trend.jsonl")
    assert isinstance(done.exception, OkbenchError)
    assert done.exception.exit_code == 1
    monkeypatch.setenv("GITHUB_SHA", "third")
    assert invoked("results", "--keep", "trend.jsonl").exception is not None
    assert [one.commit for one in read_trend(Path("trend.jsonl"))] == ["first", "second", "third"]
    shown = invoked("--trend", "trend.jsonl", "--learners", "A", "--format", "json")
    commits = json.loads(shown.output)["commits"]
    assert [one["cells"][0]["value"] for one in commits] == [20.125, 21.125, 21.125]
    assert [len(one["cells"]) for one in commits] == [1, 1, 1]
    done = invoked("--trend", "trend.jsonl", "--format", "md", "--output", "trend.md")
    assert "+1.00" in Path("trend.md").read_text(encoding="utf-8")
    assert done.exit_code == 0


def test_the_commit_is_that_of_git_where_nothing_else_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    results_file(Path("results/made/t.jsonl"), BASE, blessed={"table": "made/t"})
    words = ("results", "results", "--keep", "trend.jsonl")
    assert "--commit ID" in str(invoked(*words).exception)
    git = [
        "git",
        "-c",
        "user.name=n",
        "-c",
        "user.email=n@example.org",
        "-c",
        "init.defaultBranch=m",
    ]
    for line in (["init", "-q"], ["commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "empty"]):
        subprocess.run([*git, *line], check=True, timeout=60)
    assert invoked(*words).exit_code == 0
    (found,) = read_trend(Path("trend.jsonl"))
    assert len(found.commit) == 40


@pytest.mark.parametrize(
    "words",
    [
        ["--trend", "t", "results"],
        ["--trend", "t", "--keep", "u"],
        ["--trend", "t", "--format", "junit"],
        ["--trend", "nowhere.jsonl"],
        ["results", "--commit", "c"],
        ["--speed", "a", "b", "--keep", "t"],
    ],
)
def test_options_that_exclude_each_other(words: list[str], tmp_path: Path) -> None:
    result = invoked(*words)
    assert isinstance(result.exception, UsageError)


def test_metrics_that_are_better_high_have_the_other_arrow() -> None:
    cell = KeptCell("t", "d", "l", "accuracy", 90.0)
    page = TREND_PAGES["text"]([Kept("c", "2026-01-01", "", True, (cell,))])
    assert "accuracy in % ↑" in page
