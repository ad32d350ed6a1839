"""Promises of learners that are fitted once: batch learners, and maps of rows to features."""

from __future__ import annotations

import math
import pickle
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from okbench.base.errors import OkbenchError
from okbench.learners.checks.object_checks import (
    beats_the_constant,
    clusters,
    its_repr_evaluates_back,
    the_constructor_stores_its_arguments,
)
from okbench.learners.checks.row_checks import expect_sane
from okbench.learners.checks.stream_checks import expect_one_each
from okbench.learners.checks.subject import NotApplicable, Stream, Subject, expect_same, fail
from okbench.learners.contract import Draws


class CheckClock:
    """A clock that stands still: all the time there is, or none."""

    def __init__(self, over: bool = False) -> None:
        self.over = over
        self.marks: list[tuple[int, float | None]] = []

    def time_left(self) -> float:
        return 0.0 if self.over else math.inf

    def should_stop(self) -> bool:
        return self.over

    def mark(self, rows_seen: int, total: float | None = None) -> None:
        self.marks.append((rows_seen, total))


def a_fit_predicts_every_row(subject: Subject) -> None:
    """After `fit`, `predict` returns one usable prediction for each row, be it one alone."""
    for stream in subject.streams():
        learner = _fitted(subject, stream)
        for rows in (stream, stream[:1]):
            given = learner.predict(rows.X)
            expect_one_each(given, rows, "predict")
            expect_sane(given, stream.problem)


def the_same_draws_fit_the_same(subject: Subject) -> None:
    """The same rows and the same draws give the same predictions."""
    for stream in subject.streams():
        expect_same(
            _fitted(subject, stream, seed=5).predict(stream.X),
            _fitted(subject, stream, seed=5).predict(stream.X),
            stream.problem,
            "a second learner with the same draws (take draws in begin(problem, draws))",
        )


def a_second_fit_forgets_the_first(subject: Subject) -> None:
    """A learner that was fitted to other rows before predicts as a new one."""
    for stream in subject.streams():
        used = _fitted(subject, stream[:60], seed=5)
        if hasattr(used, "begin"):
            used.begin(stream.problem, Draws(5))
        used.fit(stream.X, stream.y, CheckClock())
        expect_same(
            used.predict(stream.X),
            _fitted(subject, stream, seed=5).predict(stream.X),
            stream.problem,
            "a learner fitted again",
        )


def a_fit_that_is_stopped_can_predict(subject: Subject) -> None:
    """A clock whose time is over ends `fit` without an error, and what there is predicts."""
    for stream in subject.streams():
        learner = _fitted(subject, stream, clock=CheckClock(over=True))
        expect_sane(learner.predict(stream.X), stream.problem)


def marks_of_progress_rise(subject: Subject) -> None:
    """Marks of the clock count rows upwards, and their totals are numbers or missing."""
    for stream in subject.streams():
        clock = CheckClock()
        _fitted(subject, stream, clock=clock)
        for (before, _), (after, _) in pairwise([(0, None), *clock.marks]):
            if after < before:
                fail(f"it marked {after} rows after {before}")
        for rows, total in clock.marks:
            if total is not None and not math.isfinite(total):
                fail(f"it marked the total {total} after {rows} rows")


def a_fit_leaves_its_input_alone(subject: Subject) -> None:
    """`fit` and `predict` do not write to rows and labels."""
    for stream in subject.streams():
        X, y = stream.X.copy(), stream.y.copy()
        learner = subject.begun(stream)
        learner.fit(X, y, CheckClock())
        learner.predict(X)
        if (X != stream.X).any() or (y != stream.y).any():
            fail("it wrote to its input")


def a_fit_learns_something(subject: Subject) -> None:
    """With its default settings it beats the best constant on two plain clusters."""
    for task in subject.tasks:
        stream = clusters(task)
        half = len(stream) // 2
        learner = subject.begun_with_defaults(stream)
        learner.fit(stream[:half].X, stream[:half].y, CheckClock())
        beats_the_constant(learner.predict(stream[half:].X), stream[half:])


def a_fit_takes_sparse_rows(subject: Subject) -> None:
    """A fit to a table and one to a CSR matrix of the same values make the same predictions."""
    for stream in subject.streams():
        expected = _fitted(subject, stream).predict(stream.X)
        for form in (sp.csr_array, sp.csr_matrix):
            rows = form(stream.X)
            try:
                learner = _fitted(subject, replace(stream, X=rows))
            except OkbenchError:
                raise
            except (TypeError, ValueError) as error:
                raise NotApplicable(f"it takes no sparse rows ({error})") from error
            for X in (rows, stream.X):
                message = f"a fit to rows as {form.__name__}"
                expect_same(learner.predict(X), expected, stream.problem, message)


def a_fit_knows_no_names_of_classes(subject: Subject) -> None:
    """Classes named -1 +1 or by words: the same predictions."""
    for stream in subject.streams():
        if stream.problem.task == "regression":
            continue
        n_classes = len(stream.problem.classes)
        expected = stream.problem.encode(_fitted(subject, stream).predict(stream.X))
        for names in (range(-1, 2 * n_classes - 1, 2), "abcdefgh"[:n_classes]):
            renamed = stream.named(*names)
            found = renamed.problem.encode(_fitted(subject, renamed).predict(stream.X))
            if (found != expected).any():
                fail(f"classes named {renamed.problem.classes} gave other predictions than 0, 1, …")


def a_fit_lacks_a_class(subject: Subject) -> None:
    """Training rows without one of several classes, and of one class alone: usable predictions, or
    a refusal with a message."""
    subject.needs("begin")
    for stream in subject.streams():
        if stream.problem.task == "regression":
            continue
        for name in stream.problem.classes:
            for kept in (stream.y != name, stream.y == name):
                _works_or_is_refused(subject, replace(stream, X=stream.X[kept], y=stream.y[kept]))


def a_fit_takes_odd_rows(subject: Subject) -> None:
    """Constant rows, a few rows over and over, huge values: usable predictions, or a refusal with a
    message."""
    for stream in subject.streams():
        repeated = np.tile(stream.X[:4], (30, 1))
        for X in (0.0 * stream.X, 0.0 * stream.X + 1.0, repeated, 1e5 * stream.X, 1e200 * stream.X):
            _works_or_is_refused(subject, replace(stream, X=X))


def a_fit_refuses_rows_that_are_not_finite(subject: Subject) -> None:
    """A NaN or an infinity among the values is refused with a message, not learned."""
    for stream in subject.streams():
        for value in (np.nan, np.inf, -np.inf):
            X = stream.X.copy()
            X[70, 1] = value
            try:
                _fitted(subject, replace(stream, X=X))
            except (OkbenchError, ValueError):
                continue
            fail(f"it was fitted to a row with the value {value} without an error")


def a_fit_keeps_its_budget(subject: Subject) -> None:
    """After a fit there are no more supports than the budget."""
    subject.needs("budget", "support_size")
    for stream in subject.streams():
        learner = _fitted(subject, stream)
        if learner.support_size > learner.budget:
            fail(f"{learner.support_size} supports; budget {learner.budget}")


def a_fit_pickles(subject: Subject) -> None:
    """What was fitted makes the same predictions after pickling."""
    for stream in subject.streams():
        learner = _fitted(subject, stream)
        try:
            copy = pickle.loads(pickle.dumps(learner))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            fail(f"it does not pickle: {error}")
        expected = learner.predict(stream.X)
        expect_same(copy.predict(stream.X), expected, stream.problem, "predicting after pickling")


def a_fit_leaves_the_global_random_state_alone(subject: Subject) -> None:
    """Random numbers come from the draws it is given."""
    for stream in subject.streams():
        before = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
        _fitted(subject, stream).predict(stream.X)
        if (random.getstate(), pickle.dumps(np.random.get_state())) != before:  # noqa: NPY002
            fail("it used the global random state")


def a_map_gives_features_for_every_row(subject: Subject) -> None:
    """`transform` returns as many rows as it is given, of one width, in finite numbers."""
    for stream in subject.streams():
        mapped = _mapped(subject, stream)
        whole = mapped.transform(stream.X)
        if np.ndim(whole) != 2 or len(whole) != len(stream):
            fail(f"{len(stream)} rows, and transform returned {np.shape(whole)}")
        if not np.isfinite(whole).all():
            fail("a feature is not a finite number")


def features_of_a_row_depend_on_it_alone(subject: Subject) -> None:
    """A row has the same features alone as among others."""
    for stream in subject.streams():
        mapped = _mapped(subject, stream)
        whole = mapped.transform(stream.X)
        for row in (0, 57, len(stream) - 1):
            _expect_features(
                mapped.transform(stream.X[row : row + 1]), whole[row : row + 1], f"row {row} alone"
            )


def the_same_draws_map_the_same(subject: Subject) -> None:
    """The same rows and the same draws give the same features."""
    for stream in subject.streams():
        _expect_features(
            _mapped(subject, stream).transform(stream.X),
            _mapped(subject, stream).transform(stream.X),
            "a second map with the same draws",
        )


def _fitted(
    subject: Subject, stream: Stream, seed: int = 0, clock: CheckClock | None = None
) -> Any:
    learner = subject.begun(stream, seed)
    learner.fit(stream.X, stream.y, clock or CheckClock())
    return learner


def _works_or_is_refused(subject: Subject, stream: Stream) -> None:
    learner = subject.begun(stream)
    try:
        with np.errstate(all="ignore"):  # overflow is what is expected of huge values
            learner.fit(stream.X, stream.y, CheckClock())
            given = learner.predict(stream.X)
    except (OkbenchError, ValueError):
        return
    expect_sane(given, stream.problem)


def _mapped(subject: Subject, stream: Stream) -> Any:
    mapped = subject.new()
    mapped.fit(stream.X, Draws(7))
    return mapped


def _expect_features(found: Any, expected: Any, message: str) -> None:
    if np.shape(found) != np.shape(expected):
        fail(f"{message}: features of shape {np.shape(expected)} became {np.shape(found)}")
    if not np.allclose(found, expected, rtol=1e-9, atol=1e-9):
        fail(f"{message} has other features")


BATCH_CHECKS = (
    a_fit_predicts_every_row,
    the_same_draws_fit_the_same,
    a_second_fit_forgets_the_first,
    a_fit_that_is_stopped_can_predict,
    marks_of_progress_rise,
    a_fit_leaves_its_input_alone,
    a_fit_takes_sparse_rows,
    a_fit_knows_no_names_of_classes,
    a_fit_lacks_a_class,
    a_fit_takes_odd_rows,
    a_fit_refuses_rows_that_are_not_finite,
    a_fit_keeps_its_budget,
    a_fit_pickles,
    a_fit_leaves_the_global_random_state_alone,
    the_constructor_stores_its_arguments,
    its_repr_evaluates_back,
    a_fit_learns_something,
)
MAP_CHECKS = (
    a_map_gives_features_for_every_row,
    features_of_a_row_depend_on_it_alone,
    the_same_draws_map_the_same,
)
