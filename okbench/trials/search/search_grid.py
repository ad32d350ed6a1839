"""What a search tries: which settings of a cell, in which combinations, and as which trials.

The settings searched together make a block. A cell has one block, of all combinations, unless these
are more than the search allows: then each setting is a block, and what the first chose is kept
while the next is searched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from okbench.base.errors import ConfigError, did_you_mean
from okbench.learners.registry import catalogue, find, settings_of
from okbench.papers.cell_settings import resolve_with
from okbench.papers.provenance import OPEN
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    Range,
    Search,
    Setting,
    Table,
)
from okbench.papers.values import Value
from okbench.trials.plan.cells import Cell
from okbench.trials.plan.planning import named_in, refuse_not_allowed

Block = tuple[Range, ...]
Candidate = Mapping[str, Value]  # values of the settings searched, as the range has them written


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
    known |= _settings_of_all(catalogue())  # ranges may be said for another table as well
    for range_ in search.ranges:
        if range_.name not in known:
            hint = did_you_mean(range_.name, known)
            raise ConfigError(f"{range_.where}: no learner has a setting '{range_.name}'.{hint}")


def _settings_of_all(learners: Iterable[str]) -> set[str]:
    return {name for learner in learners for name in settings_of(find(learner).load())}


def _spared(range_: Range) -> set[str]:
    with named_in(range_.where):
        return {find(name).name for name in range_.spared}


def blocks_of(ranges: Sequence[Range], search: Search) -> tuple[Block, ...]:
    """The settings that are searched together, block after block."""
    if math.prod(len(range_.values) for range_ in ranges) <= search.together:
        return (tuple(ranges),)
    return tuple((range_,) for range_ in ranges)


def combinations(block: Block, kept: Candidate) -> list[Candidate]:
    """Every combination of a block's values, with what was chosen before."""
    names = [range_.name for range_ in block]
    chosen = product(*(range_.values for range_ in block))
    return [{**kept, **dict(zip(names, values, strict=True))} for values in chosen]


def label_of(column: LearnerColumn, candidate: Candidate) -> str:
    """A learner's label with the values it tries."""
    return " ".join([column.label, *(f"{name}={value}" for name, value in candidate.items())])


def grid_of(table: Table, tried: Mapping[Cell, Sequence[Candidate]]) -> Table:
    """The table with a column for every candidate, and no other cells than those tried.

    Its own columns stay, left out: they vouch for the settings said of the whole table.
    """
    assert table.search is not None
    columns: dict[str, LearnerColumn] = {}
    settings = dict(table.settings)
    cells = set()
    for (row, column), candidates in tried.items():
        for candidate in candidates:
            label = label_of(column, candidate)
            columns[label] = replace(column, label=label)
            cells.add((row.name, label))
            said = {name: Setting(value, shared=True) for name, value in candidate.items()}
            cell = table.settings.get((row.name, column.label), {})
            settings[row.name, label] = resolve_with(cell, said, row.rows)
    learners = (*table.learners, *columns.values())
    every = {(row.name, column.label) for row in table.datasets for column in learners}
    return replace(
        table,
        protocol=replace(table.protocol, runs=table.search.runs, orders="seeded"),
        datasets=tuple(replace(row, orders=None) for row in table.datasets),
        learners=learners,
        settings=settings,
        left_out=frozenset(every - cells),
    )
