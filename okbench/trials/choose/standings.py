"""What came of a race: what each learner cost on the rows that it saw, and who beats whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from okbench.papers.values import Value
from okbench.protocols.metrics import METRICS, Metric

Ending = Literal["last", "behind", "slow", "time", "memory", "diverged", "failed"]


@dataclass(frozen=True)
class Mark:
    """What a learner has cost after so many rows: in total, in seconds inside it, and in bytes."""

    rows: int
    total: float
    seconds: float
    bytes: int | None  # None for a learner that does not say


@dataclass(frozen=True)
class Drawn:
    """The one draw of random numbers with which a learner was measured. The draws that `begin` got
    follow from the `entropy`, empty for a learner that used none; `seeds` are settings."""

    entropy: tuple[int, ...] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entropy or self.seeds)


@dataclass(frozen=True)
class Course:
    """The way of one learner through the race. `marks` are after each part of the rows that it
    finished, `ending` says why it went no further, and `reason` says it in words."""

    label: str
    learner: str
    target: str  # module:Class, from which it is imported
    settings: Mapping[str, Value | None]
    given: Mapping[str, Value | None]  # those of the settings that are not the learner's defaults
    marks: tuple[Mark, ...]
    ending: Ending
    reason: str = ""
    p: float | None = None  # of the test against the best learner, on the last part
    beats_guessing: bool = False  # it costs less than every guess, on some part significantly
    answers_one_class: bool = False  # on the rows of the search, with all settings that were tried
    drawn: Drawn = Drawn()

    @property
    def rows(self) -> int:
        return self.marks[-1].rows if self.marks else 0

    @property
    def rows_per_second(self) -> float:
        last = self.marks[-1]
        return last.rows / last.seconds if last.seconds > 0.0 else math.inf

    def at(self, rows: int) -> Mark:
        """The mark after so many rows."""
        return next(mark for mark in self.marks if mark.rows == rows)


@dataclass(frozen=True)
class LeftOut:
    """A learner that did not start, and why."""

    label: str
    reason: str


@dataclass(frozen=True)
class Search:
    """The search for settings before the race: on so many rows, which are not among those raced."""

    rows: int
    trials: int
    seconds: float


@dataclass(frozen=True)
class Standings:
    """A race when it is over; `rows` are those that could be raced, and `guesses` are what answers
    without any column cost on the same rows."""

    name: str
    n_rows: int
    n_features: int
    task: str
    classes: tuple[Any, ...]
    metric_name: str
    scale: str
    order: str  # of the rows, as a trial names it
    seed: int
    rows: int
    search: Search
    courses: tuple[Course, ...]
    guesses: tuple[Course, ...]
    left_out: tuple[LeftOut, ...]
    limit: float  # seconds that the race was given
    seconds: float  # that it took, the search included
    level: float  # of stopping any learner that is as good as the best

    @property
    def metric(self) -> Metric:
        return METRICS[self.metric_name]

    @cached_property
    def started(self) -> tuple[Course, ...]:
        """The learners that finished a part: the furthest first, then the best."""
        ran = [course for course in self.courses if course.marks]
        return tuple(sorted(ran, key=lambda course: (-course.rows, course.marks[-1].total)))

    @property
    def winner(self) -> Course | None:
        """The best of the learners that saw the most rows, among those that beat guessing."""
        return next((course for course in self.started if course.beats_guessing), None)

    @property
    def equals(self) -> tuple[Course, ...]:
        """The other learners that saw as many rows: no part of them showed that they are worse."""
        best = self.winner
        return tuple(
            one
            for one in self.started
            if best and one is not best and one.rows == best.rows and one.ending == "last"
        )

    def value(self, course: Course) -> float | None:
        """The metric on the rows that a learner saw."""
        last = course.marks[-1]
        return self.metric.value(last.total, last.rows)

    def best_on(self, rows: int) -> float | None:
        """The best metric that any learner had after so many rows."""
        totals = [course.at(rows).total for course in self.started if course.rows >= rows]
        return self.metric.value(min(totals), rows) if totals else None

    @cached_property
    def frontier(self) -> tuple[Course, ...]:
        """The learners that no other beats in metric, speed and memory on the same rows."""
        return tuple(
            course
            for course in self.started
            if not any(_beats(other, course) for other in self.started if other is not course)
        )


def _beats(one: Course, other: Course) -> bool:
    """Whether a learner is as good in everything on the same rows, and better in something."""
    rows = min(one.rows, other.rows)
    mine, its = _costs(one.at(rows)), _costs(other.at(rows))
    return mine != its and all(a <= b for a, b in zip(mine, its, strict=True))


def _costs(mark: Mark) -> tuple[float, float, float]:
    return mark.total, mark.seconds, math.inf if mark.bytes is None else mark.bytes
