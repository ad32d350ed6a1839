"""What each row of an answer costs, and which answers are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BadAnswer(Exception):
    """Raised for an answer that has not one value per row, or values of another type."""


@dataclass(frozen=True)
class Costs:
    """The cost of each row, and the first row whose answer is no finite number."""

    rows: NDArray[np.float64]
    diverged_at: int | None = None


def mistakes(answer: Any, truth: NDArray[Any], detail: float = 0.0) -> Costs:
    """1 for a label that is not the true one, else 0."""
    import numpy as np

    predicted = _one_per_row(answer, len(truth), "predictions")
    comparable = "USO" if truth.dtype.kind in "US" else "iufO" + truth.dtype.kind
    if predicted.dtype.kind not in comparable:
        raise BadAnswer(
            f"predictions of type {predicted.dtype} where labels like {truth.dtype} are expected"
        )
    costs = np.asarray(predicted != truth, dtype=np.float64)
    return Costs(costs, _first_infinite(predicted) if predicted.dtype.kind == "f" else None)


def squared_errors(answer: Any, truth: NDArray[Any], detail: float = 0.0) -> Costs:
    """The square of target less prediction."""
    import numpy as np

    predicted = _numbers(_one_per_row(answer, len(truth), "predictions"), "predictions")
    with np.errstate(all="ignore"):
        costs = np.square(truth - predicted.astype(np.float64))
    return Costs(costs, _first_infinite(costs))


def beyond_tolerance(answer: Any, truth: NDArray[Any], tolerance: float) -> Costs:
    """1 where a kernel is as far as the tolerance from the exact one, or further; else 0."""
    import numpy as np

    gaps = _numbers(_one_per_row(answer, len(truth), "kernel gaps"), "kernel gaps")
    return Costs(np.asarray(gaps >= tolerance, dtype=np.float64), _first_infinite(gaps))


def _one_per_row(answer: Any, rows: int, what: str) -> NDArray[Any]:
    import numpy as np

    try:
        given = np.asarray(answer)
    except (ValueError, TypeError) as error:
        raise BadAnswer(f"no array of {what} ({error})") from error
    if given.shape != (rows,):
        raise BadAnswer(f"{what} of shape {given.shape} for {rows} rows")
    return given


def _numbers(given: NDArray[Any], what: str) -> NDArray[Any]:
    if given.dtype.kind not in "iuf":
        raise BadAnswer(f"{what} of type {given.dtype} where numbers are expected")
    return given


def _first_infinite(values: NDArray[Any]) -> int | None:
    import numpy as np

    finite = np.isfinite(values)
    return None if finite.all() else int(np.argmin(finite))
