"""One loop for the four protocols: hand over rows in blocks, score, and look at the limits.

    single-pass    learn all rows, in the trial's order; score what `learn` returns
    train-test     learn the training part; score `predict` on the test part
    block-stream   learn the initial part, if the rows have one; then predict a block, learn it
    approximation  learn nothing; pair the rows off, in the trial's order; count those whose kernel
                   `kernel_gaps` says to be beyond the tolerance; an odd last row is left out

The clock runs inside the learner's calls alone. Totals and curves are sums over rows, so how the
rows were cut into blocks does not show in them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Diverged
from okbench.trials.plan.seeds import row_order
from okbench.trials.run.block_sizes import BlockSizer, Span, fixed, paced, ticks
from okbench.trials.run.introspect import figure_told
from okbench.trials.run.scoring import BadAnswer, Scored, exceeding, score
from okbench.trials.run.workers import ENDS_THE_RUN, one_process
from okbench.trials.trial_types import Curve, Outcome, Status, Trial


@dataclass(frozen=True)
class Limits:
    """What ends a trial before its last row; looked at between blocks."""

    seconds: float = math.inf
    bytes: float = math.inf
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Part:
    """A stretch of rows and what is done with them; what the first verb returns is scored."""

    begin: int
    end: int
    verbs: tuple[str, ...]
    counted: bool = False  # makes the outcome's total
    drawn: bool = False  # makes its curve
    block: int = 0  # a fixed block size, or 0 for any
    together: int = 1  # rows that no block divides


class _Ended(Exception):
    """The trial ends here."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass
class _Ledger:
    """What is written down of a part."""

    part: Part
    errors: NDArray[np.float64]
    stops: range
    counts: bool  # errors are 0 or 1
    rows: int = 0
    marks: list[tuple[int, int | None, float]] = field(default_factory=list)

    def total(self, rows: int) -> float:
        with np.errstate(over="ignore"):  # squares that outgrew the numbers add up to infinity
            total = float(self.errors[:rows].sum())
        return int(total) if self.counts else total

    @property
    def curve(self) -> Curve:
        return tuple(
            (rows, self.total(rows), support, seconds) for rows, support, seconds in self.marks
        )


def walk(trial: Trial, dataset: Dataset, learner: Any, limits: Limits = Limits()) -> Outcome:
    """Run a learner, begun and ready, through a trial. Its mistakes never escape as exceptions."""
    walker = _Walker(trial, dataset, learner, limits)
    status: Status = "done"
    reason = ""
    try:
        for part in parts_of(trial, dataset):
            walker.go(part)
    except _Ended as end:
        status, reason = end.status, end.reason
    return walker.outcome(status, reason)


def parts_of(trial: Trial, dataset: Dataset) -> tuple[Part, ...]:
    """The stretches a protocol is made of."""
    end, train = dataset.n_rows, dataset.n_train or 0
    if trial.protocol == "single-pass":
        return (Part(0, end, ("learn",), counted=True, drawn=True),)
    if trial.protocol == "train-test":
        learned = Part(0, train, ("learn",), drawn=True)
        return (learned, Part(train, end, ("predict",), counted=True))
    if trial.protocol == "approximation":
        even = end - end % 2
        return (Part(0, even, ("kernel_gaps",), counted=True, drawn=True, together=2),)
    streamed = Part(train, end, ("predict", "learn"), counted=True, drawn=True, block=trial.block)
    return (Part(0, train, ("learn",)), streamed)


class _Walker:
    """A learner on its way through the rows, its clock, and what is known so far."""

    def __init__(self, trial: Trial, dataset: Dataset, learner: Any, limits: Limits) -> None:
        self.trial, self.dataset, self.learner, self.limits = trial, dataset, learner, limits
        self.order = row_order(trial, dataset)
        self.gaps = trial.protocol == "approximation"
        self.seconds = self.cpu_seconds = 0.0
        self.train_seconds: float | None = None
        self.ledgers: list[_Ledger] = []
        self.pace = BlockSizer()
        self.resident_before = psutil.Process().memory_info().rss

    def go(self, part: Part) -> None:
        """Walk through one part, or raise `_Ended` on the way."""
        count = part.end - part.begin
        task, counts = self.dataset.task, self.gaps or self.dataset.task != "regression"
        ledger = _Ledger(part, np.zeros(count), ticks(count, task, part.together), counts)
        self.ledgers.append(ledger)
        for span in self._spans(part, ledger.stops):
            self._step(ledger, span)
            if span[1] < self.dataset.n_rows:
                self._look_at_limits(span[1])
        if self.trial.protocol == "train-test" and self.train_seconds is None:
            self.train_seconds = self.seconds

    def _spans(self, part: Part, stops: range) -> Iterator[Span]:
        if part.block:
            return fixed(part.begin, part.end, part.block)
        return paced(part.begin, part.end, stops, self.pace, part.together)

    def _step(self, ledger: _Ledger, span: Span) -> None:
        begin, end = span
        picked = self.order[begin:end]
        X, y, truth = (self.dataset.X[picked], self.dataset.y[picked], self.dataset.y[picked])
        before = self.seconds
        first, *rest = ledger.part.verbs
        answer = self._call(first, X, y, span)
        for verb in rest:
            self._call(verb, X, y, span)
        self.pace.took(end - begin, self.seconds - before)
        self._write_down(ledger, span, answer, truth)

    def _call(self, verb: str, X: Any, y: Any, span: Span) -> Any:
        """Call the learner on the clock."""
        arguments = (X, y) if verb == "learn" else (X,)
        call = getattr(self.learner, verb)
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            # a number that overflows is told as diverged
            with one_process(), np.errstate(all="ignore"):
                return call(*arguments)
        except ENDS_THE_RUN:
            raise
        except Diverged as error:
            raise _Ended("diverged", self._at_row(span[0] + error.row, str(error))) from error
        except MemoryError as error:
            raise _Ended("memory", self._in_rows(span, f"out of memory {error}")) from error
        except BaseException as error:  # sys.exit among them
            reason = f"{verb}: {type(error).__name__}: {error}"
            raise _Ended("failed", self._in_rows(span, reason)) from error
        finally:
            self.seconds += time.perf_counter() - wall
            self.cpu_seconds += time.thread_time() - cpu

    def _write_down(self, ledger: _Ledger, span: Span, answer: Any, truth: NDArray[Any]) -> None:
        at, upto = span[0] - ledger.part.begin, span[1] - ledger.part.begin
        try:
            scored = self._score(answer, truth)
        except BadAnswer as error:
            reason = f"{ledger.part.verbs[0]} returned {error}"
            raise _Ended("failed", self._in_rows(span, reason)) from error
        ledger.errors[at:upto] = scored.errors
        bad = scored.diverged_at
        ledger.rows = upto if bad is None else at + bad
        done = {tick for tick in ledger.stops if at < tick <= ledger.rows}
        if ledger.rows == len(ledger.errors):
            done.add(ledger.rows)
        support = self._support()
        ledger.marks += [(tick, support, self.seconds) for tick in sorted(done)]
        if bad is not None:
            what = "kernel gap" if self.gaps else "prediction"
            reason = f"{what} {np.asarray(answer)[bad]} is no usable number"
            raise _Ended("diverged", self._at_row(span[0] + bad, reason))

    def _score(self, answer: Any, truth: NDArray[Any]) -> Scored:
        if self.gaps:
            return exceeding(answer, len(truth), self.trial.tolerance)
        return score(answer, truth, self.dataset.task)

    def _look_at_limits(self, row: int) -> None:
        limits = self.limits
        if limits.stopped():
            raise _Ended("interrupted", self._at_row(row, "told to stop"))
        if self.seconds >= limits.seconds:
            reason = f"{self.seconds:.3g} s in the learner, the limit is {limits.seconds:g} s"
            raise _Ended("timeout", self._at_row(row, reason))
        if limits.bytes < math.inf and (held := self._bytes()) >= limits.bytes:
            reason = f"{held / 1e6:.4g} MB held, the limit is {limits.bytes / 1e6:.4g} MB"
            raise _Ended("memory", self._at_row(row, reason))

    def _bytes(self) -> int:
        """What the learner says it holds, else what the process grew by since it began."""
        held = figure_told(self.learner, "nbytes")
        if held is not None:
            return held
        return max(0, int(psutil.Process().memory_info().rss - self.resident_before))

    def _support(self) -> int | None:
        return figure_told(self.learner, "support_size")

    def _name(self) -> str:
        return f"{self.trial.learner} × {self.trial.dataset} r={self.trial.repetition}"

    def _at_row(self, row: int, reason: str) -> str:
        return f"{self._name()}, at row {row} of {self.dataset.n_rows}: {reason}"

    def _in_rows(self, span: Span, reason: str) -> str:
        return f"{self._name()}, in rows {span[0]} to {span[1] - 1}: {reason}"

    def outcome(self, status: Status, reason: str) -> Outcome:
        """All that is known, whether or not the last row was reached."""
        counted = next((entry for entry in self.ledgers if entry.part.counted), None)
        drawn = next((entry for entry in self.ledgers if entry.part.drawn), None)
        rows = counted.rows if counted else 0
        if drawn and drawn.rows > (drawn.marks[-1][0] if drawn.marks else 0):
            drawn.marks.append((drawn.rows, self._support(), self.seconds))
        return Outcome(
            self.trial,
            status,
            rows=rows,
            total=counted.total(rows) if counted and rows else None,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            train_seconds=self.train_seconds,
            support=self._support(),
            bytes=self._bytes(),
            curve=drawn.curve if drawn else (),
            reason=reason,
        )
