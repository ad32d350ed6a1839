"""Promises about the object: its settings, its memory, its place in a bigger program."""

from __future__ import annotations

import pickle
import random
from inspect import Parameter
from typing import Any

import numpy as np

from okbench.learners.checks.subject import (
    N_FEATURES,
    NotApplicable,
    Stream,
    Subject,
    expect_same,
    fail,
)
from okbench.learners.contract import Draws, Problem, Task


class _Int(int):
    pass


class _Float(float):
    pass


class _Str(str):
    __slots__ = ()


def the_constructor_stores_its_arguments(subject: Subject) -> None:
    """Every argument is kept under its own name, and `get_params`, if there is one, gives it as it
    was given."""
    if not subject.settings:
        raise NotApplicable("its constructor takes no arguments")
    given: dict[str, Any] = {}
    for name, parameter in subject.settings.items():
        default = parameter.default
        if default is Parameter.empty:
            raise NotApplicable(f"its argument '{name}' has no default")
        kind = {int: _Int, float: _Float, str: _Str}.get(type(default))
        given[name] = default if kind is None else kind(default)
    learner = subject.cls(**given)
    for name, value in given.items():
        if not hasattr(learner, name):
            fail(f"the argument '{name}' is not kept as .{name}")
        kept = learner.get_params().get(name) if hasattr(learner, "get_params") else None
        if value is not kept and value is not getattr(learner, name):
            fail(f"the argument '{name}' was changed on its way to .{name}")


def its_repr_evaluates_back(subject: Subject) -> None:
    """`repr` is the call that makes an equal learner."""
    subject.needs("get_params")
    learner = subject.new()
    again = eval(repr(learner), {subject.cls.__name__: subject.cls})
    if again.get_params() != learner.get_params():
        fail(f"{learner!r} makes a learner with other settings")


def a_clone_is_fresh(subject: Subject) -> None:
    """scikit-learn's `clone` keeps the settings and nothing that was learned."""
    subject.needs("get_params")
    from sklearn.base import clone

    for stream in subject.streams():
        learned = subject.learned(stream)
        copy = clone(learned)
        if copy.get_params() != learned.get_params():
            fail("a clone has other settings")
        if hasattr(copy, "begin"):
            copy.begin(stream.problem, Draws(0))
        expect_same(
            copy.learn(stream.X, stream.y),
            subject.begun(stream).learn(stream.X, stream.y),
            stream.problem,
            "a clone of a learner that had learned",
        )


def pickles(subject: Subject) -> None:
    """Pickled half way, it goes on as if nothing had happened."""
    for stream in subject.streams():
        learner = subject.learned(stream[:60])
        try:
            copy = pickle.loads(pickle.dumps(learner))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            fail(f"it does not pickle: {error}")
        rest = stream[60:]
        expect_same(
            copy.learn(rest.X, rest.y),
            learner.learn(rest.X, rest.y),
            stream.problem,
            "learning on after pickling",
        )


def leaves_the_global_random_state_alone(subject: Subject) -> None:
    """Random numbers come from the draws it is given."""
    for stream in subject.streams():
        before = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
        learner = subject.begun(stream)
        learner.learn(stream.X, stream.y)
        learner.predict(stream.X)
        if (random.getstate(), pickle.dumps(np.random.get_state())) != before:  # noqa: NPY002
            fail("it used the global random state")


def keeps_its_budget(subject: Subject) -> None:
    """Never more supports than the budget, from the first row on."""
    subject.needs("budget", "support_size")
    for stream in subject.streams():
        learner = subject.begun(stream)
        for row in range(len(stream)):
            learner.learn(stream.X[row : row + 1], stream.y[row : row + 1])
            if learner.support_size > learner.budget:
                fail(f"{learner.support_size} supports after row {row}; budget {learner.budget}")


def memory_is_bounded(subject: Subject) -> None:
    """With a budget, or without supports, 3,000 rows take no more memory than 600."""
    for stream in subject.streams(n_rows=3000):
        learner = subject.begun(stream)
        sizes = []
        for first in range(0, len(stream), 200):
            learner.learn(stream.X[first : first + 200], stream.y[first : first + 200])
            sizes.append(len(pickle.dumps(learner)))
            if "budget" not in subject.settings and getattr(learner, "support_size", True):
                raise NotApplicable("it has no budget")
        early, late = max(sizes[:3]), max(sizes[3:])
        if late > 1.2 * early:
            fail(f"{early} bytes after 600 rows became {late} (task {stream.problem.task})")


def learns_something(subject: Subject) -> None:
    """With its default settings it beats the best constant on two plain clusters."""
    if getattr(subject.cls, "is_baseline", False):
        raise NotApplicable("it looks at no features")
    for task in subject.tasks:
        stream = clusters(task)
        given = subject.begun_with_defaults(stream).learn(stream.X, stream.y)
        half = len(stream) // 2
        beats_the_constant(given[half:], stream[half:])


def beats_the_constant(given: Any, stream: Stream) -> None:
    """Fail unless predictions err less than half as much as the best constant."""
    truth, task = stream.y, stream.problem.task
    if task == "regression":
        error, constant = float(np.mean((given - truth) ** 2)), float(np.var(truth))
    else:
        error = float(np.mean(given != truth))
        constant = 1 - np.unique(truth, return_counts=True)[1].max() / len(truth)
    if not error < 0.5 * constant:
        fail(f"error {error:.3g} where the best constant has {constant:.3g} ({task})")


def clusters(task: Task, n_rows: int = 800) -> Stream:
    """Two well separated clusters; three for multi-class. Targets are 3 or -3, nearly."""
    rng = np.random.default_rng(3)
    n_clusters = 3 if task == "multiclass" else 2
    centres = 8.0 * np.eye(N_FEATURES)[:n_clusters]
    cluster = rng.integers(0, n_clusters, n_rows)
    X = centres[cluster] + rng.standard_normal((n_rows, N_FEATURES))
    if task == "regression":
        y = 6.0 * cluster - 3.0 + 0.05 * rng.standard_normal(n_rows)
        return Stream(X, y, Problem(task, N_FEATURES, n_rows=n_rows))
    cluster[:n_clusters] = range(n_clusters)
    return Stream(X, cluster, Problem(task, N_FEATURES, tuple(range(n_clusters)), n_rows))


CHECKS = (
    the_constructor_stores_its_arguments,
    its_repr_evaluates_back,
    a_clone_is_fresh,
    pickles,
    leaves_the_global_random_state_alone,
    keeps_its_budget,
    memory_is_bounded,
    learns_something,
)
