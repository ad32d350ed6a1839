"""The race: growing parts of the rows, in which every learner that is left meets the same rows in
the same order.

The clock decides only who is stopped and where the race ends. What a learner costs on the rows that
it saw is exact: it follows from the rows, the settings and the seed.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from okbench.base.quantities import spoken_time
from okbench.learners.registry import find, is_ours, settings_of
from okbench.trials.choose.guarded_runner import AnyRunner, Runners
from okbench.trials.choose.guesses import guesses
from okbench.trials.choose.paired import blocks_of, level_of, p_of_being_worse
from okbench.trials.choose.search import Chosen
from okbench.trials.choose.standings import Course, Drawn, Ending, Mark
from okbench.trials.plan.row_orders import RowOrder
from okbench.trials.plan.seeds import learner_axes, with_seed
from okbench.trials.run.protocol_loop import Ended

FIRST_PART = 2_000  # rows; each part has as many rows as all parts before it together
LARGEST_PART = 200_000
LEAST_PART = 400  # rows; a shorter part would say nothing
PART_SHARE = 1 / 3  # of the time that is left, for a part that is not the last
SLOW = 4.0  # times the usual seconds per row
CATCHING_UP = 0.9  # a gap that shrinks to less than this share from part to part

Tell = Callable[[str, int], None]  # a learner has learned rows up to this one
_ENDINGS: dict[str, Ending] = {"memory": "memory", "diverged": "diverged", "timeout": "time"}


@dataclass
class _Entry:
    """A learner in the race."""

    chosen: Chosen
    runner: AnyRunner | None  # None when it is stopped: its model is given up
    rate: float  # seconds per row on the last part
    cpu_rate: float  # the same without the time that other processes took
    marks: list[Mark] = field(default_factory=list)
    costs: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # of the last part
    ending: Ending = "last"
    reason: str = ""
    p: float | None = None
    gap: float | None = None  # to the best, per row of the last part, where it is behind
    beaten: set[str] = field(default_factory=set)  # guesses that cost more on some part
    drew: bool = False  # random numbers

    def learn(self, begin: int, end: int, left: float, patience: float) -> None:
        """Learn these rows and write down what they cost."""
        assert self.runner is not None
        learned = self.runner.learn(begin, end, left, patience)
        self.costs, self.drew = learned.costs, learned.drew
        self.rate = learned.seconds / (end - begin)
        self.cpu_rate = learned.cpu_seconds / (end - begin)
        total, seconds = self.total + float(self.costs.sum()), self.seconds + learned.seconds
        self.marks.append(Mark(end, total, seconds, learned.bytes))

    def stop(self, ending: Ending, reason: str) -> None:
        if self.runner is not None:
            self.runner.end()
        self.runner, self.ending, self.reason = None, ending, reason

    @property
    def total(self) -> float:
        return self.marks[-1].total if self.marks else 0.0

    @property
    def seconds(self) -> float:
        return self.marks[-1].seconds if self.marks else 0.0


class Race:
    """A race of some learners over rows in this order."""

    def __init__(
        self,
        chosen: Sequence[Chosen],
        runners: Runners,
        order: RowOrder,
        deadline: float,
        tell: Tell,
    ) -> None:
        self._runners, self._order = runners, order
        self._deadline, self._n_rows, self._at = deadline, len(order), 0
        self._tell, self._leader = tell, ""
        self._entries = [self._entry(one) for one in chosen]
        self._guesses = [
            _Entry(one, runner, 0.0, 0.0)
            for first in chosen[:1]
            for one, runner in guesses(first.trial, runners.data, order)
        ]

    def run(self) -> tuple[tuple[Course, ...], tuple[Course, ...]]:
        """Race until the rows or the time are over: the learners, and the guesses beside them."""
        part = 0
        while self._at < self._n_rows and self._running():
            part += 1
            upto = self._at + self._affordable()
            if upto == self._at:
                break
            if not self._go(upto):
                break
            self._compare_with_guesses(part, upto)
            self._compare(part)
            self._at = upto
        for entry in self._running():
            if entry.gap is not None:
                entry.stop("behind", f"behind {self._leader} on the last part")
        beside = tuple(_course(guess, ()) for guess in self._guesses)
        return tuple(_course(entry, beside) for entry in self._entries), beside

    def _entry(self, chosen: Chosen) -> _Entry:
        entry = _Entry(chosen, None, chosen.rate, chosen.rate)
        patience = PART_SHARE * (self._deadline - time.monotonic())

        def watch(rows: int) -> None:
            self._tell(chosen.label, self._at + rows)

        try:
            entry.runner = self._runners.runner(
                chosen.label, chosen.trial, self._order, patience, watch=watch
            )
        except Ended as end:
            entry.stop(_ENDINGS.get(end.status, "failed"), end.reason)
        return entry

    def _running(self) -> list[_Entry]:
        return [entry for entry in self._entries if entry.runner is not None]

    def _rate(self) -> float:
        """Seconds that a row takes in all learners together."""
        return sum(entry.rate for entry in self._running())

    def _affordable(self) -> int:
        """How many rows the next part has, 0 if there is no time for as many as say something. If
        all learners together would use too much of the time that is left, those are stopped that
        are furthest behind, and then those that are much slower than the others."""
        left, rest = self._deadline - time.monotonic(), self._n_rows - self._at
        asked = min(max(FIRST_PART, self._at), LARGEST_PART, rest)
        share = left if asked == rest else PART_SHARE * left
        best = min(self._running(), key=lambda entry: entry.total)
        behind = [entry for entry in self._running() if entry.gap is not None]
        for entry in sorted(behind, key=lambda one: -(one.gap or 0.0)):
            if asked * self._rate() > share:
                entry.stop("behind", f"behind {self._leader}, and time was short")
        running = self._running()
        usual = statistics.median_low(entry.cpu_rate for entry in running)
        for entry in sorted(running, key=lambda one: -one.cpu_rate):
            is_slow = entry.cpu_rate > SLOW * usual and entry is not best and entry.marks
            if is_slow and asked * self._rate() > share:
                entry.stop(
                    "slow",
                    f"too slow: {1e6 * entry.cpu_rate:.3g} µs per row, about"
                    f" {spoken_time(entry.cpu_rate * rest)} for the other rows",
                )
        total = self._rate()
        count = asked if total * asked <= left else int(left / total) if left > 0 else 0
        return count if count >= min(LEAST_PART, asked) else 0

    def _go(self, upto: int) -> bool:
        """One part, cheapest learner first, and after okbench's own those that may not return. A
        part that the clock ends counts for no one."""
        begun = {id(entry): len(entry.marks) for entry in self._entries}
        for entry in sorted(self._running(), key=_turn):
            left = self._deadline - time.monotonic()
            patience = max(PART_SHARE * left, SLOW * entry.rate * (upto - self._at))
            try:
                entry.learn(self._at, upto, left, patience)
            except Ended as end:
                if end.status == "interrupted":
                    for one in self._entries:
                        del one.marks[begun[id(one)] :]
                    return False
                entry.stop(_ENDINGS.get(end.status, "failed"), end.reason)
        return True

    def _compare_with_guesses(self, part: int, upto: int) -> None:
        """Have the guesses answer the rows of this part, and note who is better by the test."""
        level = level_of(part, len(self._entries))
        for guess in list(self._guesses):
            try:
                guess.learn(self._at, upto, math.inf, math.inf)
            except Ended:  # a target is no usable number, which the learners meet, too
                self._guesses.remove(guess)
                continue
            costs = blocks_of(guess.costs)
            for entry in self._running():
                if p_of_being_worse(costs, blocks_of(entry.costs)) < level:
                    entry.beaten.add(guess.chosen.label)

    def _compare(self, part: int) -> None:
        """Stop the learners that cost more than the best on the rows of this part and of the one
        before, unless they are catching up."""
        running = self._running()
        if not running:
            return
        best = min(running, key=lambda entry: entry.total)
        best.p = best.gap = None
        self._leader = best.chosen.label
        least = blocks_of(best.costs)
        level = level_of(part, len(self._entries) - 1)
        for entry in running:
            if entry is best:
                continue
            blocks = blocks_of(entry.costs)
            entry.p = p_of_being_worse(blocks, least)
            before, gap = entry.gap, float((blocks - least).mean())
            entry.gap = gap if entry.p < level else None
            if entry.gap is not None and before is not None and gap > CATCHING_UP * before:
                entry.stop("behind", f"behind {best.chosen.label}")


def _turn(entry: _Entry) -> tuple[bool, float]:
    assert entry.runner is not None
    return entry.runner.is_guarded, entry.rate


def _course(entry: _Entry, beside: Sequence[Course]) -> Course:
    trial = entry.chosen.trial
    found = find(trial.learner)
    cls, settings = found.load(), dict(trial.settings)
    defaults = {name: known.default for name, known in settings_of(cls).items()}
    taken = [name for name in defaults if name in settings]
    given = {name: settings[name] for name in taken if settings[name] != defaults[name]}
    beats = bool(entry.marks) and all(
        guess.label in entry.beaten and entry.total < guess.at(entry.marks[-1].rows).total
        for guess in beside
    )
    target = f"okbench:{found.target.partition(':')[2]}" if is_ours(found) else found.target
    seeds = {name: seed for name, seed in with_seed(cls, trial).items() if name not in settings}
    return Course(
        entry.chosen.label, trial.learner, target, settings, given, tuple(entry.marks),
        entry.ending, entry.reason, entry.p, beats, entry.chosen.answers_one_class,
        Drawn(tuple(learner_axes(trial)) if entry.drew else (), seeds),
    )  # fmt: skip
