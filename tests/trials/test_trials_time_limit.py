"""A table's own time limit: used when none is asked for, told before trials start."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from trial_material import load, table

from okbench.papers.table_types import Table
from okbench.trials.plan.cells import time_limit_of
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.run.run_table import Tally, run
from okbench.trials.search.tuning import tune
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome
from tests.trials.test_tune import page as tunable


def limited(limit: float, **learners: str) -> Table:
    page = table(learners or {"Slow": "Sleeps", "Fast": "Linear"}, runs=1)
    return replace(page, protocol=replace(page.protocol, time_limit=limit))


def ran(page: Table, store: Store, options: Options | None = None) -> list[Tally]:
    """The tally at the start, and at the end, of a run."""
    seen: list[Tally] = []
    end = run(
        page,
        load,
        lambda n, v: None,
        store,
        options or Options(),
        lambda t: seen.append(deepcopy(t)),
    )
    return [seen[0], end]


def test_the_limit_is_the_tables_unless_another_is_asked_for() -> None:
    assert time_limit_of(limited(7200.0), Options()) == 7200.0
    assert time_limit_of(limited(7200.0), Options(time_limit=5.0)) == 5.0
    assert time_limit_of(table({"A": "Linear"}), Options()) == math.inf


@pytest.mark.parametrize("timing", [False, True])
def test_the_tables_limit_ends_a_trial(tmp_path: Path, timing: bool) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(limited(0.05), store, Options(timing=timing))
    endings = {one.trial.learner[-6:]: one.status for one in store.outcomes().values()}
    assert endings == {"Sleeps": "timeout", "Linear": "done"}


def test_a_limit_asked_for_overrules_the_tables(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(limited(1e-9, Fast="Linear"), store, Options(time_limit=60.0))
    assert [one.status for one in store.outcomes().values()] == ["done"]


def test_what_is_expected_to_outrun_the_limit_is_told_before_it_starts(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    page = replace(limited(0.05), datasets=table({}, ("blobs", "bumps")).datasets)
    (slow, _) = plan(page, load, Options(datasets=("blobs",)))
    with store.writer({}, "m") as writer:
        writer.add(Outcome(slow, "done", rows=600, seconds=1.2))
    before, after = ran(page, store)
    (cell,) = before.overlong
    assert (cell.dataset, cell.learner, cell.trials) == ("bumps", "Slow", 1)
    assert cell.seconds == pytest.approx(1.2)
    assert not before.endings
    assert after.endings == {"done": 2, "timeout": 1}


def test_a_search_keeps_to_the_tables_limit(tmp_path: Path) -> None:
    page = tunable()
    page = replace(page, protocol=replace(page.protocol, time_limit=1e-9))
    store = Store(tmp_path / "tune.jsonl")
    tuning = tune(page, load, lambda n, v: None, store, Options(), lambda t: None)
    assert set(tuning.tally.endings) == {"timeout"}
