"""What an answer costs, row by row, and how a learner's answer is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.shared_types import Task


class BadAnswer(Exception):
    """Not one prediction a row, or of a type that cannot be held against the labels."""


@dataclass(frozen=True)
class Scored:
    """The cost of each row, and the first row whose answer is no finite number."""

    errors: NDArray[np.float64]
    diverged_at: int | None = None


def score(answer: Any, truth: NDArray[Any], task: Task) -> Scored:
    """1 for a mistake and 0 otherwise, or the squared error."""
    predicted = _one_a_row(answer, len(truth), "predictions")
    kinds = _kinds(truth, task)
    if predicted.dtype.kind not in kinds:
        wanted = "numbers" if task == "regression" else f"labels like {truth.dtype}"
        raise BadAnswer(f"predictions of type {predicted.dtype} where {wanted} are expected")
    if task == "regression":
        with np.errstate(all="ignore"):
            errors = np.square(truth - predicted.astype(np.float64))
        return Scored(errors, _first_infinite(errors))
    errors = np.asarray(predicted != truth, dtype=np.float64)
    return Scored(errors, _first_infinite(predicted) if predicted.dtype.kind == "f" else None)


def exceeding(answer: Any, rows: int, tolerance: float) -> Scored:
    """1 where a kernel is as far as the tolerance from the exact one, or further; else 0."""
    gaps = _one_a_row(answer, rows, "kernel gaps")
    if gaps.dtype.kind not in "iuf":
        raise BadAnswer(f"kernel gaps of type {gaps.dtype} where numbers are expected")
    return Scored(np.asarray(gaps >= tolerance, dtype=np.float64), _first_infinite(gaps))


def _one_a_row(answer: Any, rows: int, what: str) -> NDArray[Any]:
    try:
        found = np.asarray(answer)
    except (ValueError, TypeError) as error:
        raise BadAnswer(f"no array of {what} ({error})") from error
    if found.shape != (rows,):
        raise BadAnswer(f"{what} of shape {found.shape} for {rows} rows")
    return found


def _kinds(truth: NDArray[Any], task: Task) -> str:
    if task == "regression":
        return "iuf"
    return "USO" if truth.dtype.kind in "US" else "iufO" + truth.dtype.kind


def _first_infinite(values: NDArray[Any]) -> int | None:
    finite = np.isfinite(values)
    return None if finite.all() else int(np.argmin(finite))
