"""The settings of each learner, searched on the first rows, which the race leaves out.

All learners run once with the settings that they have without a search. Then other settings are
tried, cheapest learner first, while a share of the time lasts. Settings with which a learner comes
to answer one class, whatever the row, are never chosen: the fewest mistakes on so few rows may be
an accident of their classes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from okbench.learners.registry import find, is_ours
from okbench.trials.choose.entrants import Entrant
from okbench.trials.choose.guarded_runner import AnyRunner, Runners
from okbench.trials.choose.standings import LeftOut, Search
from okbench.trials.run.guarded import WARM_UP_BYTES, WARM_UP_SECONDS
from okbench.trials.run.protocol_loop import Ended
from okbench.trials.run.run_trial import reason_of
from okbench.trials.run.workers import ends_the_run
from okbench.trials.trial_types import Trial

MOST_ROWS = 1_000  # of the search, and at most a quarter of all
SHARE = 1 / 3  # of the time, at most; no trial of a guarded learner takes more of what is left
_TASTE = 20  # rows that a guarded learner meets first, so that the search does not time its imports

Made = TypeVar("Made")
Tell = Callable[[str], None]  # a learner has tried settings


@dataclass
class Chosen:
    """A learner with the settings that cost least on the rows of the search."""

    label: str
    trial: Trial
    rate: float  # seconds per row
    total: float
    bytes: int | None
    reason: str = ""  # of the end of the first settings
    answers_one_class: bool = False  # and so do all others that were tried


def search_rows(n_rows: int) -> int:
    """How many rows are kept for the search."""
    return min(MOST_ROWS, n_rows // 4)


def is_one_answer(costs: NDArray[np.float64], labels: NDArray[np.generic]) -> bool:
    """Whether the mistakes on the second half of the rows, which has several classes, are those of
    one answer to all of them. Before that a learner may still follow its first rows."""
    half = len(labels) // 2
    right, labels = costs[half:] == 0.0, labels[half:]
    answered = np.unique(labels[right])
    same = len(answered) <= 1 and bool(right[np.isin(labels, answered)].all())
    return same and len(np.unique(labels)) > 1


class SettingsSearch:
    """A search on some rows of a dataset, and what it took."""

    def __init__(self, runners: Runners, order: NDArray[np.int64], tell: Tell) -> None:
        self._runners, self._order, self._tell = runners, order, tell
        self._rows, self._labels = len(order), runners.data.y[order]
        self._trials, self._seconds = 0, 0.0
        self.left_out: list[LeftOut] = []

    @property
    def cost(self) -> Search:
        """What it took so far."""
        return Search(self._rows, self._trials, self._seconds)

    def prepared(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Have learners compile themselves, as each does the first time that it meets rows, and
        start the processes of those that are guarded; the learners that can run."""
        return [one for one in entrants if self._or_left_out(one, partial(self._prepare, one))]

    def run(self, entrants: Sequence[Entrant], deadline: float) -> list[Chosen]:
        """The learners with their settings, cheapest first."""
        found = []
        for entrant in entrants:
            if time.monotonic() > deadline:
                self.left_out.append(LeftOut(entrant.label, "the time was over before it began"))
            elif chosen := self._or_left_out(entrant, partial(self._first, entrant, deadline)):
                found.append((chosen, entrant))
        found.sort(key=lambda pair: pair[0].rate)
        until = time.monotonic() + SHARE * (deadline - time.monotonic())
        best = [self._best(chosen, entrant, until, deadline) for chosen, entrant in found]
        return sorted((one for one in best if one.total < math.inf), key=lambda one: one.rate)

    def _prepare(self, entrant: Entrant) -> bool:
        found = find(entrant.trial.learner)
        is_compiled = getattr(found.load(), "compiled", False) is True
        if is_ours(found) and not is_compiled:
            return True
        self._tell(entrant.label)
        trial = entrant.with_settings(entrant.variants[0])
        patience = WARM_UP_SECONDS[is_compiled]
        runner = self._runner(entrant, trial, patience, WARM_UP_BYTES)
        # all rows of a compiled learner: what happens when a budget is full is compiled then
        rows = self._rows if is_compiled else min(_TASTE, self._rows)
        try:
            runner.learn(0, rows, patience=patience)
        except Ended as end:  # what else is wrong shows again in the search
            if end.status == "timeout":
                raise
        return True

    def _runner(
        self, entrant: Entrant, trial: Trial, patience: float, spare: float = 0.0
    ) -> AnyRunner:
        return self._runners.runner(entrant.label, trial, self._order, patience, spare)

    def _first(self, entrant: Entrant, deadline: float) -> Chosen:
        """The learner with its first settings."""
        trial = entrant.with_settings(entrant.variants[0])
        try:
            return self._tried(entrant, trial, deadline)
        except Ended as end:
            if end.status != "diverged" or len(entrant.variants) == 1:
                raise
            return Chosen(entrant.label, trial, math.inf, math.inf, None, end.reason)

    def _or_left_out(self, entrant: Entrant, made: Callable[[], Made]) -> Made | None:
        """What is made with a learner; one that raises is left out."""
        try:
            return made()
        except ends_the_run():
            raise
        except Ended as end:
            self.left_out.append(LeftOut(entrant.label, f"{end.status}: {end.reason}"))
        except BaseException as error:  # its constructor may raise anything
            self.left_out.append(LeftOut(entrant.label, f"failed: {reason_of(error)}"))
        return None

    def _best(self, first: Chosen, entrant: Entrant, until: float, deadline: float) -> Chosen:
        """The best of the first and the other settings; of equals the earlier ones stay."""
        best = first
        for variant in entrant.variants[1:]:
            if time.monotonic() > until:
                break
            try:
                tried = self._tried(entrant, entrant.with_settings(variant), deadline)
            except Ended:
                continue
            better = tried.total < best.total or best.answers_one_class
            if better and not tried.answers_one_class:
                best = tried
            self._tell(entrant.label)
        if best.total == math.inf:
            self.left_out.append(LeftOut(entrant.label, f"diverged: {best.reason}"))
        return best

    def _tried(self, entrant: Entrant, trial: Trial, deadline: float) -> Chosen:
        """What the rows cost with these settings."""
        patience = SHARE * (deadline - time.monotonic())
        learned = self._runner(entrant, trial, patience).learn(0, self._rows, patience=patience)
        self._trials += 1
        self._seconds += learned.seconds
        is_open = len(entrant.variants) > 1 and self._runners.data.task != "regression"
        one_class = is_open and is_one_answer(learned.costs, self._labels)
        return Chosen(
            entrant.label, trial, learned.seconds / self._rows, float(learned.costs.sum()),
            learned.bytes, answers_one_class=one_class,
        )  # fmt: skip
