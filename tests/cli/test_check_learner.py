"""okbench check-learner, from the outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Okbench


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


@pytest.mark.parametrize("learner", ["FOGD", "rbp"])
def test_a_learner_of_okbench_passes(okbench: Okbench, learner: str) -> None:
    said = okbench("check-learner", learner)
    assert (said.code, said.err) == (0, "")
    assert "failed" not in said.out
