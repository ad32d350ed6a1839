"""What the checks are made of: the learner under test, the streams it is given, a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import Parameter
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import Draws, FloatArray, Problem, Task, begun
from okbench.learners.registry import Entry, settings_of

Status = Literal["passed", "failed", "skipped", "not run"]

# Small enough that a short stream fills a budget.
SMALL = {"budget": 12, "rank": 4, "components": 16}
N_FEATURES = 4


class CheckFailed(AssertionError):
    """Raised by a check; the message says what the learner did and what was expected."""


class NotApplicable(Exception):
    """Raised by a check that this learner gives no occasion for; the message says why."""


@dataclass(frozen=True)
class Check:
    """One promise of learners of a role. `verify` raises CheckFailed when the learner breaks it."""

    name: str
    promise: str
    verify: Callable[[Subject], None]
    role: str


@dataclass(frozen=True)
class CheckResult:
    name: str
    status: Status
    reason: str = ""
    traceback: str = ""  # in full, of an exception that the learner raised


@dataclass(frozen=True)
class Stream:
    """Rows, their labels or targets, and the problem they pose."""

    X: Any
    y: NDArray[Any]
    problem: Problem

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice) -> Stream:
        return replace(self, X=self.X[rows], y=self.y[rows])

    def named(self, *classes: Any) -> Stream:
        """The same rows with other names for the classes, in their order."""
        places = self.problem.encode(self.y).astype(int)
        places = (places + 1) // 2 if self.problem.task == "binary" else places
        return Stream(
            self.X, np.asarray(classes)[places], replace(self.problem, classes=tuple(classes))
        )


@dataclass(frozen=True)
class Subject:
    """A learner under test. A user-defined one may have no more than the methods of its role."""

    entry: Entry
    cls: type
    given: Mapping[str, Any] = field(default_factory=dict)  # settings in place of the small ones

    @cached_property
    def settings(self) -> Mapping[str, Parameter]:
        return settings_of(self.cls)

    @property
    def tasks(self) -> tuple[Any, ...]:
        """The tasks it does; a learner that names none is taken for a binary one."""
        return tuple(getattr(self.cls, "tasks", ("binary",)))

    def new(self, **given: Any) -> Any:
        """A learner with small settings."""
        return self.cls(**{**self._small(), **given})

    def _small(self) -> dict[str, Any]:
        small = {name: value for name, value in SMALL.items() if name in self.settings}
        return {**small, **self.given}

    def begun(self, stream: Stream, seed: int = 0) -> Any:
        """A learner with small settings that knows the problem, if it has `begin`."""
        return begun(self.cls, self._small(), stream.problem, Draws(seed))

    def begun_with_defaults(self, stream: Stream) -> Any:
        """The same with the settings it has by itself."""
        return begun(self.cls, self.given, stream.problem, Draws(0))

    def learned(self, stream: Stream, seed: int = 0) -> Any:
        """`begun`, after it has learned the stream."""
        learner = self.begun(stream, seed)
        learner.learn(stream.X, stream.y)
        return learner

    def streams(self, n_rows: int = 120) -> Iterator[Stream]:
        """A stream for every task it does."""
        for task in self.tasks:
            yield a_stream(task, n_rows)

    def needs(self, *names: str) -> None:
        """Skip a check for a learner without these attributes."""
        for name in names:
            if not hasattr(self.cls, name) and name not in self.settings:
                raise NotApplicable(f"it has no {name}")


def a_stream(task: Task, n_rows: int = 120) -> Stream:
    """Rows with a pattern worth learning. Values fit float32, a third of them are zero."""
    rng = np.random.default_rng(20160117)
    X = rng.standard_normal((n_rows, N_FEATURES)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 1 / 3] = 0.0
    signal: FloatArray = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(n_rows)
    if task == "regression":
        return Stream(X, signal, Problem(task, N_FEATURES, n_rows=n_rows))
    edges = [0.1] if task == "binary" else [-0.7, 0.7]
    y = np.digitize(signal, edges)
    y[: len(edges) + 1] = np.arange(len(edges) + 1)  # every class is met early
    return Stream(X, y, Problem(task, N_FEATURES, tuple(range(len(edges) + 1)), n_rows))


def fail(message: str) -> NoReturn:
    raise CheckFailed(message)


def expect_same(found: Any, expected: Any, problem: Problem, message: str) -> None:
    """Equal predictions; equal to rounding in regression."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        fail(f"{message}: {expected.shape} predictions became {found.shape}")
    if problem.task == "regression":
        differ = ~np.isclose(found, expected, rtol=1e-9, atol=1e-9)
    else:
        differ = found != expected
    if differ.any():
        row = int(np.argmax(differ))
        fail(f"{message}: {expected[row]} became {found[row]} at row {row} (task {problem.task})")
