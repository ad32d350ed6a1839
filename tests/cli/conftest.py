"""The command line as a person meets it, run in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from okbench.cli import main
from tests.shared import in_threads

__all__ = ["in_threads"]


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    err: str


Okbench = Callable[..., Printed]


@pytest.fixture
def okbench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Okbench:
    """Run `okbench ARGUMENTS…` in an empty folder, with a data folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("sys.path", [*sys.path])

    def run(*arguments: str) -> Printed:
        monkeypatch.setattr("sys.argv", ["okbench", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Printed(int(ended.value.code or 0), printed.out, printed.err)

    return run


TINY = """\
title: A tiny table
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
settings: {width: 8, budget: 20}
learners:
  RBP: {learner: RBP}
  FOGD: {learner: FOGD, components: 4 * budget, step: 2e-3}
datasets:
  breast-cancer: {}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """A table that runs in no time."""
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    return "tiny.yaml"
