"""What is written down of a trial while it runs, and the outcome that this makes at any time.

A trial reports what it is about to do, every stage it begins, every block it finishes and every
point that a learner marks. The loop that runs the trial and the process that supervises it write
the same reports down, so that a trial that is ended from outside has the totals and the curve it
had after its last finished block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.protocols.contract import Stage
from okbench.protocols.metrics import METRICS, Metric
from okbench.trials.run.curve_totals import Totals, totals_of
from okbench.trials.trial_types import Curve, Outcome, Status, Trial


@dataclass(frozen=True)
class Warming:
    """The learner is about to be warmed up; the process holds `base` bytes without it."""

    base: int
    may_compile: bool


@dataclass(frozen=True)
class Beginning:
    """The learner is about to be made for the trial; the process holds `base` bytes without it."""

    base: int


@dataclass(frozen=True)
class Begun:
    """A stage begins; its curve has points after the rows of `stops`, counted within the stage."""

    stage: Stage
    stops: Sequence[int]


@dataclass(frozen=True)
class Finished:
    """The rows of the stage up to `upto` are done; `costs` are those of the last block's rows."""

    upto: int
    costs: NDArray[np.float64] | None
    support: int | None
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Marked:
    """A learner that is given all rows in one call has marked a point of its curve."""

    rows: int
    total: float | None
    support: int | None
    seconds: float


@dataclass(frozen=True)
class Trained:
    """The rows that the learner is trained on are done; what follows are test rows."""

    seconds: float


ProgressReport = Warming | Beginning | Begun | Finished | Marked | Trained


@dataclass
class Ledger:
    """What is written down of a stage."""

    stage: Stage
    stops: Sequence[int]
    totals: Totals
    beside: Mapping[str, Totals]  # by the metrics that are written down besides
    rows: int = 0
    points: list[tuple[int, float | None, int | None, float]] = field(default_factory=list)

    @property
    def total(self) -> float | None:
        return self.totals.after(self.rows) if self.rows else None


class Account:
    """The reports of a trial, written down."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.ledgers: list[Ledger] = []
        self.seconds = self.cpu_seconds = 0.0
        self.train_seconds: float | None = None
        self.support: int | None = None

    def take(self, report: ProgressReport) -> None:
        """Write a report down; it is always about the stage that began last."""
        match report:
            case Begun(stage, stops):
                rows = stage.end - stage.begin
                totals = totals_of(self._metric, rows)
                beside = {name: totals_of(METRICS[name], rows) for name in self._metric.beside}
                self.ledgers.append(Ledger(stage, stops, totals, beside))
            case Marked(rows, total, support, seconds):
                self.seconds, self.support = seconds, support
                self.ledgers[-1].points.append((rows, total, support, seconds))
            case Finished():
                self._finish(self.ledgers[-1], report)
            case Trained(seconds):
                self.train_seconds = seconds

    def _finish(self, ledger: Ledger, block: Finished) -> None:
        self.seconds, self.cpu_seconds = block.seconds, block.cpu_seconds
        self.support = block.support
        at, ledger.rows = ledger.rows, block.upto
        if block.costs is None:
            return
        for totals in (ledger.totals, *ledger.beside.values()):
            totals.add(block.costs)
        done = {tick for tick in ledger.stops if at < tick <= ledger.rows}
        if ledger.rows == ledger.stage.end - ledger.stage.begin:
            done.add(ledger.rows)
        ledger.points += [
            (tick, ledger.totals.after(tick), block.support, block.seconds) for tick in sorted(done)
        ]

    @property
    def row(self) -> int:
        """The first row of the dataset, in the order of the trial, that is not finished."""
        return self.ledgers[-1].stage.begin + self.ledgers[-1].rows if self.ledgers else 0

    def outcome(
        self, trial: Trial, status: Status, held: int | None, reason: str, extra: dict[str, Any]
    ) -> Outcome:
        """All that is known, whether or not the last row was reached; `held` is in bytes."""
        if status == "timeout" and (expected := self._expected()):
            extra = {**extra, "expected_seconds": expected}
        counted = next((entry for entry in self.ledgers if entry.stage.counted), None)
        if counted and counted.rows and counted.beside:
            totals = {name: each.after(counted.rows) for name, each in counted.beside.items()}
            finite = {name: total for name, total in totals.items() if math.isfinite(total)}
            extra = {**extra, "beside": finite}
        return Outcome(
            trial,
            status,
            rows=counted.rows if counted else 0,
            total=counted.total if counted else None,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            train_seconds=self.train_seconds,
            support=self.support,
            bytes=held,
            curve=self._curve(),
            reason=reason,
            extra=extra,
        )

    def _expected(self) -> float | None:
        """The seconds that training would have taken, at the pace up to the last point that the
        learner marked or the last block; None where neither is known."""
        training = self.ledgers[-1] if self.ledgers else None
        if training is None or not training.stage.training or self.train_seconds is not None:
            return None
        rows = training.stage.end - training.stage.begin
        marked = [(point[0], point[3]) for point in training.points]
        if training.rows and not training.stage.is_fit:
            marked.append((training.rows, self.seconds))
        done, seconds = marked[-1] if marked else (0, 0.0)
        return max(self.seconds, seconds * rows / done) if done and seconds else None

    def _curve(self) -> Curve:
        """The points of the stage that is drawn, with one at its end, however early that came."""
        drawn = next((entry for entry in self.ledgers if entry.stage.drawn), None)
        if drawn is None:
            return ()
        points = list(drawn.points)
        reached = points[-1][0] if points else 0
        if drawn.rows > reached:
            total = None if drawn.stage.is_fit else drawn.total
            points.append((drawn.rows, total, self.support, self.seconds))
        return tuple(points)
