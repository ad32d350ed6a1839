"""How a learner's time and space grow with its settings, beside the orders a paper states.

Time is that of a row in the second half of the stream, when budgets are full and maps are made.
The quickest of a value's trials counts, since all that can disturb a clock makes it late. An
exponent is the slope of least squares between logarithms, over the larger half of the values: with
small ones, what does not grow weighs too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from okbench.papers.table_types import LearnerColumn, StatedComplexity, Table
from okbench.reports.load import LoadedTable
from okbench.reports.tables.cells import Expected
from okbench.trials.trial_types import Outcome


@dataclass(frozen=True)
class MeasuredTrial:
    """One trial: a setting's value, seconds per row and bytes of the model."""

    learner: str
    setting: str
    value: float
    seconds: float
    bytes: float


@dataclass(frozen=True)
class Fit:
    """An exponent with its 95 % interval, which shows the noise and bend of the points alone."""

    exponent: float
    low: float
    high: float
    values: int


@dataclass(frozen=True)
class Growth:
    """A learner's fits by setting; none where too few values are measured."""

    learner: str
    stated: StatedComplexity
    time: Mapping[str, Fit]
    space: Mapping[str, Fit]


@dataclass(frozen=True)
class Complexity:
    """A table of orders as measured. `absent` learners do not exist here; `outdated` says which are
    not installed as they were measured.
    """

    table: str
    title: str
    growths: tuple[Growth, ...]
    measured: tuple[MeasuredTrial, ...]
    absent: tuple[str, ...]
    machines: tuple[str, ...]
    outdated: tuple[str, ...] = ()


def growth_of(loaded: LoadedTable) -> Complexity:
    """The table of orders from what was measured of it."""
    return complexity(
        loaded.table,
        loaded.outcomes,
        loaded.asked,
        loaded.absent,
        loaded.machines,
        loaded.outdated,
    )


def complexity(
    table: Table,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
    absent: Sequence[str] = (),
    machines: Sequence[str] = (),
    outdated: Sequence[str] = (),
) -> Complexity:
    """The growth of every learner of the table."""
    columns = {column.label: column for column in table.learners}
    measured = [
        found
        for (_, label), ids in expected.items()
        for id_ in ids
        if id_ in outcomes and (found := _measured(columns[label], outcomes[id_])) is not None
    ]
    lines = dict.fromkeys(column.line for column in table.learners)
    return Complexity(
        table.name,
        table.title,
        tuple(
            Growth(
                line,
                table.stated[line],
                time=_fits(measured, line, lambda one: one.seconds),
                space=_fits(measured, line, lambda one: one.bytes),
            )
            for line in lines
            if line in table.stated
        ),
        tuple(measured),
        tuple(absent),
        tuple(machines),
        tuple(outdated),
    )


def fit(values: Sequence[float], costs: Sequence[float]) -> Fit | None:
    """The exponent of costs in values; None with fewer than three different values."""
    x, y = [math.log(value) for value in values], [math.log(cost) for cost in costs]
    n = len(x)
    if len(set(x)) < 3:
        return None
    from scipy.special import stdtrit

    x_mean, y_mean = math.fsum(x) / n, math.fsum(y) / n
    spread = math.fsum((a - x_mean) ** 2 for a in x)
    slope = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / spread
    left = math.fsum((b - y_mean - slope * (a - x_mean)) ** 2 for a, b in zip(x, y, strict=True))
    margin = float(stdtrit(n - 2, 0.975)) * math.sqrt(left / (n - 2) / spread)
    return Fit(slope, slope - margin, slope + margin, n)


def _fits(
    measured: Sequence[MeasuredTrial], learner: str, cost: Callable[[MeasuredTrial], float]
) -> dict[str, Fit]:
    found: dict[str, Fit] = {}
    for setting in dict.fromkeys(one.setting for one in measured if one.learner == learner):
        least: dict[float, float] = {}
        for one in measured:
            if (one.learner, one.setting) == (learner, setting):
                least[one.value] = min(cost(one), least.get(one.value, math.inf))
        larger = sorted(least)[len(least) // 2 :]
        fitted = fit(larger, [least[value] for value in larger])
        if fitted:
            found[setting] = fitted
    return found


def _measured(column: LearnerColumn, outcome: Outcome) -> MeasuredTrial | None:
    """What a done trial measured; nothing if its curve lacks two points in its second half."""
    late = [point for point in outcome.curve if (point[0] or 0) >= outcome.rows / 2]
    if outcome.status != "done" or not column.point or not outcome.bytes or len(late) < 2:
        return None
    (first, _, _, began), (last, _, _, ended) = late[0], late[-1]
    seconds = ((ended or 0.0) - (began or 0.0)) / ((last or 0.0) - (first or 0.0))
    if not seconds > 0:
        return None
    point = column.point
    return MeasuredTrial(column.line, point.name, float(point.value), seconds, float(outcome.bytes))
