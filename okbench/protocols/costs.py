"""What each row of an answer costs, and which answers are refused.

An answer may be any object: a user-defined learner made it. It is turned into an array of plain
numbers or text once, here, and everything else sees that array alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BadAnswer(Exception):
    """Raised for an answer that has not one value per row, or values of another type."""


@dataclass(frozen=True)
class Costs:
    """The cost of each row, the answer as plain numbers or text, and the first row whose answer is
    no finite number."""

    rows: NDArray[np.float64]
    answer: NDArray[Any]
    diverged_at: int | None = None


def mistakes(answer: Any, truth: NDArray[Any], detail: float = 0.0) -> Costs:
    """1 for a label that is not the true one, else 0."""
    import numpy as np

    predicted = _one_per_row(answer, len(truth), "predictions")
    if truth.dtype == object:
        truth = _one_per_row(truth, len(truth), "labels")
    comparable = truth.dtype.kind if truth.dtype.kind in "US" else "iuf" + truth.dtype.kind
    if predicted.dtype.kind not in comparable:
        raise BadAnswer(
            f"predictions of type {predicted.dtype} where labels like {truth.dtype} are expected"
        )
    costs = np.asarray(predicted != truth, dtype=np.float64)
    bad = _first_infinite(predicted) if predicted.dtype.kind == "f" else None
    return Costs(costs, predicted, bad)


def squared_errors(answer: Any, truth: NDArray[Any], detail: float = 0.0) -> Costs:
    """The square of target less prediction."""
    import numpy as np

    predicted = _numbers(_one_per_row(answer, len(truth), "predictions"), "predictions")
    with np.errstate(all="ignore"):
        costs = np.square(truth - predicted.astype(np.float64))
    return Costs(costs, predicted, _first_infinite(costs))


def errors(answer: Any, truth: NDArray[Any], detail: float = 0.0) -> Costs:
    """The square of target less prediction where targets are real, else 1 for a wrong label."""
    return (squared_errors if truth.dtype.kind == "f" else mistakes)(answer, truth)


def beyond_tolerance(answer: Any, truth: NDArray[Any], tolerance: float) -> Costs:
    """1 where a kernel is as far as the tolerance from the exact one, or further; else 0."""
    import numpy as np

    gaps = _numbers(_one_per_row(answer, len(truth), "kernel gaps"), "kernel gaps")
    return Costs(np.asarray(gaps >= tolerance, dtype=np.float64), gaps, _first_infinite(gaps))


def kernel_values(answer: Any, truth: NDArray[Any], detail: float = 0.0) -> Costs:
    """The kernel of each row with a point."""
    import numpy as np

    values = _numbers(_one_per_row(answer, len(truth), "kernel values"), "kernel values")
    return Costs(values.astype(np.float64), values, _first_infinite(values))


def _one_per_row(answer: Any, rows: int, what: str) -> NDArray[Any]:
    import numpy as np

    try:
        given = np.asarray(answer)
    except (Exception, SystemExit) as error:  # an object that makes an array of itself
        kind = "" if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: "
        raise BadAnswer(f"no array of {what} ({kind}{error})") from error
    if given.shape != (rows,):
        raise BadAnswer(f"{what} of shape {given.shape} for {rows} rows")
    if np.ma.is_masked(answer):
        raise BadAnswer(f"{what} of which some are masked")
    return _of_objects(given.tolist(), what) if given.dtype == object else given


def _of_objects(values: list[Any], what: str) -> NDArray[Any]:
    """An array of plain numbers or of text. Objects are asked for nothing but their value, since
    they may compare as they like."""
    import numpy as np

    kinds = set(map(type, values))
    if all(issubclass(kind, str) for kind in kinds):
        return np.asarray([str.__str__(value) for value in values], dtype=str)
    if all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds):
        with suppress(Exception):  # a number of a class of its own may refuse to say its value
            plain = np.asarray(values)
            if plain.dtype.kind in "biuf" and plain.shape == (len(values),):
                return plain
        raise BadAnswer(f"{what} of which some are no real numbers of at most 64 bits")
    named = ", ".join(sorted({kind.__name__[:40] for kind in kinds}))
    raise BadAnswer(f"{what} that are objects ({named[:200]}), neither all numbers nor all text")


def _numbers(given: NDArray[Any], what: str) -> NDArray[Any]:
    if given.dtype.kind not in "iuf":
        raise BadAnswer(f"{what} of type {given.dtype} where numbers are expected")
    return given


def _first_infinite(values: NDArray[Any]) -> int | None:
    import numpy as np

    finite = np.isfinite(values)
    return None if finite.all() else int(np.argmin(finite))
