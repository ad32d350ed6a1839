from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trial_material import load, table

from okbench.papers.table_types import Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.run.estimate import Overlong, dry_run, guesses
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome

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


def test_a_dry_run_of_single_repetitions_counts_them_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    summary = dry_run(PAGE, load, missing, store, Options(repetitions=(1, 5, 9)))
    assert (summary.total, summary.to_run) == (18, 18)


def limited(limit: float, **more: Any) -> Table:
    page = table({"A": "Linear", "B": "Drawn"}, ("blobs:600", "bumps:1200"), **more)
    return replace(page, protocol=replace(page.protocol, time_limit=limit))


def test_cells_expected_to_outrun_the_limit_are_named_and_count_no_more_than_it(
    tmp_path: Path,
) -> None:
    page, store = limited(5.0), Store(tmp_path / "t.jsonl")
    (first, *_) = plan(page, load, Options(datasets=("blobs",), learners=("A",)))
    with store.writer({}, "m") as writer:
        writer.add(Outcome(first, "done", rows=600, seconds=4.0))
    summary = dry_run(page, load, lambda n, v: None, store, Options())
    assert summary.time_limit == 5.0
    assert summary.overlong == (Overlong("bumps", "A", 2, 8.0),)  # twice the rows
    assert summary.seconds == 4 + 5 + 5
    asked = dry_run(page, load, lambda n, v: None, store, Options(time_limit=3600))
    assert (asked.time_limit, asked.overlong, asked.seconds) == (3600, (), 4 + 8 + 8)


def test_a_trial_that_was_ended_tells_what_the_others_would_take(tmp_path: Path) -> None:
    page, store = limited(5.0), Store(tmp_path / "t.jsonl")
    (first, *_) = plan(page, load, Options(datasets=("blobs",), learners=("A",)))
    with store.writer({}, "m") as writer:
        writer.add(Outcome(first, "timeout", rows=300, seconds=5.0))
    summary = dry_run(page, load, lambda n, v: None, store, Options(datasets=("blobs",)))
    assert summary.overlong == (Overlong("blobs", "A", 1, 10.0),)


def test_the_same_settings_are_the_better_guide(tmp_path: Path) -> None:
    page = table({"few": "Drawn", "many": "Drawn"}, settings={("blobs", "many"): {"budget": 99}})
    store = Store(tmp_path / "t.jsonl")
    few, many = plan(page, load, Options(trials=1))
    with store.writer({}, "m") as writer:
        writer.add(Outcome(few, "done", rows=600, seconds=1.0))
        writer.add(Outcome(many, "done", rows=600, seconds=7.0))
    found = guesses(plan(page, load), store.outcomes().values(), load)
    assert {found[trial.id].seconds for trial in plan(page, load, Options(learners=("few",)))} == {
        1.0
    }


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
