"""Promises about time: what a prediction may know, and what learning may depend on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from okbench.learners.checks.subject import Stream, Subject, expect_same, fail
from okbench.learners.contract import Draws


def one_prediction_a_row(subject: Subject) -> None:
    """`learn` and `predict` return one prediction for each row."""
    for stream in subject.streams():
        learner = subject.begun(stream)
        for verb, given in [("learn", learner.learn(stream.X, stream.y)),
                            ("predict", learner.predict(stream.X))]:  # fmt: skip
            expect_one_each(given, stream, verb)


def predictions_come_before_learning(subject: Subject) -> None:
    """A row's prediction knows neither its own label nor any later one."""
    for stream in subject.streams():
        for known in (0, 1, 40):
            if known < 40 and not hasattr(subject.cls, "begin"):
                continue  # it must see every class first
            given = subject.begun(stream).learn(stream.X, stream.y)
            altered = subject.begun(stream).learn(stream.X, _other_labels(stream, known))
            expect_same(
                altered[: known + 1],
                given[: known + 1],
                stream.problem,
                f"other labels from row {known} on changed a prediction made before them",
            )


def learning_predicts_as_predict_does(subject: Subject) -> None:
    """`learn` returns for the next row what `predict` would have returned."""
    for stream in subject.streams():
        learner = subject.learned(stream[:40])
        for row in range(40, 60):
            ahead = learner.predict(stream[row : row + 1].X)
            then = learner.learn(stream[row : row + 1].X, stream[row : row + 1].y)
            expect_same(then, ahead, stream.problem, f"learn and predict disagree on row {row}")


def blocking_does_not_matter(subject: Subject) -> None:
    """Rows learned in one call or in many get the same predictions."""
    for stream in subject.streams():
        whole = subject.begun(stream).learn(stream.X, stream.y)
        first = 0 if hasattr(subject.cls, "begin") else 40  # it must see every class first
        for cuts in ([first, *range(41, 60), 90], [first, 47, 48, 101]):
            learner = subject.begun(stream)
            edges = sorted({0, *cuts, len(stream)})
            pieces = [
                learner.learn(stream.X[start:stop], stream.y[start:stop])
                for start, stop in pairwise(edges)
            ]
            expect_same(
                np.concatenate(pieces),
                whole,
                stream.problem,
                f"learning in {len(edges) - 1} blocks",
            )


def predicting_changes_nothing(subject: Subject) -> None:
    """Predictions asked for in between leave the later ones as they were."""
    for stream in subject.streams():
        quiet, asked = subject.learned(stream[:60]), subject.learned(stream[:60])
        once = asked.predict(stream.X)
        expect_same(asked.predict(stream.X), once, stream.problem, "predicting twice")
        rest = stream[60:]
        expect_same(
            asked.learn(rest.X, rest.y),
            quiet.learn(rest.X, rest.y),
            stream.problem,
            "learning after predictions were asked for",
        )


def same_seed_same_predictions(subject: Subject) -> None:
    """The same rows and the same draws give the same predictions."""
    for stream in subject.streams():
        first = subject.begun(stream, seed=5).learn(stream.X, stream.y)
        again = subject.begun(stream, seed=5).learn(stream.X, stream.y)
        hint = "" if hasattr(subject.cls, "begin") else " (take draws in begin(problem, draws))"
        expect_same(again, first, stream.problem, f"a second learner with the same seed{hint}")


def beginning_forgets_everything(subject: Subject) -> None:
    """After `begin` a learner is as good as new."""
    subject.needs("begin")
    for stream in subject.streams():
        used = subject.learned(stream, seed=5)
        used.begin(stream.problem, Draws(5))
        expect_same(
            used.learn(stream.X, stream.y),
            subject.begun(stream, seed=5).learn(stream.X, stream.y),
            stream.problem,
            "a learner begun again",
        )


def expect_one_each(given: Any, stream: Stream, verb: str) -> None:
    """Fail unless there is one prediction for each row."""
    if np.shape(given) != (len(stream),):
        fail(f"{len(stream)} rows, and {verb} returned {np.shape(given)}")


def _other_labels(stream: Stream, known: int) -> np.ndarray:
    """The labels with all from row `known` on exchanged for others."""
    y = stream.y.copy()
    if stream.problem.task == "regression":
        y[known:] = 3.0 - y[known:]
    else:
        y[known:] = (y[known:] + 1) % len(stream.problem.classes)
    return y


CHECKS = (
    one_prediction_a_row,
    predictions_come_before_learning,
    learning_predicts_as_predict_does,
    blocking_does_not_matter,
    predicting_changes_nothing,
    same_seed_same_predictions,
    beginning_forgets_everything,
)
