"""Promises about rows and labels: every form they come in, and the odd ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from okbench.base.errors import OkbenchError, UsageError
from okbench.learners.checks.subject import (
    NotApplicable,
    Stream,
    Subject,
    expect_same,
    fail,
)
from okbench.learners.contract import Draws, Problem


def class_names_do_not_matter(subject: Subject) -> None:
    """Classes named 0 1, -1 +1 or by words: the same mistakes."""
    for stream in subject.streams():
        if stream.problem.task == "regression":
            continue
        n_classes = len(stream.problem.classes)
        mistakes = _mistakes(subject, stream)
        signs = range(-1, 2 * n_classes - 1, 2)
        for names in (signs, "abcdefgh"[:n_classes], [f"class {i}" for i in range(n_classes)]):
            renamed = stream.named(*names)
            if (_mistakes(subject, renamed) != mistakes).any():
                fail(f"classes named {renamed.problem.classes} gave other mistakes than 0, 1, …")


def dense_and_sparse_rows_agree(subject: Subject) -> None:
    """A table and a CSR matrix of the same values get the same predictions."""
    for stream in subject.streams():
        dense = subject.begun(stream)
        expected = dense.learn(stream.X, stream.y)
        for form in (sp.csr_array, sp.csr_matrix, _untidy):
            learner = subject.begun(stream)
            try:
                found = learner.learn(form(stream.X), stream.y)
            except OkbenchError:
                raise
            except (TypeError, ValueError) as error:
                raise NotApplicable(f"it takes no sparse rows ({error})") from error
            expect_same(found, expected, stream.problem, f"rows as {form.__name__}")
            expect_same(
                learner.predict(form(stream.X)),
                dense.predict(stream.X),
                stream.problem,
                f"predicting rows as {form.__name__}",
            )


def memory_layout_does_not_matter(subject: Subject) -> None:
    """float32, Fortran order, a slice of a table, read-only rows: the same predictions."""
    for stream in subject.streams():
        expected = subject.begun(stream).learn(stream.X, stream.y)
        wider = np.repeat(stream.X, 2, axis=1)
        frozen = stream.X.copy()
        frozen.flags.writeable = False
        for form, X in {
            "float32": stream.X.astype(np.float32),
            "Fortran order": np.asfortranarray(stream.X),
            "every other column of a wider table": wider[:, ::2],
            "a read-only table": frozen,
            "a list": stream.X.tolist(),
        }.items():
            found = subject.begun(stream).learn(X, stream.y)
            expect_same(found, expected, stream.problem, f"rows as {form}")


def leaves_its_input_alone(subject: Subject) -> None:
    """Rows and labels are not written to, and not looked at again after the call."""
    for stream in subject.streams():
        for form in _forms(subject):
            X, y = form(stream.X), stream.y.copy()
            learner = subject.begun(stream)
            learner.learn(X, y)
            learner.predict(X)
            if (_values(X) != _values(form(stream.X))).any() or (y != stream.y).any():
                fail("it wrote to its input")
            before = learner.predict(stream.X)
            _values(X)[...] = 17.0
            y[...] = y[0]
            expect_same(
                learner.predict(stream.X),
                before,
                stream.problem,
                "overwriting rows after they were learned (it keeps a view of its input)",
            )


def takes_constant_rows(subject: Subject) -> None:
    """Rows that are all the same, all zero among them."""
    for stream in subject.streams():
        for value in (0.0, 1.0):
            _must_work(subject, Stream(np.full_like(stream.X, value), stream.y, stream.problem))


def takes_repeated_rows(subject: Subject) -> None:
    """A few rows over and over, with labels that contradict each other."""
    for stream in subject.streams():
        _must_work(subject, Stream(np.tile(stream.X[:4], (30, 1)), stream.y, stream.problem))


def takes_no_rows(subject: Subject) -> None:
    """A call without rows: no predictions, nothing learned."""
    for stream in subject.streams():
        learner, other = subject.learned(stream[:60]), subject.learned(stream[:60])
        nothing = stream[:0]
        if len(learner.learn(nothing.X, nothing.y)) or len(learner.predict(nothing.X)):
            fail("predictions came back for no rows")
        rest = stream[60:]
        expect_same(
            learner.learn(rest.X, rest.y),
            other.learn(rest.X, rest.y),
            stream.problem,
            "learning after a call without rows",
        )


def takes_one_row(subject: Subject) -> None:
    """A first call with a single row, when the classes are known beforehand."""
    subject.needs("begin")
    for stream in subject.streams():
        _must_work(subject, stream[:1])


def takes_one_class(subject: Subject) -> None:
    """A stream in which only one of the classes turns up, whichever."""
    subject.needs("begin")
    for stream in subject.streams():
        if stream.problem.task != "regression":
            for name in stream.problem.classes:
                _must_work(subject, Stream(stream.X, np.full_like(stream.y, name), stream.problem))


def suggests_the_problem_itself(subject: Subject) -> None:
    """Without `begin`, the first rows suggest the problem; one class is enough."""
    for stream in subject.streams():
        try:
            given = subject.new().learn(stream.X, stream.y)
        except UsageError as refusal:
            raise NotApplicable(f"it needs begin() first: {refusal}") from refusal
        if len(given) != len(stream):
            fail("it did not learn rows without begin()")
    for task in set(subject.tasks) & {"binary"}:
        alone = Problem(task, 2, ("yes",))
        X, y = np.eye(2), np.array(["yes", "yes"])
        learner = subject.new()
        if hasattr(learner, "begin"):
            learner.begin(alone, Draws(0))
            if (learner.learn(X, y) != y).any():
                fail("it predicted a class that does not exist")


def survives_huge_values(subject: Subject) -> None:
    """Values of 1e5 and 1e200: finite predictions, or a refusal with a message."""
    for stream in subject.streams():
        for scale in (1e5, 1e200):
            learner = subject.begun(stream)
            try:
                with np.errstate(all="ignore"):  # overflow is what is expected here
                    given = learner.learn(stream.X * scale, stream.y)
            except (OkbenchError, ValueError):
                continue
            expect_sane(given, stream.problem)


def refuses_values_that_are_not_finite(subject: Subject) -> None:
    """A NaN or an infinity among the values is refused with a message, not learned."""
    for stream in subject.streams():
        for value in (np.nan, np.inf, -np.inf):
            for form in _forms(subject):
                X = stream.X.copy()
                X[70, 1] = value
                try:
                    subject.begun(stream).learn(form(X), stream.y)
                except (OkbenchError, ValueError):
                    continue
                fail(f"it learned a row with the value {value} without an error")


def _mistakes(subject: Subject, stream: Stream) -> Any:
    return np.asarray(subject.begun(stream).learn(stream.X, stream.y)) != stream.y


def _must_work(subject: Subject, stream: Stream) -> None:
    learner = subject.begun(stream)
    expect_sane(learner.learn(stream.X, stream.y), stream.problem)
    expect_sane(learner.predict(stream.X), stream.problem)


def expect_sane(given: Any, problem: Problem) -> None:
    """Fail unless every prediction is a finite number, or one of the classes."""
    if problem.task == "regression":
        if not np.isfinite(given).all():
            fail("a prediction is not a finite number")
    elif not np.isin(given, problem.classes).all():
        fail(f"a prediction is none of the classes {problem.classes}")


def _forms(subject: Subject) -> list[Any]:
    """The forms rows can take: user-defined learners need not take sparse ones."""
    if not subject.entry.target.startswith("okbench."):
        return [np.array]
    return [np.array, sp.csr_array, _untidy]


def _untidy(X: Any) -> Any:
    """Sparse rows whose entries stand in no order, and each twice, by halves."""
    tidy = sp.csr_array(X)
    pairs = np.concatenate([np.arange(tidy.nnz)[::-1], np.arange(tidy.nnz)])
    rows = np.repeat(np.arange(X.shape[0]), np.diff(tidy.indptr))[pairs]
    order = np.argsort(rows, kind="stable")
    values, columns = tidy.data[pairs][order] / 2, tidy.indices[pairs][order]
    return sp.csr_array((values, columns, 2 * tidy.indptr), shape=X.shape)


def _values(X: Any) -> Any:
    return X.data if sp.issparse(X) else X


CHECKS = (
    class_names_do_not_matter,
    dense_and_sparse_rows_agree,
    memory_layout_does_not_matter,
    leaves_its_input_alone,
    takes_constant_rows,
    takes_repeated_rows,
    takes_no_rows,
    takes_one_row,
    takes_one_class,
    suggests_the_problem_itself,
    survives_huge_values,
    refuses_values_that_are_not_finite,
)
