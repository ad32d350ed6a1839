"""Which stored outcomes belong in which cell of a table. Files and YAML alone say it: no learner is
imported and no rows are read.

A stored plan of a cell is current if the settings that the YAML gives today for that cell,
restricted to the names the learner takes (as the plan records them), equal those recorded as given,
and dataset, variant, learner, protocol, metric, orders and root seed agree. A setting that the YAML
gives to the learner by name must be one that it takes. Of several current plans the one of the
installed version of the learner counts, else the last one written.

Outcomes without a plan (files of schema 1) hold the complete settings, but not which of them were
given. There, trials that differ in their repetition alone make up a plan, which is current if every
setting given today that is among the stored ones equals it. Settings that are not given are taken
to be the learner's defaults of that time. Of two columns of one learner that such a plan is current
for, the one which gives more of its settings has it. A plan that a run wrote comes before these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from okbench.papers.table_types import DatasetRow, LearnerColumn, Setting, Table
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.plan.cells import Cell, chosen_cells, repetitions_of, row_key
from okbench.trials.plan.options import Options
from okbench.trials.store.plans import CellPlan
from okbench.trials.trial_types import PROTOCOL_VERSION, Family, Outcome, Trial

Versions = Mapping[str, Any]  # of the installed learners, by name; None where it is not known
_ALL = Options()


def recall(
    table: Table,
    outcomes: Iterable[Outcome],
    options: Options = _ALL,
    plans: Sequence[CellPlan] = (),
    versions: Versions | None = None,
    cells: Sequence[Cell] | None = None,
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The ids of the trials each cell is made of, by dataset and learner label; none where no plan
    is current. Cells are those asked for with the options, if no others are given.

    Where the rows themselves changed between runs, those met last count, or those the table has in
    hand.
    """
    candidates: dict[Hashable, list[_Candidate]] = {}
    for candidate in _candidates(outcomes, plans):
        candidates.setdefault(_slot(candidate.trial), []).append(candidate)
    found = {}
    for row, column in chosen_cells(table, options) if cells is None else cells:
        current = _current(table, row, column, options, candidates)
        best = max(current, key=lambda one: one.rank(versions), default=None)
        repetitions = repetitions_of(table, options, column.label)
        found[row_key(table, row), column.label] = best.ids(repetitions) if best else ()
    return found


@dataclass(frozen=True)
class _Candidate:
    """Trials that may be those of a cell. `given` is None if no run wrote their plan; `place` says
    in which order they were written."""

    trial: Trial
    given: frozenset[str] | None
    takes: frozenset[str]
    place: int

    def rank(self, versions: Versions | None) -> tuple[bool, bool, int]:
        """The highest of the current candidates of a cell counts."""
        installed = (versions or {}).get(self.trial.learner) == self.trial.learner_version
        return installed, self.given is not None, self.place

    def ids(self, repetitions: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self.trial.family.id_of, repetitions))

    def is_given_by(self, settings: Mapping[str, Setting]) -> bool:
        """Whether the YAML of a cell gives these settings today."""
        if self.given is not None and not self.given <= settings.keys():
            return False
        stored = dict(self.trial.settings)
        known = stored.keys() if self.given is None else self.given
        return all(
            name in known and _equal(setting.value, stored[name])
            if name in self.takes
            else setting.shared
            for name, setting in settings.items()
        )

    def shared_with(self, settings: Mapping[str, Setting]) -> int:
        """How many of the stored settings the YAML of a cell gives."""
        return sum(name in settings for name, _ in self.trial.settings)


def _candidates(outcomes: Iterable[Outcome], plans: Sequence[CellPlan]) -> Iterator[_Candidate]:
    """The plans as they were written, and those that the other outcomes make up."""
    planned = set()
    for place, plan in enumerate(plans):
        planned.add(plan.trial.family)
        yield _Candidate(plan.trial, plan.given, plan.takes, place)
    latest: dict[Family, tuple[int, Trial]] = {}
    for place, outcome in enumerate(outcomes):
        latest[outcome.trial.family] = place, outcome.trial
    for family, (place, trial) in latest.items():
        if family not in planned:
            yield _Candidate(trial, None, frozenset(name for name, _ in trial.settings), place)


_DETAILS = tuple(kind.key.name for kind in PROTOCOLS.values() if kind.key)


def _slot(trial: Trial) -> Hashable:
    """What must agree besides settings, version and rows."""
    return (
        trial.dataset,
        trial.variant,
        _folded(trial.learner),
        trial.protocol,
        trial.protocol_version,
        trial.metric,
        trial.order,
        trial.seed,
        *(getattr(trial, name) for name in _DETAILS),
    )


def _slot_of(table: Table, row: DatasetRow, column: LearnerColumn, seed: int) -> Hashable:
    protocol = table.protocol
    details = PROTOCOLS[protocol.kind].details(protocol, column)
    return (
        row.name,
        row.variant,
        _folded(column.learner),
        protocol.kind,
        PROTOCOL_VERSION,
        protocol.metric,
        table.orders_of(row),
        seed,
        *(details.get(name, 0) for name in _DETAILS),
    )


def _folded(learner: str) -> str:
    """A registry name means the same in any case; `module:Class` does not."""
    return learner if ":" in learner else learner.casefold()


def _current(
    table: Table,
    row: DatasetRow,
    column: LearnerColumn,
    options: Options,
    candidates: Mapping[Hashable, Sequence[_Candidate]],
) -> Iterator[_Candidate]:
    """The candidates that are current for a cell and belong to no other column."""
    settings = table.settings.get((row.name, column.label), {})
    for one in candidates.get(_slot_of(table, row, column, options.seed), ()):
        if row.fingerprint not in ("", one.trial.fingerprint) or not one.is_given_by(settings):
            continue
        if one.given is not None or not _belongs_to_another(one, table, row, column):
            yield one


def _belongs_to_another(
    one: _Candidate, table: Table, row: DatasetRow, column: LearnerColumn
) -> bool:
    """Whether another column of this learner gives more of the stored settings."""
    own = one.shared_with(table.settings.get((row.name, column.label), {}))
    others = (
        table.settings.get((row.name, other.label), {})
        for other in table.learners
        if _folded(other.learner) == _folded(column.learner)
        if other.tolerance == column.tolerance
    )
    return any(one.shared_with(other) > own and one.is_given_by(other) for other in others)


def _equal(given: Any, stored: Any) -> bool:
    """Whether a value in YAML is the stored one, as the learner's type has it: 8 is 8.0."""
    if isinstance(stored, list | tuple):
        same = isinstance(given, list | tuple) and len(given) == len(stored)
        return same and all(map(_equal, given, stored))
    if isinstance(given, bool) or isinstance(stored, bool | str):
        return type(given) is type(stored) and given == stored
    if isinstance(stored, float) and isinstance(given, int | float):
        return repr(float(given)) == repr(stored)  # as in the id: NaN is NaN, and -0.0 is not 0.0
    return bool(given == stored)
