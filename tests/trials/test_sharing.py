"""Searches whose trials compute together what they have in common."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trial_material import load, trial

from okbench.learners.isolation import nearest
from okbench.learners.isolation.descent import IKOGD
from okbench.learners.isolation.laplacian_model import LaplacianWalker
from okbench.learners.registry import allow, find, settings_of
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
from okbench.trials.run import execute as execution
from okbench.trials.run import run_trial
from okbench.trials.run.execute import execute
from okbench.trials.run.sharing import alone, groups_of
from okbench.trials.search.tuning import Tuning, tune
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial

PSIS = (4, 8, 64, 128)


def page(learner: str = "IK-OGD", map: str = "nearest", kind: Any = "train-test") -> Table:
    settings = {
        "psi": Setting(16, "default", "?"),
        "map": Setting(map),
        "partitionings": Setting(10),
    }
    known = settings_of(find(learner).load())
    settings = {name: setting for name, setting in settings.items() if name in known}
    return Table(
        "made/shared", "shared", "made",
        Protocol(kind, "accuracy", 1, block=50 if kind == "block-stream" else 0),
        (DatasetRow("split", where="tables.yaml:5"),),
        (LearnerColumn("IK", learner, "tables.yaml:6"),),
        {("split", "IK"): settings},
        search=Search((Range("psi", PSIS),), subset=1.0, at_least=1, runs=1, folds=3),
        where="tables.yaml:1",
    )  # fmt: skip


def tuned(folder: Path, table: Table, **options: Any) -> tuple[Tuning, Mapping[str, Outcome]]:
    store = Store(folder / "tune.jsonl")
    found = tune(table, load, lambda n, v: None, store, Options(**options), lambda t: None)
    return found, store.outcomes()


def of_psi(psi: int, **changes: Any) -> Trial:
    settings = {"map": "nearest", "partitionings": 10, "psi": psi}
    defaults = {name: getattr(IKOGD(), name) for name in settings_of(IKOGD)}
    given = tuple(sorted({**defaults, **settings}.items()))
    return replace(trial(dataset="split", settings=given, **changes), learner="IK-OGD")


class Telling:
    """Predicts 1 where it shares, and -1 where it does not; `dies` ends its process."""

    version = 1
    shared_settings = ("number",)

    def __init__(self, number: int = 0, dies: bool = False) -> None:
        self.number, self.dies, self.others = number, dies, 0

    @staticmethod
    def share(learners: Sequence[Telling]) -> None:
        for each in learners:
            each.others = len(learners) - 1

    def learn(self, X: Any, y: Any) -> Any:
        if self.dies and self.number == 1:
            os._exit(1)
        return self.predict(X)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), 1 if self.others else -1)


def telling(number: int, **more: Any) -> Trial:
    settings = tuple(sorted({"dies": False, **more, "number": number}.items()))
    return replace(trial(settings=settings), learner=f"{__name__}:Telling")


@pytest.fixture(autouse=True)
def _allowed() -> None:
    allow(f"{__name__}:Telling")


@pytest.mark.parametrize(
    ("learner", "kind", "map", "options"),
    [
        ("IK-OGD", "train-test", "nearest", {}),
        ("IK-OGD", "train-test", "iforest", {"jobs": 2}),
        ("IK-OGD", "block-stream", "nearest", {"jobs": 2}),
        ("IK-OGD-dual", "train-test", "nearest", {}),
        pytest.param("IK-SVM", "train-test", "nearest", {}, marks=pytest.mark.slow),
        ("LaplacianOGD", "train-test", "", {}),
        ("LaplacianOGD", "block-stream", "", {"jobs": 2}),
    ],
)
def test_a_search_that_shares_chooses_and_records_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    learner: str,
    kind: str,
    map: str,
    options: dict[str, Any],
) -> None:
    table = page(learner, map, kind)
    shared, known = tuned(tmp_path / "shared", table, **options)
    monkeypatch.setattr(execution, "groups_of", alone)
    expected, known_alone = tuned(tmp_path / "alone", table, **options)
    assert len(known) == len(PSIS) * 3
    assert known.keys() == known_alone.keys()
    for id_, outcome in known.items():
        other = known_alone[id_]
        assert outcome.status == "done"
        assert (outcome.total, outcome.rows) == (other.total, other.rows)
        assert [point[:2] for point in outcome.curve] == [point[:2] for point in other.curve]
    (choice,), (choice_alone,) = shared.choices, expected.choices
    assert choice.tries == choice_alone.tries
    assert choice.values == choice_alone.values


def test_a_search_over_two_settings_shares_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"components": Setting(10)}
    settings |= {name: Setting(0.5, "default", "?") for name in ("step", "decay", "scale")}
    ranges = Range("step", (1e-3, 0.1)), Range("decay", (1e-3, 0.5)), Range("scale", (0.5, 2.0))
    table = replace(
        page(), learners=(LearnerColumn("RKS", "RKS"),), settings={("split", "RKS"): settings},
        search=Search(ranges, subset=1.0, at_least=1, runs=1, folds=3),
    )  # fmt: skip
    shared, known = tuned(tmp_path / "shared", table)
    monkeypatch.setattr(execution, "groups_of", alone)
    expected, known_alone = tuned(tmp_path / "alone", table)
    assert [one.values for one in shared.choices] == [one.values for one in expected.choices]
    assert {id_: one.total for id_, one in known.items()} == {
        id_: one.total for id_, one in known_alone.items()
    }
    assert len({one.trial.settings for one in known.values()}) == 8
    groups = groups_of([one.trial for one in known.values()])
    assert sorted(map(len, groups)) == [4] * (2 * 3)  # of every scale and fold


def test_nothing_is_shared_where_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "groups_of", None)
    options = Options(sharing=True, memory_limit=1e9)
    with closing(execute([telling(1), telling(2)], load, options)) as outcomes:
        assert next(outcomes).total == np.sum(load("blobs").y == 1)


def test_trials_of_a_run_do_not_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "groups_of", None)
    trials = [of_psi(4, protocol="train-test"), of_psi(8, protocol="train-test")]
    assert {each.status for each in execute(trials, load, Options())} == {"done"}


def test_the_others_of_a_group_are_run_when_one_ends_its_process() -> None:
    trials = [telling(number, dies=True) for number in range(4)]
    options = Options(backend="processes", sharing=True)
    found = {each.trial: each for each in execute(trials, load, options)}
    ones = int(np.sum(load("blobs").y == 1))
    assert [found[each].status for each in trials] == ["done", "failed", "done", "done"]
    assert {found[each].total for each in trials if found[each].total is not None} == {600 - ones}


def test_rows_of_a_fold_are_multiplied_once_for_all_psi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_rows: Counter[int] = Counter()
    cells = nearest.PointTable.cells

    def counted(table: Any, block: Any, library: Any, several: Any, out: Any) -> None:
        n_rows[len(several)] += len(block)
        cells(table, block, library, several, out)

    monkeypatch.setattr(nearest.PointTable, "cells", counted)
    monkeypatch.setattr(run_trial, "_warm_up", lambda *given: None)
    tuned(tmp_path, page())
    assert load("split").n_train == 400
    assert n_rows[len(PSIS)] == 3 * 400  # training and test rows of every fold
    assert n_rows.keys() == {len(PSIS)}


def test_blocks_of_a_fold_are_learned_once_for_all_psi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an online learner, which is given one block after the other."""
    walks: list[tuple[int, int]] = []
    walk = LaplacianWalker._walk

    def counted(walker: Any, points: Any, targets: Any, *given: Any) -> int:
        walks.append((len(walker._rule.rates), len(targets)))
        return walk(walker, points, targets, *given)

    monkeypatch.setattr(LaplacianWalker, "_walk", counted)
    monkeypatch.setattr(run_trial, "_warm_up", lambda *given: None)
    tuned(tmp_path, page("LaplacianOGD"))
    n_rows = {count: sum(rows for of, rows in walks if of == count) for count in (1, len(PSIS))}
    assert n_rows[len(PSIS)] == 2 * load("split").n_train  # a third of them is left out each time
    assert n_rows[1] == 0


def test_groups_differ_in_the_shared_setting_alone() -> None:
    trials = [of_psi(4), trial(), of_psi(8), of_psi(4, repetition=1), of_psi(16)]
    other = replace(trials[0], settings=(*trials[0].settings[:-1], ("step", 0.1)))
    assert groups_of([*trials, other]) == [
        [trials[0], trials[2], trials[4]], [trials[1]], [trials[3]], [other],
    ]  # fmt: skip


def test_where_sharing_fails_each_trial_says_what_is_wrong() -> None:
    trials = [of_psi(4, protocol="train-test"), of_psi(1, protocol="train-test")]
    found = {each.trial.id: each for each in execute(trials, load, Options(sharing=True))}
    assert found[trials[0].id].status == "done"
    assert found[trials[1].id].status == "failed"
    assert "psi = 1: it must be 2 or more" in found[trials[1].id].reason
