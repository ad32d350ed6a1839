"""One loop for all protocols: hand over rows in blocks, score, and look at the limits.

The stages of the trial's protocol decide what is done with which rows. The clock runs inside
the learner's calls alone. Totals and curves are sums over rows, so how the rows were cut into
blocks does not show in them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base import tracebacks
from okbench.base.errors import UsageError
from okbench.base.worker_processes import memory_here
from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Diverged
from okbench.protocols.contract import RowCounts, Stage
from okbench.protocols.costs import BadAnswer
from okbench.protocols.metrics import METRICS, Metric
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.plan.row_orders import RowOrder
from okbench.trials.plan.seeds import row_order
from okbench.trials.run import block_sizes
from okbench.trials.run.account import (
    Account,
    Begun,
    Finished,
    Ledger,
    Marked,
    ProgressReport,
    Trained,
)
from okbench.trials.run.block_sizes import Span, fixed, growing, spaced, ticks
from okbench.trials.run.row_stream import RowStream
from okbench.trials.run.workers import ends_the_run, one_process
from okbench.trials.store.facts import facts_of
from okbench.trials.trial_types import Outcome, Status, Trial

Observe = Callable[[Span, NDArray[np.float64]], None]
Tell = Callable[[ProgressReport], None]

SLACK = 64_000_000  # bytes of scratch memory that a learner need not count as its model


def nobody(report: ProgressReport) -> None:
    """Where the reports of a trial go that no other process follows."""


def never() -> bool:
    """Where nothing stops a trial but its limits."""
    return False


@dataclass(frozen=True)
class Limits:
    """What ends a trial before its last row; looked at between blocks.

    Unless it `believes` what a learner says of its size, no other trial runs in this process, whose
    growth is then the learner's.
    """

    seconds: float = math.inf
    bytes: float = math.inf
    stopped: Callable[[], bool] = never
    believes: bool = True


@dataclass(frozen=True)
class Route:
    """The rows a learner meets, in the order in which it meets them, and how it is scored.

    `stops` are the rows of a stage after which its curve has a point, where they are not the usual
    ones. `observe` is given the rows of every scored block and their costs.
    """

    name: str
    dataset: Dataset
    order: RowOrder
    stages: tuple[Stage, ...]
    metric: Metric
    detail: float = 0.0
    stops: Sequence[int] | None = None
    observe: Observe = lambda span, costs: None


class Ended(Exception):
    """Raised where a trial ends before its last row, within the rows of `span`. What the learner
    raised is the cause, and its traceback is kept when it is `traced`."""

    def __init__(self, status: Status, reason: str, span: Span, traced: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.span = span
        self.traced = traced


def walk(
    trial: Trial,
    dataset: Dataset,
    learner: Any,
    limits: Limits = Limits(),
    tell: Tell = nobody,
    base: int | None = None,
) -> Outcome:
    """Run a learner, begun and ready, through a trial. Its mistakes never escape as exceptions.

    `base` is what the process held before the learner was made, in bytes.
    """
    walker = Walker(route_of(trial, dataset, learner), learner, limits, tell, base)
    try:
        for stage in walker.route.stages:
            walker.go(stage)
    except Ended as end:
        return walker.outcome(trial, end)
    return walker.outcome(trial)


def route_of(trial: Trial, dataset: Dataset, learner: Any) -> Route:
    """The rows of a trial and what its protocol does with them."""
    kind = PROTOCOLS[trial.protocol]
    role = kind.role_of(learner)
    if role is None:
        raise UsageError(f"{trial.learner} {kind.lack}")
    detail = kind.detail(trial)
    return Route(
        f"{trial.learner} × {trial.dataset} r={trial.repetition}",
        dataset,
        row_order(trial, dataset),
        kind.stages(role, RowCounts(dataset.n_rows, dataset.n_train), detail),
        METRICS[trial.metric],
        detail,
    )


def figure_of(learner: Any, name: str) -> int | None:
    """A figure that a learner offers as an attribute or a method; None when it has none to give, or
    one that is no count of 64 bits."""
    try:
        figure = getattr(learner, name, None)
        given: Any = figure() if callable(figure) else figure
        count = int(given)
        return count if count == given and 0 <= count < 2**63 else None
    except Exception:
        return None


class FitClock:
    """The time left to a learner that is given all rows in one call; it marks progress here."""

    def __init__(self, walker: Walker, ledger: Ledger) -> None:
        self._walker = walker
        self._ledger = ledger
        self._begun = time.perf_counter()
        self._before = walker.seconds

    def time_left(self) -> float:
        """Seconds until the time limit; infinite without one."""
        return max(0.0, self._walker.limits.seconds - self._seconds())

    def should_stop(self) -> bool:
        """Whether a limit is reached, or the run is being stopped: return soon."""
        return self.time_left() <= 0.0 or self._walker.reached(self._seconds()) is not None

    def mark(self, rows_seen: int, total: float | None = None) -> None:
        """A point of the curve: so many training rows have been used. `total` is what these rows
        cost together, in mistakes or squared errors; without it the point has seconds alone."""
        stage, points = self._ledger.stage, self._ledger.points
        least = points[-1][0] if points else 0
        if not least < rows_seen <= stage.end - stage.begin:
            raise ValueError(
                f"mark({rows_seen}): the rows of a point are more than those of the one before "
                f"({least}) and at most {stage.end - stage.begin}"
            )
        cost = None if total is None else float(total)
        support = self._walker.support()
        self._walker.note(Marked(int(rows_seen), cost, support, self._seconds()))

    def _seconds(self) -> float:
        return self._before + time.perf_counter() - self._begun


class Walker:
    """A learner on its way through the rows, its clock, and what is known so far."""

    def __init__(
        self,
        route: Route,
        learner: Any,
        limits: Limits = Limits(),
        tell: Tell = nobody,
        base: int | None = None,
    ) -> None:
        self.route, self.learner, self.limits = route, learner, limits
        self.seconds = self.cpu_seconds = 0.0
        self.account = Account(route.metric)
        self._tell = tell
        self._rows = RowStream(route.dataset, route.order)
        self._sizes = block_sizes.sizes()
        self._classes = {label: [0, 0] for label in route.dataset.classes}  # test rows, mistakes
        self._base = memory_here() if base is None else base

    def note(self, report: ProgressReport) -> None:
        """Write a report down, and hand it on."""
        self.account.take(report)
        self._tell(report)

    def go(self, stage: Stage) -> None:
        """Walk through one stage, or raise `Ended` on the way."""
        stops, spacing, count = self.route.stops, self.route.metric.spacing, stage.end - stage.begin
        if stops is None and spacing:
            stops = spaced(count, spacing)
        elif stops is None:
            stops = ticks(count, self.route.dataset.task, stage.together)
        self.note(Begun(stage, stops))
        for span in self._spans(stage, stops):
            (self._fit if stage.is_fit else self._step)(stage, span)
            if span[1] < self.route.dataset.n_rows:
                self._look_at_limits(span[1])
        if stage.training:
            self.note(Trained(self.seconds))

    def _spans(self, stage: Stage, stops: Sequence[int]) -> Iterator[Span]:
        if stage.is_fit:
            return iter([(stage.begin, stage.end)])
        if stage.block:
            return fixed(stage.begin, stage.end, stage.block)
        return growing(stage.begin, stage.end, stops, self._sizes, stage.together)

    def _step(self, stage: Stage, span: Span) -> None:
        X, y, truth = self._rows.take(span)
        first, *rest = stage.verbs
        answer = self._call(first, X, y, span)
        for verb in rest:
            self._call(verb, X, y, span)
        self._write_down(stage, span, answer, truth)

    def _fit(self, stage: Stage, span: Span) -> None:
        X, y, _ = self._rows.take(span)
        self._call("fit", X, y, span, FitClock(self, self.account.ledgers[-1]))
        self._note_finished(span[1] - span[0], None)

    def _note_finished(self, upto: int, costs: NDArray[np.float64] | None) -> None:
        self.note(Finished(upto, costs, self.support(), self.seconds, self.cpu_seconds))

    def _call(self, verb: str, X: Any, y: Any, span: Span, *more: Any) -> Any:
        """Call the learner on the clock."""
        arguments = (X, y, *more) if verb in ("learn", "fit") else (X,)
        call = getattr(self.learner, verb)
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            # an overflow shows in the answers, which end the trial as diverged
            with one_process(), np.errstate(all="ignore"):
                return call(*arguments)
        except ends_the_run():
            raise
        except Diverged as error:
            reason = self._at_row(span[0] + error.row, str(error))
            raise Ended("diverged", reason, span) from error
        except MemoryError as error:
            reason = self._in_rows(span, f"out of memory {error}")
            raise Ended("memory", reason, span, traced=True) from error
        except BaseException as error:  # sys.exit among them
            reason = self._in_rows(span, f"{verb}: {tracebacks.described(error)}")
            raise Ended("failed", reason, span, traced=True) from error
        finally:
            self.seconds += time.perf_counter() - wall
            self.cpu_seconds += time.thread_time() - cpu

    def _write_down(self, stage: Stage, span: Span, answer: Any, truth: NDArray[Any]) -> None:
        try:
            scored = self.route.metric.costs(answer, truth, self.route.detail)
        except BadAnswer as error:
            reason = self._in_rows(span, f"{stage.verbs[0]} returned {error}")
            raise Ended("failed", reason, span) from error
        self.route.observe(span, scored.rows)
        if stage.counted and not stage.drawn:
            self._count_classes(truth, scored.rows)
        bad = scored.diverged_at
        upto = span[1] if bad is None else span[0] + bad
        self._note_finished(upto - stage.begin, scored.rows)
        if bad is not None:
            row, what = span[0] + bad, f"{self.route.metric.answer} {scored.answer[bad]}"
            reason = self._at_row(row, f"{what} is no usable number")
            raise Ended("diverged", reason, (row, row + 1))

    def _count_classes(self, truth: NDArray[Any], costs: NDArray[np.float64]) -> None:
        for label, counts in self._classes.items():
            of_class = truth == label
            counts[0] += int(np.count_nonzero(of_class))
            counts[1] += int(np.count_nonzero(of_class & (costs > 0)))

    def _look_at_limits(self, row: int) -> None:
        found = self.reached(self.seconds)
        if found:
            status, reason = found
            raise Ended(status, self._at_row(row, reason), (row, row))

    def reached(self, seconds: float) -> tuple[Status, str] | None:
        """The limit reached after so many seconds in the learner, with what it is in words."""
        limits = self.limits
        if limits.stopped():
            return "interrupted", "the run was stopped"
        if seconds >= limits.seconds:
            return "timeout", f"{seconds:.3g} s in the learner, the limit is {limits.seconds:g} s"
        if limits.bytes < math.inf and (held := self._bytes()) >= limits.bytes:
            return "memory", f"{held / 1e6:.4g} MB held, the limit is {limits.bytes / 1e6:.4g} MB"
        return None

    def _bytes(self) -> int:
        """What the learner says it holds, unless this is not to be believed and leaves too much of
        what the process grew by unexplained; without a figure, that growth."""
        stated = figure_of(self.learner, "nbytes")
        if stated is not None and self.limits.believes:
            return stated
        grown = max(0, memory_here() - self._base)
        return grown if stated is None or grown > stated + SLACK else stated

    def support(self) -> int | None:
        """How many supports the learner holds, if it says so."""
        return figure_of(self.learner, "support_size")

    def _at_row(self, row: int, reason: str) -> str:
        return f"{self.route.name}, at row {row} of {self.route.dataset.n_rows}: {reason}"

    def _in_rows(self, span: Span, reason: str) -> str:
        return f"{self.route.name}, in rows {span[0]} to {span[1] - 1}: {reason}"

    def outcome(self, trial: Trial, end: Ended | None = None) -> Outcome:
        """All that is known, whether or not the last row was reached."""
        self.account.seconds, self.account.cpu_seconds = self.seconds, self.cpu_seconds
        self.account.support = self.support()
        raised = end.__cause__ if end and end.traced else None
        return self.account.outcome(
            trial,
            end.status if end else "done",
            self._bytes(),
            end.reason if end else "",
            self._per_class()
            | facts_of(self.learner)
            | self._changes()
            | ({} if raised is None else {"traceback": tracebacks.tail(raised)}),
        )

    def _changes(self) -> dict[str, Any]:
        """The rows at which the concept changes, where the metric looks at the last rows, so that
        reports can say what came after a change."""
        known = self.route.dataset.changes if self.route.metric.forgetting else ()
        return {"changes": [list(change) for change in known]} if known else {}

    def _per_class(self) -> dict[str, Any]:
        """How many test rows each class has, and how many of them are mistakes, as
        [class, rows, mistakes]; nothing before the first test row."""
        if not any(rows for rows, _ in self._classes.values()):
            return {}
        return {"classes": [[label, *counts] for label, counts in self._classes.items()]}
