"""What the benchmark of the bookkeeping computes, and that it drives a run to its end."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.bench_bookkeeping import WORK, delivered, exponent
from benchmarks.bench_bookkeeping import _write as write
from benchmarks.bench_reports import large_outcomes, large_table


def test_an_exponent_is_that_of_the_seconds_beyond_the_least() -> None:
    assert exponent(1.0, 2.0, 11.0, 10) == "1.00"
    assert exponent(1.0, 2.0, 101.0, 10) == "2.00"
    assert exponent(1.0, 0.9, 11.0, 10) == "–"


def test_some_outcomes_do_not_arrive_and_some_arrive_twice() -> None:
    asked = list(large_outcomes(large_table(10)))
    come = delivered(asked, random.Random(1))
    distinct = {one.trial.id for one in come}
    assert len(distinct) < len(asked)
    assert len(distinct) < len(come)
    assert distinct < {one.trial.id for one in asked}


def test_every_kind_of_work_ends_well(tmp_path: Path) -> None:
    table = large_table(2)
    write(table, tmp_path / "runs")
    for work in WORK.values():  # each makes sure of what comes of it
        work(tmp_path / "runs", table)
