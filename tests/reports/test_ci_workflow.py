"""The workflow people copy: its commands are run as they stand there."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from okbench.base.errors import OkbenchError
from okbench.cli.check import bless, check
from okbench.cli.run import run
from okbench.trials.store.files import Store
from okbench.trials.store.outcome_json import outcome_record, to_bytes

DOCS = Path(__file__).parents[2] / "docs"
GITHUB, GITLAB = DOCS / "ci-workflow.yml", DOCS / "gitlab-ci.yml"
COMMANDS = click.Group(commands={"run": run, "check": check, "bless": bless})


def commands(job: str) -> list[list[str]]:
    """The okbench commands of a job of GitHub's, in order."""
    page: dict[str, Any] = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))
    return _okbench(step["run"] for step in page["jobs"][job]["steps"] if "run" in step)


def commands_of_gitlab() -> list[list[str]]:
    """The same of GitLab's job; its last script runs also if the others fail."""
    job: dict[str, Any] = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["results"]
    return _okbench([*job["before_script"], *job["script"], *job["after_script"]])


def _okbench(lines: Iterable[str]) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in lines if line.startswith("okbench ")]


@pytest.mark.parametrize(
    ("found", "commit"),
    [(commands("results"), "GITHUB_SHA"), (commands_of_gitlab(), "CI_COMMIT_SHA")],
    ids=["github", "gitlab"],
)
def test_the_results_job_passes_what_is_blessed_and_fails_a_rise_of_one_percent(
    found: list[list[str]], commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_SHA", "CI_COMMIT_SHA"):
        monkeypatch.delenv(name, raising=False)
    measure, guard, trend = found
    fewer = ["--trials", "3", "--jobs", "1"]
    assert CliRunner().invoke(COMMANDS, [*measure, *fewer]).exit_code == 0
    blessing = ["bless", "demo", "--reason", "first measurement", "--trials", "3"]
    assert CliRunner().invoke(COMMANDS, blessing).exit_code == 0
    monkeypatch.setenv(commit, "first")
    assert CliRunner().invoke(COMMANDS, guard).exit_code == 0
    assert "failures" in Path(guard[-1]).read_text(encoding="utf-8")
    _raise_mistakes(Path("runs/demo.jsonl"), "FOGD", "hyperplane", 1.01)
    monkeypatch.setenv(commit, "second")
    result = CliRunner().invoke(COMMANDS, guard)
    assert isinstance(result.exception, OkbenchError)
    assert result.exception.exit_code == 1
    named = [line for line in result.output.splitlines() if "worse of" in line]
    assert len(named) == 1
    assert "FOGD × hyperplane: 3 worse of 3 trials" in named[0]
    shown = CliRunner().invoke(COMMANDS, trend)
    assert shown.exit_code == 0
    assert "29 of 30 cells have one and the same mean at 2 commits." in shown.output
    page = Path(trend[-1]).read_text(encoding="utf-8")
    assert "#### demo: FOGD × hyperplane" in page
    assert [line.split("|")[1].strip() for line in page.splitlines()[4:6]] == ["first", "second"]


def test_what_is_kept_by_one_run_is_there_in_the_next() -> None:
    page: dict[str, Any] = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))
    steps = page["jobs"]["results"]["steps"]
    caches = [step["with"] for step in steps if "cache/" in step.get("uses", "")]
    (keeping,) = [words for words in commands("results") if "--keep" in words]
    file = keeping[keeping.index("--keep") + 1]
    assert [cache["path"] for cache in caches] == [file, file]
    assert caches[1]["key"].startswith(caches[0]["restore-keys"])
    cache = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["results"]["cache"]
    assert (cache["paths"], cache["when"]) == ([file], "always")


def _raise_mistakes(path: Path, learner: str, dataset: str, factor: float) -> None:
    contents = Store(path).read()
    lines = [to_bytes({"okbench": "results", "schema": 1})]
    for outcome in contents.measured:
        record = outcome_record(outcome)
        if (outcome.trial.learner, outcome.trial.dataset) == (learner, dataset):
            record["total"] = round(factor * (outcome.total or 0))
        lines.append(to_bytes({"outcome": record}))
    path.write_bytes(b"".join(lines))


def test_the_speed_job_asks_for_what_there_is() -> None:
    (arguments,) = commands("speed")
    context = COMMANDS.commands[arguments[0]].make_context(arguments[0], arguments[1:])
    assert context.params["speed"] == ("base", "head")
    assert context.params["slower"] == ("1.15",)
