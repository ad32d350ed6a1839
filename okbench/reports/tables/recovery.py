"""How soon a learner recovers when the concept of a stream changes.

The level of a concept is the lowest error that any learner of the table has, in the mean over its
trials, over the last window of the concept. A learner has recovered at the first point of its curve
whose window holds rows of the new concept alone and whose error is within the table's margin of
that level. Rows are counted from the beginning of the change; where a learner does not recover
before the next change, the rows up to this count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from okbench.papers.table_types import Table
from okbench.protocols.metrics import METRICS, Metric
from okbench.reports.tables.cells import CellKey, Expected
from okbench.trials.trial_types import Outcome

Errors = Mapping[int, float]  # by the number of rows after which a curve has a point


@dataclass(frozen=True)
class Stretch:
    """The rows from a change to the next; those from `settled` on have the new concept alone.
    `level` is the error to come back to."""

    begin: int
    settled: int
    end: int
    level: float


@dataclass(frozen=True)
class Recovery:
    """What followed the changes of a dataset, over all of them and all trials of a cell.

    `rows` is the mean number of rows until a learner recovered, `recovered` how many changes of
    `changes` it recovered from. `others` are the means of what the trials wrote down besides the
    metric, by metric.
    """

    dataset: str
    learner: str
    rows: float
    recovered: int
    changes: int
    others: Mapping[str, float]


def recoveries(
    table: Table, outcomes: Mapping[str, Outcome], expected: Expected
) -> dict[CellKey, Recovery]:
    """The recovery of every cell with a curve, where the table states a margin."""
    metric, margin = METRICS[table.protocol.metric], table.shown.margin
    if not margin or not metric.forgetting:
        return {}
    found: dict[CellKey, Recovery] = {}
    for dataset in (row.name for row in table.datasets):
        trials = {
            label: done
            for (name, label), ids in expected.items()
            if name == dataset and (done := _done(outcomes, ids))
        }
        curves = {label: [_errors(one, metric) for one in done] for label, done in trials.items()}
        stretches = list(_stretches(trials, curves))
        for label, done in trials.items():
            window = metric.forgetting.reach or 0
            times = [
                _rows_to_recover(curve, stretch, margin, window)
                for curve in curves[label]
                for stretch in stretches
            ]
            if times:
                rows = fmean(rows for rows, _ in times)
                recovered = sum(is_back for _, is_back in times)
                others = _others(done, metric)
                found[dataset, label] = Recovery(
                    dataset, label, rows, recovered, len(times), others
                )
    return found


def _done(outcomes: Mapping[str, Outcome], ids: Sequence[str]) -> list[Outcome]:
    """The trials with a curve and known changes."""
    known = (outcomes[id_] for id_ in ids if id_ in outcomes)
    return [one for one in known if one.status == "done" and one.curve and one.extra.get("changes")]


def _errors(outcome: Outcome, metric: Metric) -> Errors:
    """The curve of a trial as errors."""
    values = (
        (int(point[0] or 0), metric.value(point[1], int(point[0] or 0))) for point in outcome.curve
    )
    return {rows: value for rows, value in values if value is not None}


def _stretches(
    trials: Mapping[str, Sequence[Outcome]], curves: Mapping[str, Sequence[Errors]]
) -> Iterator[Stretch]:
    """The stretches behind the changes, each with the best learner's error at its end."""
    if not trials:
        return
    first = next(iter(trials.values()))[0]
    changes = first.extra["changes"]
    ends = [*(begin for begin, _ in changes[1:]), first.rows]
    for (begin, settled), end in zip(changes, ends, strict=True):
        at_end = [
            fmean(known)
            for of_learner in curves.values()
            if (known := [curve[end] for curve in of_learner if end in curve])
        ]
        if at_end:
            yield Stretch(begin, settled, end, min(at_end))


def _rows_to_recover(
    curve: Errors, stretch: Stretch, margin: float, window: int
) -> tuple[int, bool]:
    """Rows from the change on, and whether they were enough."""
    for rows, error in sorted(curve.items()):
        if stretch.settled + window <= rows <= stretch.end and error <= margin * stretch.level:
            return rows - stretch.begin, True
    return stretch.end - stretch.begin, False


def _others(done: Sequence[Outcome], metric: Metric) -> dict[str, float]:
    """The mean of every metric that is written down besides."""
    found = {}
    for name in metric.beside:
        totals = ((one.extra.get("beside", {}).get(name), one.rows) for one in done)
        values = [METRICS[name].value(total, rows) for total, rows in totals]
        known = [value for value in values if value is not None]
        if known:
            found[name] = fmean(known)
    return found
