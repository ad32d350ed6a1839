"""Records of fits: a batch learner, its recorded mini-batches, and scores on test rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trial_material import load, trial

from okbench.base.errors import ConfigError, DataError, OkbenchError
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.trials.replay.differences import differences
from okbench.trials.replay.record import Tolerance, read_record
from okbench.trials.replay.recording import ran, refuse_other, write_record
from okbench.trials.replay.replaying import Replayed, replay
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.trial_types import Trial


class Batches:
    """Gradient descent on the logistic loss, in mini-batches over several epochs."""

    tasks = ("binary", "multiclass")
    version = 1

    def __init__(self, step: float = 0.1, epochs: int = 2, batch: int = 50) -> None:
        self.step, self.epochs, self.batch = step, epochs, batch
        self.updates = self.support_size = 0

    def begin(self, problem: Problem, draws: Draws) -> None:
        self.problem, self.draws = problem, draws

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        targets = (np.asarray(y)[:, None] == np.asarray(self.problem.classes)).astype(float)
        self.W = 0.1 * self.draws.stream("start").normals(targets.shape[1], rows.shape[1])
        for epoch in range(self.epochs):
            chosen = self.draws.stream("batches").permutation(len(rows))[: self.batch]
            odds = np.exp(rows[chosen] @ self.W.T)
            gap = odds / odds.sum(axis=1, keepdims=True) - targets[chosen]
            self.W = self.W - self.step * gap.T @ rows[chosen]
            self.updates += 1
            clock.mark((epoch + 1) * len(rows) // self.epochs)

    def scores(self, X: Any) -> Any:
        found = np.asarray(X @ self.W.T)
        return found if len(self.W) > 2 else found[:, 1:] - found[:, :1]

    def predict(self, X: Any) -> Any:
        return self.problem.decide(self.scores(X))


class Mute(Batches):
    """The same without scores."""

    scores = None  # type: ignore[assignment]

    def predict(self, X: Any) -> Any:
        return self.problem.decide(Batches.scores(self, X))


class Blows(Batches):
    def fit(self, X: Any, y: Any, clock: Any) -> None:
        raise Diverged(0, "the weights are infinite")


def fitted(name: str = "Batches", rows: str = "split", **changes: Any) -> Trial:
    made = trial("Linear", rows, protocol="train-test", metric="accuracy")
    settings = (("batch", 50), ("epochs", 2), ("step", 0.1))
    return replace(made, learner=f"{__name__}:{name}", settings=settings, **changes)


def written(folder: Path, one: Trial, dataset: Any = None) -> tuple[Replayed, dict[str, Any]]:
    run = ran(one, dataset or load(one.dataset), folder / "one.json")
    write_record(run, "a fit")
    return run, json.loads((folder / "one.json").read_text(encoding="utf-8"))


def changed(folder: Path, page: dict[str, Any], **keys: Any) -> Path:
    """The record with other keys; a None takes one away."""
    page = {key: value for key, value in {**page, **keys}.items() if value is not None}
    (folder / "one.json").write_text(json.dumps(page), encoding="utf-8")
    return folder / "one.json"


@pytest.mark.parametrize("rows", ["blobs", "sparse", "words", "three"])
def test_a_recorded_fit_comes_out_equal(tmp_path: Path, rows: str) -> None:
    dataset = replace(load(rows), n_train=400)
    one = fitted(rows=rows)
    run, page = written(tmp_path, one, dataset)
    found = read_record(tmp_path / "one.json")
    assert found.test is not None
    assert (len(found.order), len(found.test), found.ticks) == (400, 200, ())
    replayed = replay(found)
    assert differences(replayed) == []
    assert replayed.scores is not None
    assert replayed.scores.shape == (200, 3 if rows == "three" else 1)
    outcome = attempt(one, lambda n, v: dataset, Limits())
    assert (replayed.total, replayed.updates) == (outcome.total, 2)
    refuse_other(run, outcome)
    assert not {"ticks", "curve", "support_curve"} & {*page, *page["expect"], *run.figures()}
    assert (run.figures()["rows"], run.figures()["test_rows"]) == (400, 200)


def test_another_program_has_all_it_needs_for_the_same_scores(tmp_path: Path) -> None:
    """A plain rendering from the files alone: rows, order, start weights and mini-batches."""
    written(tmp_path, fitted())
    with np.load(tmp_path / "one.npz") as held:
        X, y, order, test = (held[name] for name in ("X", "y", "order", "test"))
        W = 0.1 * held["draws.start.normals.0"]
        permutations = [held[f"draws.batches.permutation.{k}"] for k in (0, 1)]
        expected = held["scores"]
    assert sorted([*order, *test]) == list(range(600))
    assert test.tolist() == list(range(400, 600))
    for permutation in permutations:
        for_step = np.zeros_like(W)
        for place in permutation[:50]:
            x, label = X[order[place]], y[order[place]]
            odds = np.exp(W @ x)
            for_step += np.outer(odds / odds.sum() - np.array([label == -1, label == 1]), x)
        W = W - 0.1 * for_step
    assert [W[1] @ X[row] - W[0] @ X[row] for row in test] == pytest.approx(expected, abs=1e-12)


def test_a_score_beyond_the_stated_precision_is_named_by_its_test_row(tmp_path: Path) -> None:
    run, page = written(tmp_path, fitted())
    scores = run.scores[:, 0].copy()
    scores[7] += 1e-6
    path = changed(tmp_path, page, expect={"scores": scores.tolist()})
    (found,) = differences(replay(read_record(path)))
    assert found.startswith("score of row 7 (row 407 of the data): ")
    path = changed(tmp_path, page, expect={"scores": scores.tolist()}, tolerance={"scores": 1e-5})
    assert differences(replay(read_record(path))) == []


def test_a_precision_of_its_own_is_written_with_the_record(tmp_path: Path) -> None:
    run, _ = written(tmp_path, fitted())
    coarse = replace(run, record=replace(run.record, tolerance=Tolerance(scores=4e-7)))
    write_record(coarse, "single precision")
    assert read_record(tmp_path / "one.json").tolerance == Tolerance(scores=4e-7)
    page = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert page["tolerance"] == {"scores": 4e-7}


def test_an_online_learner_is_recorded_with_test_rows_too(tmp_path: Path) -> None:
    one = replace(trial("Linear", "split"), protocol="train-test", learner="RBP", settings=(
        ("budget", 15), ("epsilon", 0.1), ("step", 1.0), ("width", 2.0)))  # fmt: skip
    run, page = written(tmp_path, one)
    replayed = replay(read_record(tmp_path / "one.json"))
    assert differences(replayed) == []
    assert len(replayed.errors) == len(run.scores) == 200
    assert replayed.total == attempt(one, load, Limits()).total
    assert "removal_slots" in page["expect"]


def test_a_learner_without_scores_is_compared_by_its_mistakes(tmp_path: Path) -> None:
    run, page = written(tmp_path, fitted("Mute"))
    assert run.scores is None
    assert set(page["expect"]) == {"mistakes", "support_size", "updates"}
    path = changed(tmp_path, page, expect={"mistakes": run.total + 1})
    assert differences(replay(read_record(path))) == [
        f"mistakes: {run.total}, expected {run.total + 1}"
    ]


@pytest.mark.parametrize(
    ("keys", "error", "said"),
    [
        ({"test": None}, ConfigError, "learns all rows at once; name the rows .* 'test'"),
        ({"test": []}, DataError, "no row is in it"),
        ({"test": [0, 600]}, DataError, "600 at place 1 is none of the 600 rows"),
        ({"test": [-1]}, DataError, "-1 at place 0 is none"),
        ({"test": [0.5]}, DataError, "whole numbers are expected"),
        ({"ticks": [10]}, ConfigError, "a run with 'test' rows has no curve"),
        ({"expect": {"curve": [1]}}, ConfigError, "'curve' is not a key here"),
        ({"learner": "trial_material:Complexes"}, ConfigError, "Complexes"),
    ],
)
def test_a_record_of_a_fit_that_makes_no_sense_is_refused(
    tmp_path: Path, keys: dict[str, Any], error: type[Exception], said: str
) -> None:
    _, page = written(tmp_path, fitted())
    with pytest.raises(error, match=said):
        read_record(changed(tmp_path, page, **keys))


def test_too_few_recorded_draws_end_it_with_one_message(tmp_path: Path) -> None:
    _, page = written(tmp_path, fitted())
    path = changed(tmp_path, page, settings={"epochs": 3, "batch": 50, "step": 0.1})
    with pytest.raises(OkbenchError, match="no more permutation named 'batches'"):
        replay(read_record(path))


def test_a_fit_that_diverges_ends_with_one_message(tmp_path: Path) -> None:
    with pytest.raises(OkbenchError, match=r"one.json: diverged at row 0"):
        written(tmp_path, fitted("Blows"))
