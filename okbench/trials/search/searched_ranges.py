"""Which of a search's ranges a cell is searched through: its learner's class decides."""

from __future__ import annotations

from collections.abc import Iterable

from okbench.base.errors import ConfigError, did_you_mean
from okbench.learners.registry import catalogue, find, settings_of
from okbench.papers.provenance import OPEN
from okbench.papers.table_types import DatasetRow, LearnerColumn, Range, Search, Table
from okbench.trials.plan.planning import named_in, refuse_not_allowed


def searched(
    table: Table, row: DatasetRow, column: LearnerColumn, given_too: bool = False
) -> tuple[Range, ...]:
    """The ranges a cell is searched through: those of settings the learner takes and nobody gives,
    or of all it takes."""
    assert table.search is not None
    settings = table.settings.get((row.name, column.label), {})
    entry = find(column.learner)
    taken = settings_of(entry.load())
    return tuple(
        range_
        for range_ in table.search.ranges
        if range_.name in taken and entry.name not in _spared(range_)
        if given_too or (range_.name in settings and settings[range_.name].source in OPEN)
    )


def refuse_unknown(table: Table, search: Search) -> None:
    """Refuse a range of what is no learner's setting: it is misspelled."""
    refuse_not_allowed(table.learners)
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


def _spared(range_: Range) -> set[str]:
    with named_in(range_.where):
        return {find(name).name for name in range_.spared}
