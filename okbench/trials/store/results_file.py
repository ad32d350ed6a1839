"""What a results file holds, once read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from okbench.trials.store.plans import CellPlan
from okbench.trials.trial_types import Outcome

_WEIGHTS = {"done": 2, "interrupted": 0}  # the heavier of two outcomes of a trial stands


@dataclass
class Contents:
    """A results file as read: `end` is where its whole lines end; what follows was cut short.

    `measured` has every outcome in the order written, `plans` every plan of a cell; files of schema
    1 have none. `blessed` is what the header of a baseline says: its table, the reason, the date
    and the versions.
    """

    measured: list[Outcome] = field(default_factory=list)
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    blessed: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    torn: bool = False
    plans: list[CellPlan] = field(default_factory=list)
    schema: int = 0
    _apart: tuple[dict[str, Outcome], dict[str, Outcome]] = field(
        default_factory=lambda: ({}, {}), init=False, repr=False, compare=False
    )
    _counted: int = field(default=0, init=False, repr=False, compare=False)

    def standing(self, timed: bool | None = None) -> Mapping[str, Outcome]:
        """What came of each trial, by id. The later line of a trial stands, except that only
        another `done` replaces a `done`, and an `interrupted` replaces nothing but itself.

        Timed and untimed outcomes are kept apart: ask for one kind, or for None, which gives the
        timed outcome of a trial where it is as good as the other.
        """
        untimed, alone = self._kinds
        if timed is not None:
            return alone if timed else untimed
        if not (untimed and alone):
            return alone or untimed
        ranked = sorted(self.each(), key=lambda one: (_weight(one), one.timed))
        return {outcome.trial.id: outcome for outcome in ranked}

    @property
    def _kinds(self) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
        """The untimed and the timed outcomes that stand, put together once for a file as read."""
        if len(self.measured) != self._counted:
            self._apart = _standing_of(self.measured)
            self._counted = len(self.measured)
        return self._apart

    def each(self) -> Iterator[Outcome]:
        """The outcome of each trial that stands, the timed and the untimed one of a trial."""
        found: dict[tuple[str, bool], Outcome] = {}
        for outcome in self.measured:
            key = (outcome.trial.id, outcome.timed)
            if key not in found or _weight(outcome) >= _weight(found[key]):
                found[key] = outcome
        return iter(found.values())

    def distinct_plans(self) -> list[CellPlan]:
        """Every plan once, in the order in which they were written last."""
        last_first = {(plan.slot, plan.trial.id): plan for plan in reversed(self.plans)}
        return list(reversed(last_first.values()))

    def disputed(self) -> dict[str, tuple[Outcome, Outcome]]:
        """Trials that were done more than once with different scores, which their ids rule out."""
        if len(self.measured) == sum(map(len, self._kinds)) and not all(self._kinds):
            return {}  # every trial was done once
        first: dict[str, Outcome] = {}
        found: dict[str, tuple[Outcome, Outcome]] = {}
        for outcome in self.measured:
            if outcome.status == "done":
                before = first.setdefault(outcome.trial.id, outcome)
                if (before.total, before.rows) != (outcome.total, outcome.rows):
                    found[outcome.trial.id] = (before, outcome)
        return found


def _standing_of(measured: Sequence[Outcome]) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
    """The untimed and the timed outcomes that stand; those of finished trials come last."""
    untimed: dict[str, Outcome] = {}
    alone: dict[str, Outcome] = {}
    for outcome in measured:
        found = alone if outcome.timed else untimed
        before = found.setdefault(outcome.trial.id, outcome)
        if before is not outcome and _weight(outcome) >= _weight(before):
            found[outcome.trial.id] = outcome
    if all(outcome.status == "done" for outcome in measured):
        return untimed, alone
    return _finished_last(untimed), _finished_last(alone)


def _finished_last(found: Mapping[str, Outcome]) -> dict[str, Outcome]:
    return {one.trial.id: one for one in sorted(found.values(), key=_weight)}


def _weight(outcome: Outcome) -> int:
    return _WEIGHTS.get(outcome.status, 1)
