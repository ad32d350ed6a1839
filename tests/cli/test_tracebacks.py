"""A learner that raises: where it did, in a line, and the traceback for whoever asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from okbench.base import tracebacks
from tests.cli.conftest import Okbench

pytestmark = pytest.mark.usefixtures("in_threads")
RAISES = """\
import numpy as np


class Raises:
    def learn(self, X, y):
        return np.array([self.one(row) for row in X])

    def one(self, row):
        return 1 / 0

    predict = learn


class Deep(Raises):
    def one(self, row, depth=200):
        return self.one(row, depth - 1) if depth else [].pop()
"""


@pytest.fixture
def raising(tmp_path: Path, okbench: Okbench, monkeypatch: pytest.MonkeyPatch) -> Okbench:
    (tmp_path / "raising.py").write_text(RAISES, encoding="utf-8")
    for name in ("Raises", "Deep"):
        (tmp_path / f"{name}.yaml").write_text(
            "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
            f"learners: {{A: {{learner: 'raising:{name}'}}}}\ndatasets: {{breast-cancer: {{}}}}\n",
            encoding="utf-8",
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    return okbench


def test_an_outcome_names_the_line_that_raised_and_show_prints_the_traceback(
    raising: Okbench, tmp_path: Path
) -> None:
    assert raising("run", "Raises.yaml", "--timing", "--allow-learner", "raising").code == 1
    (stored,) = (tmp_path / "runs").rglob("*.jsonl")
    lines = [json.loads(line) for line in stored.read_text(encoding="utf-8").splitlines()]
    (outcome,) = [line["outcome"] for line in lines if "outcome" in line]
    assert outcome["reason"].endswith(
        "learn: ZeroDivisionError: division by zero (raising.py, line 9)"
    )
    shown = raising("show", outcome["id"]).out
    assert 'raising.py", line 6, in learn' in shown
    assert shown.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "protocol_loop" not in shown
    (extra,) = [line for line in shown.splitlines() if line.startswith("extra")]
    assert "traceback" not in extra


def test_what_is_kept_of_a_traceback_is_bounded(raising: Okbench, tmp_path: Path) -> None:
    assert raising("run", "Deep.yaml", "--timing", "--allow-learner", "raising").code == 1
    (stored,) = (tmp_path / "runs").rglob("*.jsonl")
    lines = [json.loads(line) for line in stored.read_text(encoding="utf-8").splitlines()]
    (outcome,) = [line["outcome"] for line in lines if "outcome" in line]
    kept = outcome["extra"]["traceback"]
    assert kept.rstrip().endswith("IndexError: pop from empty list")
    assert len(kept) <= tracebacks.CHARACTERS
    assert kept.count("raising.py") <= tracebacks.FRAMES


def test_check_learner_names_the_line_and_prints_the_traceback_on_request(
    raising: Okbench,
) -> None:
    short = raising("check-learner", "raising:Raises")
    assert short.code == 1
    assert "ZeroDivisionError: division by zero (raising.py, line 9)" in short.out
    assert "Traceback" not in short.out
    long = raising("check-learner", "raising:Raises", "--debug")
    assert long.code == 1
    assert "         Traceback (most recent call last):" in long.out
    assert 'raising.py", line 6, in learn' in long.out


def test_an_error_that_cannot_be_shown_is_named() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert tracebacks.described(Mute()) == "Mute: its message cannot be shown"
