"""Files name learners, and people allow them: no command runs code that only a file names."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from okbench.base.errors import UsageError
from okbench.learners.registry import ALLOWED, allow, find, is_allowed
from tests.cli.conftest import Okbench
from tests.shared import mostly_slow

LOUD = """\
from pathlib import Path

Path("imported").touch()


class Loud:
    def begin(self, problem, draws):
        Path("begun").touch()
        self.first = problem.classes[0]

    def learn(self, X, y):
        return [self.first] * len(y)

    def predict(self, X):
        return [self.first] * X.shape[0]
"""
TABLE = """\
title: t
protocol: {{kind: single-pass, metric: mistake_rate, runs: 1}}
learners:
  Perceptron: {{width: 8}}
  Mine: {{learner: '{learner}'{more}}}
datasets: {{breast-cancer: {{}}}}
"""


@pytest.fixture(autouse=True)
def _not_imported_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "loud", raising=False)


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A table of a learner that leaves a file behind when its module is imported."""
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    (tmp_path / "t.yaml").write_text(TABLE.format(learner="loud:Loud", more=""), encoding="utf-8")
    return "t.yaml"


@pytest.mark.usefixtures("in_threads")
def test_no_command_imports_a_learner_that_only_a_table_names(
    okbench: Okbench, table: str, tmp_path: Path
) -> None:
    alone = ("--learners", "Perceptron", "--jobs", "1")
    assert okbench("run", table, *alone).code == 0
    for command in (
        ("run", table, "--dry-run"),
        ("run", table, "--jobs", "1"),
        ("report", table),
        ("show", table),
        ("list", "learners"),
        ("record", table, "--datasets", "breast-cancer", "--learners", "Mine"),
        ("tune", table),
        ("site", table),
        ("bless", table, "--reason", "no"),
        ("check", "runs/t.jsonl", "runs"),
        ("export", "runs", "-o", "out.csv"),
    ):
        okbench(*command)
        assert not (tmp_path / "imported").exists(), command


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("command", [("run", "--dry-run"), ("run", "--jobs", "1")])
def test_the_refusal_is_a_command_to_paste(
    okbench: Okbench, table: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    refused = okbench(command[0], table, *command[1:])
    assert refused.code == 2
    assert refused.err.startswith("Error: t.yaml:5: ")
    pasted = shlex.split(refused.err.splitlines()[-1])
    assert pasted[-2:] == ["--allow-learner", "loud:Loud"]
    assert okbench(*pasted[1:]).code == 0
    assert (tmp_path / "imported").exists()


def test_every_learner_that_needs_it_is_named_in_one_refusal(
    okbench: Okbench, tmp_path: Path
) -> None:
    text = TABLE.format(learner="one:A", more="}\n  Other: {learner: 'two.three:B'")
    (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
    refused = okbench("run", "t.yaml")
    assert refused.err.rstrip().endswith("--allow-learner one:A --allow-learner two.three:B")


GIVEN = [("--learners", "loud:Loud"), ("--allow-learner", "loud:Loud"), ("--allow-learner", "loud")]


@pytest.mark.parametrize("given", mostly_slow(GIVEN, GIVEN[:1]))
def test_a_learner_named_on_the_command_line_is_run_in_a_process_of_its_own(
    okbench: Okbench, table: str, given: tuple[str, str]
) -> None:
    assert okbench("run", table, "--jobs", "1", *given).code == 0


@pytest.mark.usefixtures("in_threads")
def test_a_learner_that_the_environment_names_is_run(
    okbench: Okbench, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOWED, "other:Name, loud")
    assert okbench("run", table, "--jobs", "1").code == 0


@pytest.mark.parametrize("given", ["lou", "loud:Other", "loud.more", "Loud"])
def test_another_name_does_not_allow_it(okbench: Okbench, table: str, given: str) -> None:
    assert okbench("run", table, "--dry-run", "--allow-learner", given).code == 2


def test_a_record_runs_no_learner_that_it_alone_names(
    okbench: Okbench, table: str, tmp_path: Path
) -> None:
    rows = {"X": [[0.0], [1.0]], "y": [1, -1]}
    record = {"okbench": "record", "schema": 1, "task": "binary", "rows": rows}
    record["learner"] = "loud:Loud"
    (tmp_path / "r.json").write_text(json.dumps(record), encoding="utf-8")
    refused = okbench("replay", "r.json")
    assert refused.code == 2
    assert not (tmp_path / "imported").exists()
    assert okbench(*shlex.split(refused.err.splitlines()[-1])[1:]).code == 0


@pytest.mark.parametrize("learner", ["subprocess:Popen", "loud:Opens"])
def test_a_class_that_does_not_learn_is_never_made(
    okbench: Okbench, tmp_path: Path, learner: str
) -> None:
    (tmp_path / "loud.py").write_text(
        "from pathlib import Path\n\n\nclass Opens:\n"
        "    def __init__(self, args):\n        Path(args[1]).touch()\n",
        encoding="utf-8",
    )
    text = TABLE.format(learner=learner, more=", args: [touch, made]")
    (tmp_path / "t.yaml").write_text(text, encoding="utf-8")
    refused = okbench("run", "t.yaml", "--jobs", "1", "--allow-learner", learner)
    assert refused.code == 2
    assert "does not learn" in refused.err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", ["a b:C", "a,b:C", "a:B.c", ":C", "a:", "..a:B", "os;x:Y"])
def test_only_the_name_of_a_module_and_a_class_can_be_allowed(name: str) -> None:
    with pytest.raises(UsageError, match="module:Class"):
        allow(name)
    with pytest.raises(UsageError, match="module:Class"):
        is_allowed(name)


def test_finding_a_user_defined_learner_imports_nothing() -> None:
    assert find("not_there_at_all:X").target == "not_there_at_all:X"


def test_installed_learners_need_no_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALLOWED)
    assert find("FOGD").load().__name__ == "FOGD"
