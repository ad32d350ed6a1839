"""Rows that need no download: sets shipped with scikit-learn, and streams made from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import UsageError, did_you_mean
from okbench.base.shared_types import Task
from okbench.datasets.changing import ABRUPT, GRADUAL, RECURRING, Course, classes_of, targets_of
from okbench.datasets.dataset_types import Changes, Dataset, fingerprint

FloatArray = NDArray[np.float64]
_Rows = tuple[FloatArray, NDArray[Any]]

BLOCK = 4096  # rows drawn at a time; part of what a stream is: changing it changes the rows
_DEFAULT_ROWS = 10_000
_MOST_ROWS = 100_000_000


def load_embedded(
    name: str, variant: str = "", parameters: Mapping[str, int | float] = MappingProxyType({})
) -> Dataset:
    """One of `embedded_names()`. A stream's variant is '', '50000' or 'rows=50000,seed=1'."""
    variant = "" if variant == "all" else variant
    changes: Changes = ()
    if name in STREAMS:
        stream = STREAMS[name]
        X, y = stream_rows(name, *_length_and_seed(name, variant, parameters))
        task, classes, changes = stream.task, stream.classes, stream.changes(len(X))
    elif name in SHIPPED:
        if variant:
            raise UsageError(f"dataset '{name}' has no variants, so not '{variant}'")
        X, y, task, classes = SHIPPED[name]()
    else:
        raise UsageError(f"no embedded dataset '{name}'.{did_you_mean(name, embedded_names())}")
    return Dataset(name, X, y, task, classes, fingerprint(X, y, classes), changes=changes)


def embedded_names() -> tuple[str, ...]:
    """Every embedded set."""
    return (*SHIPPED, *STREAMS)


# --- sets shipped with scikit-learn -------------------------------------------------------------

_Shipped = tuple[FloatArray, NDArray[Any], Task, tuple[Any, ...]]


def _digits() -> _Shipped:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return np.ascontiguousarray(X / 16.0), y.astype(np.int64), "multiclass", tuple(range(10))


def _digits_even() -> _Shipped:
    X, y, _, _ = _digits()
    return X, np.where(y % 2 == 0, 1, -1), "binary", (-1, 1)


def _breast_cancer() -> _Shipped:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return 2.0 * _unit_range(X) - 1.0, np.where(y == 1, 1, -1), "binary", (-1, 1)


def _diabetes() -> _Shipped:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return _unit_range(X), _unit_range(y), "regression", ()


def _unit_range(values: FloatArray) -> FloatArray:
    low, high = values.min(axis=0), values.max(axis=0)
    return np.ascontiguousarray((values - low) / (high - low))


SHIPPED: Mapping[str, Callable[[], _Shipped]] = {
    "digits": _digits,
    "digits-even": _digits_even,
    "breast-cancer": _breast_cancer,
    "diabetes": _diabetes,
}

# --- streams --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeneratedRows:
    """A recipe for endless rows: `make(draws, positions)` gives those at `positions`. `course` says
    at which rows the concept changes, where it does."""

    make: Callable[[np.random.Generator, NDArray[np.int64]], _Rows]
    task: Task = "binary"
    course: Course | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        return (-1, 1) if self.task == "binary" else ()

    def changes(self, rows: int) -> Changes:
        """The changes of the concept among so many rows."""
        return self.course.changes(rows) if self.course else ()


def stream_rows(name: str, rows: int, seed: int = 0, start: int = 0) -> _Rows:
    """Rows `start` to `start + rows` of a stream; row i is the same however many rows are made."""
    blocks = [
        _stream_block(name, seed, number)
        for number in range(start // BLOCK, max(start, start + rows - 1) // BLOCK + 1)
    ]
    here = slice(start % BLOCK, start % BLOCK + rows)
    X = np.concatenate([X for X, _ in blocks])[here]
    y = np.concatenate([y for _, y in blocks])[here]
    return np.ascontiguousarray(X), y


def _stream_block(name: str, seed: int, number: int) -> _Rows:
    draws = np.random.default_rng([*name.encode(), seed, number])
    positions = np.arange(number * BLOCK, (number + 1) * BLOCK, dtype=np.int64)
    X, y = STREAMS[name].make(draws, positions)
    # The last bits of a sine differ between processors; rows, and their fingerprints, must not.
    return X.round(6), y.round(6)


def _length_and_seed(
    name: str, variant: str, parameters: Mapping[str, int | float]
) -> tuple[int, int]:
    chosen = {"rows": _DEFAULT_ROWS, "seed": 0}
    chosen |= {key: int(value) for key, value in parameters.items()}
    for part in filter(None, variant.replace(" ", "").split(",")):
        key, _, value = part.rpartition("=")
        if (key or "rows") not in chosen or not value.isdecimal():
            raise UsageError(
                f"'{variant}' is no variant of the stream '{name}': write its length and seed, "
                f"as in {name}:50000 or {name}:rows=50000,seed=1"
            )
        chosen[key or "rows"] = int(value)
    if not 1 <= chosen["rows"] <= _MOST_ROWS:
        raise UsageError(f"stream '{name}': rows must be from 1 to {_MOST_ROWS:,}")
    return chosen["rows"], chosen["seed"]


def _signs(positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(positive, 1, -1)


def _checkerboard(draws: np.random.Generator, positions: NDArray[np.int64]) -> _Rows:
    """A board of 4 × 4 squares on [-1, 1]²."""
    X = draws.uniform(-1.0, 1.0, (len(positions), 2))
    squares = np.floor(2.0 * X).astype(np.int64)
    return X, _signs(squares.sum(axis=1) % 2 == 0)


def _spirals(draws: np.random.Generator, positions: NDArray[np.int64]) -> _Rows:
    """Two arms of one and a half turns, blurred by normal noise of 0.02."""
    arm = _signs(draws.random(len(positions)) < 0.5)
    radius = np.sqrt(draws.random(len(positions)))
    angle = 3.0 * np.pi * radius
    curve = np.column_stack([np.cos(angle), np.sin(angle)]) * (arm * radius)[:, None]
    return curve + 0.02 * draws.standard_normal(curve.shape), arm


def _hyperplane(draws: np.random.Generator, positions: NDArray[np.int64]) -> _Rows:
    """Ten features and a plane whose normal turns as rows go by; one label in twenty is flipped."""
    X = draws.uniform(-1.0, 1.0, (len(positions), 10))
    feature = np.arange(10)
    turns = positions[:, None] / (20_000.0 * (1 + feature % 3))
    normal = np.cos(2.0 * np.pi * (turns + feature / 10.0))
    labels = _signs(np.einsum("ij,ij->i", X, normal) >= 0.0)
    return X, np.where(draws.random(len(positions)) < 0.05, -labels, labels)


# Friedman (1991), Multivariate adaptive regression splines, eqs. 56, 63-64 and 65: features stay in
# the unit cube, and targets are divided by the largest value they have without noise.


def _friedman1(draws: np.random.Generator, positions: NDArray[np.int64]) -> _Rows:
    X = draws.random((len(positions), 10))
    clean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    clean += 10 * X[:, 3] + 5 * X[:, 4]
    return X, (clean + draws.standard_normal(len(positions))) / 30.0


def _friedman2(draws: np.random.Generator, positions: NDArray[np.int64]) -> _Rows:
    X = draws.random((len(positions), 4))
    resistance, reactance = _circuit(X)
    noise = 125.0 * draws.standard_normal(len(positions))
    largest = np.hypot(100.0, 560.0 * np.pi - 1.0 / (560.0 * np.pi * 11.0))
    return X, (np.hypot(resistance, reactance) + noise) / largest


def _friedman3(draws: np.random.Generator, positions: NDArray[np.int64]) -> _Rows:
    X = draws.random((len(positions), 4))
    resistance, reactance = _circuit(X)
    noise = 0.1 * draws.standard_normal(len(positions))
    return X, (np.arctan2(reactance, resistance) + noise) / (np.pi / 2.0)


def _circuit(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Resistance and reactance of an alternating-current circuit."""
    frequency = np.pi * (40.0 + 520.0 * X[:, 1])
    return 100.0 * X[:, 0], frequency * X[:, 2] - 1.0 / (frequency * (1.0 + 10.0 * X[:, 3]))


_COURSES = {"abrupt": ABRUPT, "gradual": GRADUAL, "recurring": RECURRING}

STREAMS: Mapping[str, GeneratedRows] = {
    "checkerboard": GeneratedRows(_checkerboard),
    "spirals": GeneratedRows(_spirals),
    "hyperplane": GeneratedRows(_hyperplane),
    "friedman1": GeneratedRows(_friedman1, "regression"),
    "friedman2": GeneratedRows(_friedman2, "regression"),
    "friedman3": GeneratedRows(_friedman3, "regression"),
    **{
        f"{name}-classes": GeneratedRows(classes_of(course), course=course)
        for name, course in _COURSES.items()
    },
    **{
        f"{name}-targets": GeneratedRows(targets_of(course), "regression", course)
        for name, course in _COURSES.items()
    },
}
