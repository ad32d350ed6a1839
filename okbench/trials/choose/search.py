"""The settings of each learner, searched on the first rows, which the race leaves out.

All learners run once with the settings that they have without a search. Then other settings are
tried, cheapest learner first, while a share of the time lasts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import find
from okbench.trials.choose.entrants import Entrant
from okbench.trials.choose.runner import Runner
from okbench.trials.choose.standings import LeftOut, Search
from okbench.trials.run.protocol_loop import Ended
from okbench.trials.run.run_trial import reason_of
from okbench.trials.run.workers import ends_the_run
from okbench.trials.trial_types import Trial

MOST_ROWS = 1_000  # of the search, and at most a quarter of all
SHARE = 1 / 3  # of the time, at most

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
    reason: str = ""


def search_rows(n_rows: int) -> int:
    """How many rows are kept for the search."""
    return min(MOST_ROWS, n_rows // 4)


class SettingsSearch:
    """A search on some rows of a dataset, and what it took."""

    def __init__(self, data: Dataset, order: NDArray[np.int64], tell: Tell) -> None:
        self._data, self._order, self._tell = data, order, tell
        self._trials, self._seconds = 0, 0.0
        self.left_out: list[LeftOut] = []

    @property
    def cost(self) -> Search:
        """What it took so far."""
        return Search(len(self._order), self._trials, self._seconds)

    def compiled(self, entrants: Sequence[Entrant]) -> list[Entrant]:
        """Have learners compile themselves, as each does the first time that it meets rows; those
        that can run."""
        return [entrant for entrant in entrants if self._compiles(entrant)]

    def run(self, entrants: Sequence[Entrant], deadline: float) -> list[Chosen]:
        """The learners with their settings, cheapest first."""
        found = []
        for entrant in entrants:
            if time.monotonic() > deadline:
                self.left_out.append(LeftOut(entrant.label, "the time was over before it began"))
            elif chosen := self._first(entrant):
                found.append((chosen, entrant))
        found.sort(key=lambda pair: pair[0].rate)
        until = time.monotonic() + SHARE * (deadline - time.monotonic())
        for chosen, entrant in found:
            self._others(chosen, entrant, until)
        kept = [chosen for chosen, _ in found if chosen.total < math.inf]
        return sorted(kept, key=lambda chosen: chosen.rate)

    def _compiles(self, entrant: Entrant) -> bool:
        if not getattr(find(entrant.trial.learner).load(), "compiled", False):
            return True
        self._tell(entrant.label)
        trial = entrant.with_settings(entrant.variants[0])
        runner = self._or_left_out(entrant, lambda: Runner(trial, self._data, self._order))
        with suppress(Ended):  # what is wrong shows again in the search
            if runner:  # all rows: what happens when a budget is full is compiled then
                runner.learn(0, len(self._order))
        return runner is not None

    def _first(self, entrant: Entrant) -> Chosen | None:
        """The learner with its first settings; nothing if it cannot run at all."""
        trial = entrant.with_settings(entrant.variants[0])

        def cost() -> Chosen:
            try:
                return Chosen(entrant.label, trial, *self._cost_of(trial))
            except Ended as end:
                if end.status != "diverged" or len(entrant.variants) == 1:
                    raise
                return Chosen(entrant.label, trial, math.inf, math.inf, None, end.reason)

        return self._or_left_out(entrant, cost)

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

    def _others(self, chosen: Chosen, entrant: Entrant, until: float) -> None:
        """Try the other settings; of equals the earlier ones stay."""
        for variant in entrant.variants[1:]:
            if time.monotonic() > until:
                break
            trial = entrant.with_settings(variant)
            try:
                rate, total, held = self._cost_of(trial)
            except Ended:
                continue
            if total < chosen.total:
                chosen.trial, chosen.rate, chosen.total = trial, rate, total
                chosen.bytes = held
            self._tell(entrant.label)
        if chosen.total == math.inf:
            self.left_out.append(LeftOut(entrant.label, f"diverged: {chosen.reason}"))

    def _cost_of(self, trial: Trial) -> tuple[float, float, int | None]:
        """Seconds per row, what the rows cost, and the bytes of the model."""
        runner = Runner(trial, self._data, self._order)
        total = float(runner.learn(0, len(self._order)).sum())
        self._trials += 1
        self._seconds += runner.seconds
        return runner.seconds / len(self._order), total, runner.bytes
