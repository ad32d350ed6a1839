"""Which of a search's ranges a cell is searched through: its learner's class decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from okbench.base.errors import ConfigError, did_you_mean
from okbench.learners.registry import catalogue, find, settings_of
from okbench.papers.provenance import OPEN
from okbench.papers.table_types import DatasetRow, LearnerColumn, Range, Search, Shares, Table
from okbench.trials.plan.planning import named_in, refuse_not_allowed

Found = TypeVar("Found", Shares, int)


def searched(
    table: Table,
    row: DatasetRow,
    column: LearnerColumn,
    given_too: bool = False,
    unsearched_too: bool = False,
) -> tuple[Range, ...]:
    """The ranges a cell is searched through: those of settings the learner takes and nobody gives,
    or of all it takes; and, if wanted, those that are varied and not searched."""
    assert table.search is not None
    settings = table.settings.get((row.name, column.label), {})
    entry = find(column.learner)
    taken = settings_of(entry.load())
    found: dict[str, Range] = {}
    for range_ in table.search.ranges:
        if range_.name not in taken or not _holds_for(range_, entry.name):
            continue
        setting = settings.get(range_.name)
        if not range_.searched:
            if not unsearched_too:
                continue
        elif not given_too and (setting is None or setting.source not in OPEN):
            continue
        if found.setdefault(range_.name, range_) is not range_:
            raise ConfigError(
                f"{range_.where}: a second range of '{range_.name}' for {entry.name}; name the "
                "learners of each with 'only'"
            )
    return tuple(found.values())


def shares_for(search: Search, column: LearnerColumn) -> Shares:
    """The shares of the rows on which a learner's settings are searched."""
    return _own(search.shares_of, column) or Shares(search.subset, search.subsets)


def runs_for(search: Search, column: LearnerColumn) -> int:
    """How often each value is tried for a learner."""
    return _own(search.runs_of, column) or search.runs


def _own(by_name: Mapping[str, Found], column: LearnerColumn) -> Found | None:
    """What is given for a learner by its own name."""
    name = find(column.learner).name
    return next((one for key, one in by_name.items() if key.casefold() == name.casefold()), None)


def refuse_unknown(table: Table, search: Search) -> None:
    """Refuse a range of what is no learner's setting, and what is given for a learner that there is
    not: they are misspelled."""
    refuse_not_allowed(table.learners)
    with named_in(table.where):
        for learner in (*search.shares_of, *search.runs_of):
            find(learner)
    known = _settings_of_all(column.learner for column in table.learners)
    if all(range_.name in known for range_ in search.ranges):
        return
    known |= _settings_of_all(catalogue())  # a range may be meant for another table
    for range_ in search.ranges:
        if range_.name not in known:
            hint = did_you_mean(range_.name, known)
            raise ConfigError(f"{range_.where}: no learner has a setting '{range_.name}'.{hint}")


def _settings_of_all(learners: Iterable[str]) -> set[str]:
    return {name for learner in learners for name in settings_of(find(learner).load())}


def _holds_for(range_: Range, learner: str) -> bool:
    """Whether a range is one for this learner."""
    with named_in(range_.where):
        for name in (*range_.spared, *range_.only):
            find(name)
    return range_.holds_for(learner)
