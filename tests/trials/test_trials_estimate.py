from __future__ import annotations

from pathlib import Path

import pytest
from trial_material import load, table

from okbench.trials.estimate import dry_run
from okbench.trials.nouns import Outcome
from okbench.trials.options import Options
from okbench.trials.plan import plan
from okbench.trials.store import Store

PAGE = table({"A": "Linear", "B": "Drawn"}, ("blobs:600", "bumps:1200", "sparse:600"), runs=2)


def missing(name: str, variant: str) -> str | None:
    return "sparse (12 MB) → okbench fetch sparse" if name == "sparse" else None


def test_a_dry_run_counts_estimates_and_names_missing_rows(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    a_first = plan(PAGE, load, Options(datasets=("blobs",), learners=("A",)))[0]
    with store.writer({}, "m") as writer:
        writer.add(Outcome(a_first, "done", rows=600, seconds=4.0, bytes=1000))

    def never_missing(name: str, variant: str) -> object:
        assert name != "sparse", "rows that are missing are not loaded"
        return load(name, variant)

    summary = dry_run(PAGE, never_missing, missing, store, Options(jobs=2))  # type: ignore[arg-type]
    assert (summary.total, summary.done, summary.to_run) == (12, 1, 11)
    assert summary.missing == {"sparse": "sparse (12 MB) → okbench fetch sparse"}
    # A: once more on blobs (4 s), twice on bumps, which has twice the rows (8 s each)
    assert summary.measured == 3
    assert summary.seconds == pytest.approx((4 + 8 + 8) / 2)
    held = [load("blobs", "600"), load("bumps", "1200")]
    rows = sum(data.X.nbytes + data.y.nbytes for data in held)
    assert summary.bytes == rows + 2 * 1000


def test_nothing_measured_is_said_and_not_guessed(tmp_path: Path) -> None:
    summary = dry_run(PAGE, load, lambda n, v: None, Store(tmp_path / "t.jsonl"), Options())
    assert (summary.to_run, summary.measured, summary.seconds) == (12, 0, 0.0)


def test_when_timing_only_timed_outcomes_count_as_done(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    page = table({"A": "Linear"}, runs=2)
    first, second = plan(page, load)
    with store.writer({}, "m") as writer:
        writer.add(Outcome(first, "done", rows=600, seconds=1.0))
        writer.add(Outcome(second, "done", rows=600, seconds=1.0, timed=True))
    assert dry_run(page, load, lambda n, v: None, store, Options()).done == 2
    assert dry_run(page, load, lambda n, v: None, store, Options(timing=True)).done == 1
