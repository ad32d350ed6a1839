"""okbench check-learner, from the outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Okbench
from tests.shared import mostly_slow


def test_an_error_is_printed_once_and_its_repeats_are_counted(okbench: Okbench) -> None:
    Path("needy_learner.py").write_text(
        "class Needy:\n"
        "    def __init__(self, alpha): pass\n"
        "    def learn(self, X, y): pass\n"
        "    def predict(self, X): pass\n",
        encoding="utf-8",
    )
    said = okbench("check-learner", "needy_learner:Needy")
    failed = [line for line in said.out.splitlines() if line.startswith("failed")]
    assert said.code == 1
    assert len(failed) > 10
    assert said.out.count("missing 1 required positional argument") == 1
    assert said.out.count("the same error as in one-prediction-a-row") == len(failed) - 1
    assert f"{len(failed)} checks failed, {len(failed) - 1} of them with the error" in said.err


@pytest.mark.parametrize("learner", mostly_slow(["FOGD", "rbp"], ["rbp"]))
def test_a_learner_of_okbench_passes(okbench: Okbench, learner: str) -> None:
    said = okbench("check-learner", learner)
    assert (said.code, said.err) == (0, "")
    assert "failed" not in said.out


MISBEHAVING = """\
import os, subprocess, time
import numpy as np

class Constant:
    def learn(self, X, y):
        if hasattr(X, "toarray"):
            self.go_wrong()
        return np.full(len(y), 1)
    def predict(self, X): return np.full(X.shape[0], 1)

class Endless(Constant):
    def go_wrong(self):
        subprocess.Popen(["sleep", "{seconds}"])
        while True: time.sleep(1)

class Interrupts(Constant):
    def go_wrong(self): raise KeyboardInterrupt

class Ends(Constant):
    def go_wrong(self): os._exit(7)
"""


REASONS = {
    "Endless": "no return within 2 s; its process was ended",
    "Interrupts": "KeyboardInterrupt",
    "Ends": "worker died (exit 7)",
}


@pytest.mark.parametrize("learner", mostly_slow(REASONS, ["Ends"]))
def test_a_learner_that_does_not_come_back_fails_its_checks_and_no_others(
    learner: str, tmp_path: Path
) -> None:
    seconds = f"85{os.getpid()}"
    text = MISBEHAVING.replace("{seconds}", seconds)
    (tmp_path / "misbehaving.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "okbench", "check-learner", f"misbehaving:{learner}"]
    ended = subprocess.run(
        [*command, "--time-limit", "2s"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert ended.returncode == 1, ended.stderr
    assert any(line.startswith("failed") and REASONS[learner] in line for line in lines)
    assert any(line.startswith("passed") for line in lines)
    assert "Traceback" not in ended.stderr
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"sleep {seconds}" not in left.stdout


def test_no_more_checks_are_run_after_two_that_did_not_return(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(
        "import time\n\n"
        "class Endless:\n"
        "    def learn(self, X, y): time.sleep(1000)\n"
        "    def predict(self, X): time.sleep(1000)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "okbench", "check-learner", "endless:Endless"]
    ended = subprocess.run(
        [*command, "--time-limit", "1s"], cwd=tmp_path, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    lines = ended.stdout.splitlines()
    assert ended.returncode == 1
    assert [line.startswith("failed ") for line in lines[:2]] == [True, True]
    assert {line[:7] for line in lines[2:-1]} == {"not run"}
    assert "not run  pickles" in lines
    assert lines[-1] == f"2 failed, {len(lines) - 3} not run"
    assert "The others were not run, because 2 checks did not return" in ended.stderr


def test_a_learner_is_tested_with_the_settings_that_are_given(okbench: Okbench) -> None:
    Path("wide_learner.py").write_text(
        "import numpy as np\n\n"
        "class Wide:\n"
        "    def __init__(self, widths): assert list(widths) == [0.5, 1], widths\n"
        "    def learn(self, X, y): return np.full(X.shape[0], -1)\n"
        "    def predict(self, X): return np.full(X.shape[0], -1)\n",
        encoding="utf-8",
    )
    without = okbench("check-learner", "wide_learner:Wide")
    assert "missing 1 required positional argument" in without.out
    given = okbench("check-learner", "wide_learner:Wide", "--set", "widths=[0.5, 1]")
    assert "positional argument" not in given.out
    assert "AssertionError" not in given.out
    refused = okbench("check-learner", "wide_learner:Wide", "--set", "widths")
    assert (refused.code, "write NAME=VALUE" in refused.err) == (2, True)
