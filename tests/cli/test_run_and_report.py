"""okbench run and okbench report, from the outside."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from okbench.trials.store.files import Store
from tests.cli.conftest import Okbench
from tests.shared import mostly_slow


def test_run_prints_the_table_on_stdout_and_nothing_else_there(okbench: Okbench, tiny: str) -> None:
    said = okbench("run", tiny, "--jobs", "1")
    assert said.code == 0, said.err
    assert said.out.startswith("tiny: A tiny table (mistake rate in %; time)")
    assert "RBP" in said.out
    assert "breast-cancer" in said.out
    assert said.err == f"trials that ended: 6 of 6, kept in {Path('runs/tiny.jsonl')}\n"


def test_running_again_runs_nothing_and_prints_the_same_table(okbench: Okbench, tiny: str) -> None:
    first = okbench("run", tiny, "--jobs", "1")
    lines = Path("runs/tiny.jsonl").read_bytes()
    again = okbench("run", tiny, "--jobs", "1")
    assert again.out == first.out
    assert again.err.startswith("no trial was left to run: the outcomes are in ")
    assert Path("runs/tiny.jsonl").read_bytes() == lines


@pytest.mark.parametrize(
    "more", mostly_slow([(), ("--backend", "processes")], [()]), ids=["threads", "processes"]
)
def test_any_number_of_jobs_gives_the_same_mistakes(
    okbench: Okbench, tiny: str, more: tuple[str, ...]
) -> None:
    def means(results: str, *more: str) -> list[str]:
        okbench("run", tiny, "--results", results, *more)
        said = okbench("report", tiny, "--results", results, "--format", "csv")
        return [row["mean"] + row["std"] for row in csv.DictReader(io.StringIO(said.out))]

    alone = means("alone", "--jobs", "1")
    assert means("pair", "--jobs", "2", *more) == alone
    assert all(alone)


def test_report_says_how_many_trials_stand_behind_a_cell(okbench: Okbench, tiny: str) -> None:
    okbench("run", tiny, "--trials", "2", "--jobs", "1")
    assert "(2/3)" in okbench("report", tiny).out


def test_single_repetitions_are_run_and_printed_alone(okbench: Okbench, tiny: str) -> None:
    said = okbench("run", tiny, "--repetition", "0,2", "--jobs", "1", "--learners", "RBP")
    assert said.code == 0, said.err
    assert "/3)" not in said.out
    lines = Path("runs/tiny.jsonl").read_text(encoding="utf-8").splitlines()
    outcomes = [json.loads(line)["outcome"] for line in lines if '"outcome"' in line]
    assert [outcome["trial"]["repetition"] for outcome in outcomes] == [0, 2]
    assert "(2/3)" in okbench("report", tiny).out


def test_a_repetition_that_is_no_number_is_refused(okbench: Okbench, tiny: str) -> None:
    said = okbench("run", tiny, "--repetition", "0;2")
    assert said.code == 2
    assert "write 0 or 0,7,19" in said.err


def test_report_csv_has_a_row_for_each_cell(okbench: Okbench, tiny: str) -> None:
    okbench("run", tiny, "--jobs", "1")
    said = okbench("report", tiny, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [(row["dataset"], row["learner"], row["n"]) for row in rows] == [
        ("breast-cancer", "RBP", "3"),
        ("breast-cancer", "FOGD", "3"),
    ]
    assert set(rows[0]) == {
        "table", "dataset", "learner", "metric", "mean", "std", "n", "seconds", "status",
        "printed", "outcome", "rests_on", "printed_mean", "printed_std", "printed_seconds",
        "difference", "baseline", "timed", "bytes",
    }  # fmt: skip


def test_report_before_any_run_names_the_command(okbench: Okbench, tiny: str) -> None:
    said = okbench("report", tiny)
    assert said.code == 2
    assert "okbench run tiny.yaml" in said.err


def test_dry_run_counts_and_runs_nothing(okbench: Okbench, tiny: str) -> None:
    said = okbench("run", tiny, "--dry-run")
    assert said.code == 0
    assert "6 trials, 0 done, 6 to run" in said.out
    assert not Path("runs").exists()


def test_dry_run_estimates_from_earlier_outcomes(okbench: Okbench, tiny: str) -> None:
    okbench("run", tiny, "--trials", "1", "--jobs", "1")
    said = okbench("run", tiny, "--dry-run", "--jobs", "1")
    assert "6 trials, 2 done, 4 to run" in said.out
    assert "from earlier outcomes" in said.out


@pytest.mark.usefixtures("in_threads")
def test_a_tables_own_limit_is_announced_kept_and_shown(okbench: Okbench, tiny: str) -> None:
    okbench("run", tiny, "--jobs", "1", "--trials", "1")
    text = Path(tiny).read_text(encoding="utf-8")
    Path(tiny).write_text(text.replace("runs: 3", "runs: 3, time_limit: 1e-9s"), encoding="utf-8")
    message = "over the limit of 1e-09 s: RBP × breast-cancer, 2 trials of about"
    assert message in okbench("run", tiny, "--dry-run").out
    said = okbench("run", tiny, "--jobs", "1")
    assert said.code == 0
    assert message in said.err
    assert "(1/3, timeout 2)" in said.out
    said = okbench("run", tiny, "--jobs", "1", "--results", "anew")
    assert "over the limit" not in said.err
    assert "over 1e-09 s: every trial outran the paper's own limit" in said.out
    assert "timeout" not in said.out
    said = okbench("run", tiny, "--jobs", "1", "--time-limit", "1h", "--retry", "timeout")
    assert "(1/3" not in said.out


def test_timing_marks_the_outcomes_as_measured_alone(okbench: Okbench, tiny: str) -> None:
    assert okbench("run", tiny, "--timing").code == 0
    said = okbench("report", tiny, "--format", "json")
    cells = json.loads(said.out)["cells"]
    assert all(cell["timed"] for cell in cells)


@pytest.mark.usefixtures("in_threads")
def test_a_learner_that_fails_is_reported_and_the_others_are_printed(
    okbench: Okbench, tmp_path: Path
) -> None:
    (tmp_path / "shaky_learner.py").write_text(
        "class Shaky:\n"
        "    def learn(self, X, y):\n        raise RuntimeError('no luck today')\n"
        "    def predict(self, X):\n        return None\n",
        encoding="utf-8",
    )
    config = (tmp_path / "tiny.yaml").as_posix()
    Path(config).write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        "learners:\n  RBP: {learner: RBP}\n  Shaky: {learner: 'shaky_learner:Shaky'}\n"
        "datasets: {breast-cancer: {}}\n",
        encoding="utf-8",
    )
    said = okbench("run", config, "--jobs", "1", "--allow-learner", "shaky_learner:Shaky")
    assert said.code == 1
    assert "no luck today" in said.err
    assert "--retry failed" in said.err
    assert "RBP" in said.out
    assert "Traceback" not in said.err
    again = okbench("run", config, "--jobs", "1", "--allow-learner", "shaky_learner:Shaky")
    assert "1 trial failed or diverged in an earlier run" in again.err
    assert "no luck today" in again.err
    shown = re.search(r"okbench show (\w+)", again.err)
    assert shown is not None
    assert "no luck today" in okbench("show", shown[1]).out


SLOW = """\
import time


class Slow:
    def begin(self, problem, draws):
        self.first = problem.classes[0]

    def learn(self, X, y):
        time.sleep(0.2)
        return [self.first] * len(y)

    def predict(self, X):
        return [self.first] * X.shape[0]
"""


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_says_what_is_kept_and_that_the_command_continues(tmp_path: Path, tiny: str) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    more = ["--with", "slow:Slow", "--learners", "Slow", "--trials", "200", "--jobs", "1"]
    words = [sys.executable, "-m", "okbench", "run", tiny, *more]
    running = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    store = Store(tmp_path / "runs/tiny.jsonl")
    while running.poll() is None and not store.outcomes():
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    ended = sum(one.status == "done" for one in store.outcomes().values())
    path = Path("runs/tiny.jsonl")
    assert f"trials that ended: {ended} of 200, kept in {path}; the same command contin" in errors


def test_a_class_without_the_methods_of_its_role_is_refused_before_anything_runs(
    okbench: Okbench, tmp_path: Path
) -> None:
    (tmp_path / "half_learner.py").write_text(
        "class Half:\n    def predict(self, X):\n        return None\n", encoding="utf-8"
    )
    (tmp_path / "half.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        "learners:\n  Perceptron: {width: 8}\n  Half: {learner: 'half_learner:Half'}\n"
        "datasets: {breast-cancer: {}}\n",
        encoding="utf-8",
    )
    said = okbench("run", "half.yaml", "--jobs", "1", "--allow-learner", "half_learner")
    assert said.code == 2
    assert "half.yaml:5: half_learner:Half does not learn block by block" in said.err
    assert "asks for the methods learn and predict" in said.err
    assert not (tmp_path / "runs").exists()


def test_only_the_rows_and_columns_asked_for_are_printed(okbench: Okbench, tiny: str) -> None:
    okbench("run", tiny, "--jobs", "1")
    said = okbench("report", tiny, "--learners", "FOGD")
    assert "FOGD" in said.out
    assert "RBP" not in said.out
    assert "other" not in said.out


CHATTY = """\
print("imported")

class Chatty:
    def begin(self, problem, draws):
        self.first = problem.classes[0]

    def learn(self, X, y):
        print("at it")
        return [self.first] * len(y)

    def predict(self, X):
        return [self.first] * X.shape[0]


class ChattyHere(Chatty):
    compiled = True
"""


COMMANDS = ("run", "record and replay", "check-learner")


@pytest.mark.parametrize("command", mostly_slow(COMMANDS, ["run"]))
@pytest.mark.parametrize("learner", mostly_slow(["Chatty", "ChattyHere"], ["Chatty"]))
def test_what_a_learner_prints_is_kept_out_of_stdout(
    tmp_path: Path, learner: str, command: str
) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY, encoding="utf-8")
    (tmp_path / "t.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        f"learners: {{A: {{learner: 'chatty:{learner}'}}}}\ndatasets: {{breast-cancer: {{}}}}\n",
        encoding="utf-8",
    )
    record = ("record", "t.yaml", "--datasets", "breast-cancer", "--learners", "A", "-o", "r.json")
    allowed = ("--allow-learner", "chatty")
    lines = {
        "run": [(("run", "t.yaml", "--format", "json", *allowed), "{")],
        "record and replay": [
            ((*record, *allowed), "r.json"),
            (("replay", "r.json", *allowed), '{"record"'),
        ],
        "check-learner": [(("check-learner", f"chatty:{learner}"), "passed")],
    }
    for arguments, first in lines[command]:
        line = [sys.executable, "-c", "from okbench.cli import main; main()", *arguments]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.startswith(first), (arguments, done.stdout, done.stderr)
        assert "at it" not in done.stdout
        assert "at it" in done.stderr
