"""Folds of rows that stay in the order of their file, and of the initial part of a stream."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from okbench.base.errors import UsageError
from okbench.datasets.dataset_types import Dataset
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    Protocol,
    Range,
    Search,
    Setting,
    Table,
)
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.plan.seeds import row_order
from okbench.trials.search.folds import Folds
from okbench.trials.search.tuning import APART, tune
from okbench.trials.store.files import Store


def rows(name: str, variant: str = "") -> Dataset:
    """Row i has the number i in its only column; the last 20 of 80 are test rows."""
    X = np.arange(80.0)[:, np.newaxis]
    y = np.where(np.arange(80) % 3 == 0, 1, -1)
    return Dataset(name, X, y, "binary", (-1, 1), "print", n_train=60)


def page(kind: str, orders: str = "seeded", folds: int = 5) -> Table:
    block = {"block": 7} if kind == "block-stream" else {}
    return Table(
        "made/ordered", "ordered", "made",
        Protocol(kind, "accuracy", 1, orders=orders, **block),  # type: ignore[arg-type]
        (DatasetRow("counted"),),
        (LearnerColumn("IK", "IK-OGD"),),
        {("counted", "IK"): {"psi": Setting(4, "default", "?"), "partitionings": Setting(5)}},
        search=Search((Range("psi", (4, 8)),), subset=1.0, at_least=1, runs=1, folds=folds),
    )  # fmt: skip


def test_rows_in_the_order_of_the_file_keep_it_in_every_fold() -> None:
    random = Folds(rows, 4, 0.5, 1, seed=3)
    ordered = replace(random, in_order=("counted",))
    for variant in ordered.variants(""):
        part, shuffled = ordered("counted", variant), random("counted", variant)
        assert part.n_train == shuffled.n_train
        for place in (slice(part.n_train), slice(part.n_train, None)):
            numbers, others = part.X[place, 0], shuffled.X[place, 0]
            assert np.array_equal(numbers, np.sort(others))
            assert not np.array_equal(numbers, others)


def test_folds_of_a_stream_are_dealt_from_the_rows_that_come_first_in_it() -> None:
    table = page("block-stream")
    (trial,) = plan(table, rows, Options(seed=9))
    first = set(row_order(trial, rows("counted"))[:60])
    assert first != set(range(60))
    folds = Folds(rows, 5, 1.0, 1, seed=9 + APART, stream=9)
    held = [set(folds("counted", v).X[48:, 0].astype(int)) for v in folds.variants("")]
    assert set.union(*held) == first
    assert sum(map(len, held)) == 60


@pytest.mark.parametrize(
    ("kind", "orders"),
    [("train-test", "file"), ("train-test", "seeded"), ("block-stream", "seeded")],
)
def test_the_trials_of_a_search_train_on_folds_and_keep_the_order(
    tmp_path: Path, kind: str, orders: str
) -> None:
    store = Store(tmp_path / "tune.jsonl")
    found = tune(page(kind, orders), rows, lambda n, v: None, store, Options(), lambda t: None)
    (choice,) = found.choices
    assert choice.values.keys() == {"psi"}
    trials = [outcome.trial for outcome in store.outcomes().values()]
    assert len(trials) == 2 * 5
    assert {(trial.protocol, trial.order) for trial in trials} == {("train-test", orders)}
    assert all(trial.fingerprint.endswith("stream") == (kind != "train-test") for trial in trials)


def test_a_stream_of_blocks_is_not_searched_without_folds(tmp_path: Path) -> None:
    table = page("block-stream", folds=0)
    store = Store(tmp_path / "tune.jsonl")
    with pytest.raises(UsageError, match="block-stream table is searched by folds"):
        tune(table, rows, lambda n, v: None, store, Options(), lambda t: None)
