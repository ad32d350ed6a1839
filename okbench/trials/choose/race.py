"""The race: growing parts of the rows, in which every learner that is left meets the same rows in
the same order.

The clock decides only who is stopped and where the race ends. What a learner costs on the rows that
it saw is exact: it follows from the rows, the settings and the seed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from okbench.base.quantities import spoken_time
from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import find, settings_of
from okbench.trials.choose.paired import blocks_of, level_of, p_of_being_worse
from okbench.trials.choose.runner import Runner
from okbench.trials.choose.search import Chosen
from okbench.trials.choose.standings import Course, Ending, Mark
from okbench.trials.plan.row_orders import RowOrder
from okbench.trials.run.protocol_loop import Ended

FIRST_PART = 2_000  # rows; each part has as many rows as all parts before it together
LARGEST_PART = 200_000
LEAST_PART = 400  # rows; a shorter part would say nothing
PART_SHARE = 1 / 3  # of the time that is left, for a part that is not the last
SLOW = 4.0  # times the usual seconds per row
CATCHING_UP = 0.9  # a gap that shrinks to less than this share from part to part

Tell = Callable[[str, int], None]  # a learner has learned rows up to this one
_ENDINGS: dict[str, Ending] = {"memory": "memory", "diverged": "diverged", "interrupted": "time"}


@dataclass
class _Entry:
    """A learner in the race."""

    chosen: Chosen
    runner: Runner | None  # None when it is stopped: its model is given up
    rate: float  # seconds per row on the last part
    cpu_rate: float  # the same without the time that other processes took
    marks: list[Mark] = field(default_factory=list)
    costs: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # of the last part
    ending: Ending = "last"
    reason: str = ""
    p: float | None = None
    gap: float | None = None  # to the best, per row of the last part, where it is behind

    def stop(self, ending: Ending, reason: str) -> None:
        self.runner, self.ending, self.reason = None, ending, reason

    @property
    def total(self) -> float:
        return self.marks[-1].total if self.marks else 0.0


class Race:
    """A race of some learners over rows in this order."""

    def __init__(
        self,
        chosen: Sequence[Chosen],
        data: Dataset,
        order: RowOrder,
        deadline: float,
        memory: float,
        tell: Tell,
    ) -> None:
        self._deadline, self._n_rows, self._at = deadline, len(order), 0
        self._leader = ""

        def follow(label: str) -> Callable[[int], None]:
            return lambda rows: tell(label, self._at + rows)

        self._entries = [
            _Entry(one, Runner(one.trial, data, order, memory, self._is_over, follow(one.label)),
                   one.rate, one.rate)
            for one in chosen
        ]  # fmt: skip

    def run(self) -> tuple[Course, ...]:
        """Race until the rows or the time are over."""
        part = 0
        while self._at < self._n_rows and self._running():
            part += 1
            upto = self._at + self._affordable()
            if upto == self._at:
                break
            if not self._go(upto):
                break
            self._compare(part)
            self._at = upto
        for entry in self._running():
            if entry.gap is not None:
                entry.stop("behind", f"behind {self._leader} on the last part")
        return tuple(map(_course, self._entries))

    def _is_over(self) -> bool:
        return time.monotonic() > self._deadline

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
        """One part, cheapest learner first. A part that the clock ends counts for no one."""
        begun = {id(entry): len(entry.marks) for entry in self._entries}
        for entry in sorted(self._running(), key=lambda one: one.rate):
            assert entry.runner is not None
            before, cpu_before = entry.runner.seconds, entry.runner.cpu_seconds
            try:
                entry.costs = entry.runner.learn(self._at, upto)
            except Ended as end:
                if end.status == "interrupted":
                    for one in self._entries:
                        del one.marks[begun[id(one)] :]
                    return False
                entry.stop(_ENDINGS.get(end.status, "failed"), end.reason)
                continue
            entry.marks.append(entry.runner.mark(upto))
            entry.rate = (entry.runner.seconds - before) / (upto - self._at)
            entry.cpu_rate = (entry.runner.cpu_seconds - cpu_before) / (upto - self._at)
        return True

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


def _course(entry: _Entry) -> Course:
    trial = entry.chosen.trial
    found = find(trial.learner)
    settings = dict(trial.settings)
    defaults = {name: known.default for name, known in settings_of(found.load()).items()}
    taken = [name for name in defaults if name in settings]
    given = {name: settings[name] for name in taken if settings[name] != defaults[name]}
    return Course(
        entry.chosen.label, trial.learner, found.target, settings, given, tuple(entry.marks),
        entry.ending, entry.reason, entry.p,
    )  # fmt: skip
