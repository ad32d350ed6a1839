"""The workflow people copy: its commands are run as they stand there."""

from __future__ import annotations

import shlex
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

WORKFLOW = Path(__file__).parents[2] / "docs" / "ci-workflow.yml"
COMMANDS = click.Group(commands={"run": run, "check": check, "bless": bless})


def commands(job: str) -> list[list[str]]:
    """The okbench commands of a job, in order."""
    told: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    lines = [step["run"] for step in told["jobs"][job]["steps"] if "run" in step]
    return [shlex.split(line)[1:] for line in lines if line.startswith("okbench ")]


def test_the_results_job_passes_what_is_blessed_and_fails_a_rise_of_one_percent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    measure, guard = commands("results")
    fewer = ["--trials", "3", "--jobs", "1"]
    assert CliRunner().invoke(COMMANDS, [*measure, *fewer]).exit_code == 0
    blessing = ["bless", "demo", "--reason", "first measurement", "--trials", "3"]
    assert CliRunner().invoke(COMMANDS, blessing).exit_code == 0
    assert CliRunner().invoke(COMMANDS, guard).exit_code == 0
    assert "failures" in Path(guard[-1]).read_text(encoding="utf-8")
    _raise_mistakes(Path("runs/demo.jsonl"), "FOGD", "hyperplane", 1.01)
    result = CliRunner().invoke(COMMANDS, guard)
    assert isinstance(result.exception, OkbenchError)
    assert result.exception.exit_code == 1
    named = [line for line in result.output.splitlines() if "worse of" in line]
    assert len(named) == 1
    assert "FOGD × hyperplane: 3 worse of 3 trials" in named[0]


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
