"""The metrics: what a row costs, and how totals of costs become the values that tables show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from okbench.protocols import costs
from okbench.protocols.contract import Named

_CLASSES = ("binary", "multiclass")
_REALS = ("regression",)
_OUTGROWN = 1e150  # from here on no deviation can be computed: squares are beyond all numbers
LARGEST_TARGET = 1e74  # of regression: the square of twice as much has not outgrown the numbers


@dataclass(frozen=True)
class Forgetting:
    """How much earlier rows count: the last `reach` rows do (all, where it is None), and each
    counts `factor` times as much as the one after it.

    Both ways to forget are those of Gama, Sebastião and Rodrigues (2013, On evaluating stream
    learning algorithms, section 3), for the costs L of rows 1, 2, …, i:
    the sliding window (1/w) Σ L_k over the last w rows, and the fading factor α,
    Σ α^(i-k) L_k / Σ α^(i-k) over all rows.
    """

    reach: int | None = None
    factor: float = 1.0

    def first(self, rows: int) -> int:
        """The first of so many rows that counts."""
        return 0 if self.reach is None else max(0, rows - self.reach)

    def weight(self, rows: int) -> float:
        """What the rows that count weigh together."""
        count = rows - self.first(rows)
        return count if self.factor == 1.0 else (1.0 - self.factor**count) / (1.0 - self.factor)


@dataclass(frozen=True)
class Metric:
    """A measure of how well a learner did.

    `costs(answer, truth, detail)` gives the cost of each row of a block, where `detail` is the
    value of the protocol's own key. `of_mean` turns the mean cost of a row into the value that
    tables show, to `decimals(value)` places. `words` name it in prose and on axes, without the
    unit. `answer` is what it scores, by which it goes with protocols.

    With `forgetting`, totals are weighted sums and the mean is over the weights. `spacing` is the
    number of rows from one point of a curve to the next, where it is not a share of all rows, and
    `beside` names metrics of the same costs whose totals a trial writes down too.
    """

    name: str
    words: str
    tasks: tuple[str, ...]
    costs: Callable[[Any, Any, float], costs.Costs]
    of_mean: Callable[[float], float]
    decimals: Callable[[float], int]
    cost_words: str  # what the mean cost of a row is, in words
    unit: str = ""
    direction: Literal["lower", "higher"] = "lower"
    needs_rows: bool = True  # sums of its costs are rounded, and so depend on how rows are cut
    is_default: bool = False  # scores its tasks where nobody asks for another metric
    answer: str = "prediction"
    forgetting: Forgetting | None = None
    spacing: int = 0
    beside: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The words with the unit, for a caption."""
        return f"{self.words} in {self.unit}" if self.unit else self.words

    @property
    def lower_is_better(self) -> bool:
        return self.direction == "lower"

    def value(self, total: float | None, rows: int) -> float | None:
        """The value of a total over so many rows; None when there is none, or when it is no number
        or has outgrown the numbers."""
        if total is None or not rows:
            return None
        mean = total / (self.forgetting.weight(rows) if self.forgetting else rows)
        return self.of_mean(mean) if abs(mean) < _OUTGROWN else None

    def best(self, values: Iterable[float]) -> float:
        """The best of some values."""
        return min(values) if self.lower_is_better else max(values)


def _percent(mean: float) -> float:
    return 100.0 * mean


def _percent_right(mean: float) -> float:
    return 100.0 * (1.0 - mean)


def _as_it_is(mean: float) -> float:
    return mean


def _two(value: float) -> int:
    return 2


def _two_or_more(value: float) -> int:
    """Two, and for small shares as many as two digits take."""
    return max(2, 1 - magnitude(value))


def _five_digits(value: float) -> int:
    """The five significant digits that the papers print of losses, at most five places."""
    size = magnitude(value)
    return max(0, 4 - max(size, -1)) if size >= -3 else 3 - size


def magnitude(value: float) -> int:
    """The power of ten of the first digit; 0 for 0."""
    return math.floor(math.log10(abs(value))) if value else 0


MISTAKE_RATE = Metric(
    "mistake_rate",
    words="mistake rate",
    unit="%",
    tasks=_CLASSES,
    costs=costs.mistakes,
    of_mean=_percent,
    decimals=_two,
    cost_words="mistakes per row",
    needs_rows=False,
    is_default=True,
)
ACCURACY = Metric(
    "accuracy",
    words="accuracy",
    unit="%",
    direction="higher",
    tasks=_CLASSES,
    costs=costs.mistakes,
    of_mean=_percent_right,
    decimals=_two,
    cost_words="mistakes per row",
    needs_rows=False,
)
MEAN_SQUARED_LOSS = Metric(
    "mean_squared_loss",
    words="mean squared loss",
    tasks=_REALS,
    costs=costs.squared_errors,
    of_mean=_as_it_is,
    decimals=_five_digits,
    cost_words="squared loss per row",
)
RMSE = Metric(
    "rmse",
    words="root mean squared error",
    tasks=_REALS,
    costs=costs.squared_errors,
    of_mean=math.sqrt,
    decimals=_five_digits,
    cost_words="squared loss per row",
    is_default=True,
)
EXCEEDANCE = Metric(
    "exceedance",
    words="pairs ε or further off",
    unit="%",
    tasks=(*_CLASSES, *_REALS),
    costs=costs.beyond_tolerance,
    of_mean=_percent,
    decimals=_two_or_more,
    cost_words="pairs ε or further off",
    needs_rows=False,
    answer="kernel gap",
)

KERNEL_VALUE = Metric(
    "kernel_value",
    words="kernel value",
    direction="higher",
    tasks=(*_CLASSES, *_REALS),
    costs=costs.kernel_values,
    of_mean=_as_it_is,
    decimals=_five_digits,
    cost_words="kernel value",
    answer="kernel value",
)

# The prequential error, which a stream of any task has: the share of mistakes, or the mean squared
# loss. A fading factor of 0.998 weighs as much as a window of 1 / (1 - 0.998) = 500 rows.
WINDOW, FADING = 500, 0.998

PREQUENTIAL_ERROR = Metric(
    "prequential_error",
    words="error over all rows",
    tasks=(*_CLASSES, *_REALS),
    costs=costs.errors,
    of_mean=_as_it_is,
    decimals=_five_digits,
    cost_words="error per row",
)
FADING_ERROR = replace(
    PREQUENTIAL_ERROR,
    name="fading_error",
    words=f"error with fading factor {FADING}",
    forgetting=Forgetting(factor=FADING),
)
WINDOWED_ERROR = replace(
    PREQUENTIAL_ERROR,
    name="windowed_error",
    words=f"error over the last {WINDOW} rows",
    forgetting=Forgetting(reach=WINDOW),
    spacing=WINDOW // 5,
    beside=(PREQUENTIAL_ERROR.name, FADING_ERROR.name),
)

METRICS = Named(
    "metric",
    MISTAKE_RATE,
    ACCURACY,
    MEAN_SQUARED_LOSS,
    RMSE,
    EXCEEDANCE,
    KERNEL_VALUE,
    PREQUENTIAL_ERROR,
    WINDOWED_ERROR,
    FADING_ERROR,
)


def default_metric(task: str) -> Metric:
    """The metric of a task where nobody asks for another."""
    return next(each for each in METRICS.values() if each.is_default and task in each.tasks)
