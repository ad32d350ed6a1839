"""What a learner is: the problem it is told, the draws it is given, the two verbs it answers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.base.shared_types import Task as Task

Rows: TypeAlias = Any  # a table of numbers, or a SciPy sparse matrix
FloatArray = NDArray[np.float64]


@runtime_checkable
class Learns(Protocol):
    """All that is asked of a stranger's learner.

    `learn` returns the prediction made for each row *before* that row was learned, in order;
    `predict` returns predictions and learns nothing. Cutting the rows into blocks must not change
    what `learn` returns.
    """

    def learn(self, X: Rows, y: ArrayLike) -> NDArray[Any]: ...

    def predict(self, X: Rows) -> NDArray[Any]: ...


class Diverged(OkbenchError):
    """Raised when a score is no finite number any more; `row` counts within the call."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


class NotBegun(UsageError, AttributeError):
    """Raised when a learner is asked for what it has learned and has learned nothing yet.

    `hasattr` takes it for an attribute that is not there, as scikit-learn expects.
    """


@dataclass(frozen=True)
class Problem:
    """What a learner may know before the first row."""

    task: Task
    n_features: int
    classes: tuple[Any, ...] = ()
    n_rows: int | None = None

    def __post_init__(self) -> None:
        if self.task == "binary" and not 1 <= len(self.classes) <= 2:
            raise UsageError(f"a binary problem has two classes, not {len(self.classes)}")
        if self.task == "multiclass" and len(self.classes) < 2:
            raise UsageError("a multi-class problem has two classes or more")

    @property
    def n_columns(self) -> int:
        """Score columns: one, or one a class when the classes are ranked against each other."""
        return len(self.classes) if self.task == "multiclass" else 1

    @classmethod
    def of(cls, X: Any, y: ArrayLike, n_rows: int | None = None) -> Problem:
        """The problem that rows suggest: real targets are regression, two labels binary."""
        labels = as_labels(y)
        if labels.dtype.kind == "f":
            whole = np.isfinite(labels) & (labels == np.floor(labels))
            if not whole.all():
                return cls("regression", X.shape[1], n_rows=n_rows)
        try:
            classes = tuple(np.unique(labels).tolist())
        except TypeError as error:
            raise DataError(f"labels of several kinds do not make classes: {error}") from error
        task: Task = "binary" if len(classes) <= 2 else "multiclass"
        return cls(task, X.shape[1], classes, n_rows)

    def encode(self, y: ArrayLike) -> FloatArray:
        """Targets as the compiled loops take them: -1/+1, class positions, or the values."""
        labels = as_labels(y)
        if self.task == "regression":
            return as_numbers(labels, "targets")
        if self.task == "binary":
            positive = labels == self.classes[-1]
            self._refuse_strangers(labels, positive | (labels == self.classes[0]))
            return np.where(positive, 1.0, -1.0)
        names = np.asarray(self.classes)
        order = np.argsort(names, kind="stable")
        try:
            places = np.minimum(np.searchsorted(names[order], labels), len(names) - 1)
        except TypeError as error:
            raise DataError(f"labels of another kind than the classes: {error}") from error
        codes = order[places]
        self._refuse_strangers(labels, names[codes] == labels)
        return codes.astype(np.float64)

    def decide(self, scores: FloatArray) -> NDArray[Any]:
        """Predictions: the sign with sign(0) = +1, the first largest column, or the score."""
        if self.task == "regression":
            return scores[:, 0]
        names: NDArray[Any] = np.asarray(self.classes)
        if self.task == "binary":
            return np.where(scores[:, 0] >= 0.0, names[-1], names[0])
        return names[np.argmax(scores, axis=1)]

    def _refuse_strangers(self, labels: NDArray[Any], known: NDArray[np.bool_]) -> None:
        if not known.all():
            row = int(np.argmin(known))
            names = ", ".join(map(str, self.classes))
            raise DataError(
                f"row {row}: label {labels.tolist()[row]!r} is not among the classes ({names}); "
                "name every class with begin(Problem(..., classes=...))"
            )


def as_labels(y: ArrayLike) -> NDArray[Any]:
    """Labels or targets; objects that are all numbers, as table columns often hold, as numbers."""
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise DataError(f"labels: {error}") from error
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
        raise DataError(f"{name} must be numbers: {error}") from error


class Draws:
    """Random numbers for one learner in one trial, reproducible from its seed.

    Normals (feature maps) and uniforms (removals) come from separate streams, so that one learner's
    use of the first never shifts the second.
    """

    def __init__(self, seed: int | Sequence[int] = 0) -> None:
        normals, uniforms = np.random.SeedSequence(seed).spawn(2)
        self._normals = np.random.default_rng(normals)
        self._uniforms = np.random.default_rng(uniforms)
        self._ahead: FloatArray = np.empty(0)

    def normals(self, rows: int, columns: int) -> FloatArray:
        """The next rows × columns standard normals."""
        return self._normals.standard_normal((rows, columns))

    def look_ahead(self, count: int) -> FloatArray:
        """The next `count` uniforms in [0, 1), not yet used up."""
        missing = count - len(self._ahead)
        if missing > 0:
            self._ahead = np.concatenate([self._ahead, self._uniforms.random(missing)])
        return self._ahead[:count]

    def use_up(self, count: int) -> None:
        """Drop the first `count` uniforms of those looked ahead at."""
        self._ahead = self._ahead[count:]


class RecordedDraws(Draws):
    """The draws of a recorded run, given back in the order they were used."""

    def __init__(self, normals: ArrayLike | None = None, uniforms: ArrayLike | None = None) -> None:
        self._recorded = None if normals is None else np.asarray(normals, dtype=np.float64)
        self._ahead = np.empty(0) if uniforms is None else np.asarray(uniforms, dtype=np.float64)

    def normals(self, rows: int, columns: int) -> FloatArray:
        held = (0, 0) if self._recorded is None else self._recorded.shape
        if self._recorded is None or held[0] < rows or held[1] < columns:
            raise DataError(
                f"the record holds {held[0]} × {held[1]} normals; {rows} × {columns} are needed"
            )
        return self._recorded[:rows, :columns]

    def look_ahead(self, count: int) -> FloatArray:
        """The recorded uniforms left, padded with NaN so that drawing past the record shows."""
        missing = max(0, count - len(self._ahead))
        return np.concatenate([self._ahead[:count], np.full(missing, np.nan)])
