"""What a learner is: the roles it may have, the problem it is given, the draws it may use.

A learner is a class. Its role follows from its methods, and `roles_of` names it before anything
runs. An online learner may have `begin(problem, draws)` besides, which is called before the first
row; a batch learner may have it too, and a map gets its draws in `fit`. Settings are the
constructor's arguments: numbers, words, true or false, and lists of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.base.shared_types import Task
from okbench.learners.draws import Draws, RecordedDraws
from okbench.learners.registry import constructed
from okbench.protocols.contract import BATCH, MAP, ONLINE, Role

__all__ = [
    "Batch", "Clock", "Diverged", "Draws", "FloatArray", "Map", "NotBegun", "NotConverged",
    "Online", "Problem", "RecordedDraws", "Role", "Rows", "RowsError", "SettingsError", "Task",
    "as_labels", "as_numbers", "begun", "check_role", "not_begun", "roles_of",
]  # fmt: skip

Rows: TypeAlias = Any  # a table of numbers, or a SciPy sparse matrix
FloatArray = NDArray[np.float64]
MOST_REAL_CLASSES = 20  # among labels that are real numbers


@runtime_checkable
class Online(Protocol):
    """A learner that meets rows one after the other.

    `learn` returns the prediction made for each row *before* that row was learned, in order;
    `predict` returns predictions and learns nothing.

    The rows of a call are a block: rows in the order of the trial, each handed over once. They may
    be cut into blocks anywhere, from one row to all of them, and the cuts must not change what
    `learn` returns, since a protocol chooses them for the sake of speed and of its curves. Where a
    table fixes the size of the blocks (rows predicted, then learned, at a time), all but the last
    have that size. Where a learner could notice the sizes, they never depend on the wall clock.
    """

    def learn(self, X: Rows, y: ArrayLike) -> NDArray[Any]: ...

    def predict(self, X: Rows) -> NDArray[Any]: ...


class Clock(Protocol):
    """What a batch learner may ask while it is fitted, and where it marks how far it is."""

    def time_left(self) -> float:
        """Seconds until the time limit; infinity without one."""
        ...

    def should_stop(self) -> bool:
        """Whether the time is over or the run is being stopped: return soon, with what is there."""
        ...

    def mark(self, rows_seen: int, total: float | None = None) -> None:
        """Mark a point of the curve: rows used so far, and the training loss if it is known."""
        ...


@runtime_checkable
class Batch(Protocol):
    """A learner that is fitted once: `fit` gets the whole training part in one call.

    `isinstance` sees the names of methods alone, and an estimator's `fit(X, y)` has the same name:
    ask `roles_of`, which looks for the argument `clock`.
    """

    def fit(self, X: Rows, y: ArrayLike, clock: Clock) -> Any: ...

    def predict(self, X: Rows) -> NDArray[Any]: ...


@runtime_checkable
class Map(Protocol):
    """A map of rows to features: numbers (rows × features), or whole numbers that are indices.

    `fit` sees rows and no labels, and takes its random numbers from the draws alone. Whole numbers
    say which feature of each group is one, so that they stand for rows that are mostly zero.
    """

    def fit(self, X: Rows, draws: Draws) -> Any: ...

    def transform(self, X: Rows) -> NDArray[Any]: ...


_ROLES = (ONLINE, BATCH, MAP)


def roles_of(cls: type) -> frozenset[str]:
    """The names of the roles that the methods of a class give it; no object needs to be made."""
    return frozenset(role.name for role in _ROLES if role.is_filled_by(cls))


def check_role(cls: type, role: Role, name: str) -> None:
    """Refuse a class that does not have the role; `name` is what the message calls it."""
    if not role.is_filled_by(cls):
        raise UsageError(f"{name} {role.lack}: it needs the methods {role.spelled}")


def begun(cls: type, settings: Mapping[str, Any], problem: Problem, draws: Draws) -> Any:
    """A learner with these settings that knows the problem and has its draws, if it has `begin`."""
    learner = constructed(cls, settings)
    if hasattr(learner, "begin"):
        learner.begin(problem, draws)
    return learner


class Diverged(OkbenchError):
    """Raised when a score is no finite number any more; `row` counts within the call."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


class NotConverged(Diverged):
    """Raised when a fit has not converged within the iterations that it is allowed."""

    def __init__(self, message: str) -> None:
        super().__init__(0, message)


class RowsError(DataError, ValueError):
    """Raised for rows or labels that a learner cannot take."""


class SettingsError(UsageError, ValueError):
    """Raised for settings of a learner, or a problem, that make no sense."""


class NotBegun(SettingsError, AttributeError):
    """Raised when a learner is asked for what it has learned and has learned nothing yet.

    `hasattr` takes it for an attribute that is not there, as scikit-learn expects.
    """


def not_begun(message: str) -> NotBegun:
    """The error of a learner that has learned nothing, which scikit-learn knows as its own too."""
    from okbench.learners.not_fitted import NotFitted  # imports scikit-learn

    return NotFitted(message)


@dataclass(frozen=True)
class Problem:
    """What a learner may know before the first row."""

    task: Task
    n_features: int
    classes: tuple[Any, ...] = ()
    n_rows: int | None = None

    def __post_init__(self) -> None:
        if self.task == "binary" and not 1 <= len(self.classes) <= 2:
            raise SettingsError(f"a binary problem has two classes, not {len(self.classes)}")
        if self.task == "multiclass" and len(self.classes) < 2:
            raise SettingsError("a multi-class problem has two classes or more")

    @property
    def n_columns(self) -> int:
        """Score columns: one, or one per class when the classes are ranked against each other."""
        return len(self.classes) if self.task == "multiclass" else 1

    @classmethod
    def of(cls, X: Any, y: ArrayLike, n_rows: int | None = None) -> Problem:
        """The problem that rows suggest: real targets are regression, two labels binary. Whole
        numbers that are stored as real ones are classes only if there are few of them."""
        labels = as_labels(y)
        if labels.dtype.kind == "f":
            whole = np.isfinite(labels) & (labels == np.floor(labels))
            if not whole.all() or len(np.unique(labels)) > MOST_REAL_CLASSES:
                return cls("regression", X.shape[1], n_rows=n_rows)
        try:
            classes = tuple(np.unique(labels).tolist())
        except TypeError as error:
            raise RowsError(f"labels of several kinds do not make classes: {error}") from error
        task: Task = "binary" if len(classes) <= 2 else "multiclass"
        return cls(task, X.shape[1], classes, n_rows)

    def encode(self, y: ArrayLike) -> FloatArray:
        """Targets as the compiled loops take them: -1/+1, class positions, or the values."""
        labels = as_labels(y)
        if self.task == "regression":
            return as_numbers(labels, "targets")
        if self.task == "binary":
            positive = labels == self.classes[-1]
            self._check_known(labels, positive | (labels == self.classes[0]))
            return np.where(positive, 1.0, -1.0)
        names = np.asarray(self.classes)
        order = np.argsort(names, kind="stable")
        try:
            places = np.minimum(np.searchsorted(names[order], labels), len(names) - 1)
        except TypeError as error:
            raise RowsError(f"labels of another kind than the classes: {error}") from error
        codes = order[places]
        self._check_known(labels, names[codes] == labels)
        return codes.astype(np.float64)

    def decide(self, scores: FloatArray) -> NDArray[Any]:
        """Predictions: the sign with sign(0) = +1, the first largest column, or the score."""
        if self.task == "regression":
            return scores[:, 0]
        names: NDArray[Any] = np.asarray(self.classes)
        if self.task == "binary":
            return np.where(scores[:, 0] >= 0.0, names[-1], names[0])
        return names[np.argmax(scores, axis=1)]

    def _check_known(self, labels: NDArray[Any], known: NDArray[np.bool_]) -> None:
        if not known.all():
            row = int(np.argmin(known))
            names = ", ".join(map(str, self.classes))
            raise RowsError(
                f"row {row}: label {labels.tolist()[row]!r} is not among the classes ({names}); "
                "name every class with begin(Problem(..., classes=...)), or if these are amounts,"
                " begin(Problem('regression', ...))"
            )


def as_labels(y: ArrayLike) -> NDArray[Any]:
    """Labels or targets; objects that are all numbers, as table columns often hold, as numbers."""
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise RowsError(f"labels: {error}") from error
    if labels.dtype == object and all(isinstance(label, Real) for label in labels.flat):
        return np.asarray(labels.tolist())
    return labels


def as_numbers(values: Any, name: str) -> FloatArray:
    """Values as doubles; what is no real number is refused, with what it was meant to be."""
    try:
        with np.errstate(over="ignore"):  # what is too large for a double becomes infinite
            given = np.asarray(values)
            if given.dtype.kind == "c":
                raise TypeError("these are complex")
            return np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise RowsError(f"{name} must be numbers: {error}") from error
