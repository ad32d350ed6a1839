"""Two made-up versions of okbench, whose seconds are known, timed against each other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from outcome_material import outcome, trial
from small_table import small_table

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli.speed_job import _end, _Side, compare_speed
from okbench.reports.guard.check import BaselineCheck
from okbench.reports.guard.check_text import PAGES, summary
from okbench.reports.guard.speed import Allowed
from okbench.trials.plan.options import Options
from okbench.trials.store.outcome_json import outcome_record

TABLE = small_table()
VERSION = """
import json, pathlib

SECONDS, OUTCOME, NAME = {seconds!r}, {outcome!r}, {name!r}
LOG = pathlib.Path(__file__).parents[2] / "log"


class okbench:
    @staticmethod
    def main(args, prog_name, standalone_mode):
        told = dict(zip(args, args[1:]))
        if told["--learners"] not in SECONDS:
            raise KeyError("no learner " + told["--learners"])
        with LOG.open("a") as log:
            log.write(NAME + " " + told["--learners"] + "\\n")
        path = pathlib.Path(told["--results"], args[1] + ".jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text('{{"okbench":"results","schema":1}}\\n')
        print("what a person would read")
        with path.open("a") as file:
            for number in range(int(told["--trials"])):
                seconds = SECONDS[told["--learners"]] * (1 + number / 100)
                file.write(json.dumps({{"outcome": {{**OUTCOME, "seconds": seconds}}}}) + "\\n")
"""


def version(tmp_path: Path, name: str, **seconds: float) -> str:
    """A checkout in which a trial of each learner takes these seconds."""
    package = tmp_path / name / "okbench"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    record = json.loads(json.dumps(outcome_record(outcome(1, trial(), timed=True))))
    text = VERSION.format(seconds=seconds, outcome=record, name=name)
    (package / "cli.py").write_text(text, encoding="utf-8")
    return str(package.parent)


def timed(tmp_path: Path, base: str, head: str, *allowed: str) -> BaselineCheck:
    return compare_speed(
        base, head, TABLE, Options(datasets=("one",)), rounds=10, allowed=Allowed.read(allowed)
    )


def test_a_slowdown_of_thirty_percent_is_caught_and_named(tmp_path: Path) -> None:
    base = version(tmp_path, "base", Perceptron=1.0, FOGD=2.0)
    head = version(tmp_path, "head", Perceptron=1.0, FOGD=2.6)
    found = timed(tmp_path, base, head)
    assert {one.learner: one.finding for one in found.seconds} == {
        "Perceptron": "same",
        "FOGD": "worse",
    }
    assert (found.passed, summary(found)) == (False, "1 regression")
    assert "FOGD × one: worse, 1.30 times the seconds (2 → 2.6 s" in PAGES["text"](found)


def test_a_learner_s_own_ratio_allows_more(tmp_path: Path) -> None:
    base = version(tmp_path, "base", Perceptron=1.0, FOGD=2.0)
    head = version(tmp_path, "head", Perceptron=1.0, FOGD=2.6)
    assert timed(tmp_path, base, head, "FOGD=1.4").passed


def test_the_two_take_turns_and_go_first_by_turns(tmp_path: Path) -> None:
    base = version(tmp_path, "base", Perceptron=1.0, FOGD=1.0)
    head = version(tmp_path, "head", Perceptron=1.0, FOGD=1.0)
    timed(tmp_path, base, head)
    order = [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()]
    assert order[:8] == ["head", "base", "base", "head", "head", "base", "base", "head"]
    assert len(order) == 2 * 2 * 11


def test_what_chance_may_explain_is_timed_three_times_as_long(tmp_path: Path) -> None:
    base = version(tmp_path, "base", Perceptron=1.0, FOGD=1.0)
    head = version(tmp_path, "head", Perceptron=1.0, FOGD=1.0)
    cli = Path(head, "okbench", "cli.py")
    wavering = cli.read_text(encoding="utf-8").replace(
        'SECONDS[told["--learners"]] *', '(0.5, 1.5, 1.5)[LOG.read_text().count("head") % 3] *'
    )
    cli.write_text(wavering, encoding="utf-8")
    found = timed(tmp_path, base, head)
    assert {(one.rounds, one.finding) for one in found.seconds} == {(30, "cannot say")}
    assert (found.passed, summary(found)) == (False, "2 undecided")


def test_a_learner_that_one_version_lacks_is_told_and_not_judged(tmp_path: Path) -> None:
    base = version(tmp_path, "base", Perceptron=1.0)
    head = version(tmp_path, "head", Perceptron=1.0, FOGD=1.0)
    found = timed(tmp_path, base, head)
    assert [one.learner for one in found.seconds] == ["Perceptron"]
    assert "no learner FOGD" in found.seconds_lack
    assert "no learner FOGD" in PAGES["text"](found)


def test_versions_with_nothing_in_common_do_not_pass(tmp_path: Path) -> None:
    base, head = version(tmp_path, "base", X=1.0), version(tmp_path, "head", Y=1.0)
    assert not timed(tmp_path, base, head).passed


def test_a_side_that_is_no_okbench_is_refused(tmp_path: Path) -> None:
    base = version(tmp_path, "base", FOGD=1.0)
    with pytest.raises(UsageError, match="neither a checkout"):
        timed(tmp_path, base, str(tmp_path / "nowhere"))
    broken = version(tmp_path, "broken", FOGD=1.0)
    Path(broken, "okbench", "cli.py").write_text("import nothing_of_that_name", encoding="utf-8")
    with pytest.raises(OkbenchError, match=r"broken: does not start: .*nothing_of_that_name"):
        timed(tmp_path, base, broken)


def test_a_side_that_ends_in_the_middle_is_told(tmp_path: Path) -> None:
    python = [sys.executable, "-c", ""]
    with subprocess.Popen(python, stdin=PIPE, stdout=PIPE, text=True) as process:
        process.wait()
        with pytest.raises(OkbenchError, match="head: ended before it answered"):
            _Side("head", process, tmp_path).ask(["run"])
        _end(process)


def test_few_rounds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rounds: at least 10"):
        compare_speed("a", "b", TABLE, Options(), rounds=9)


def test_the_project_times_itself_through_a_checkout_and_through_a_python() -> None:
    from okbench.papers.table_catalogue import find

    options = Options(datasets=("breast-cancer",), learners=("Perceptron",), trials=1)
    here = str(Path(__file__).parents[2])
    (found,) = compare_speed(here, sys.executable, find("demo"), options, rounds=10).seconds
    assert found.learner == "Perceptron"
    assert found.rounds in (10, 20, 30)  # more of them while chance may explain a ratio
    assert found.before > 0
