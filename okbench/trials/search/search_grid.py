"""What a search tries: in which combinations, and as which columns of a table. No learner is
imported for it.

The settings searched together make a block. A cell has one block, of all combinations, unless these
are more than the search allows: then each setting is a block, and what the first chose is kept
while the next is searched. To vary a cell, each setting is a block beside the others of the cell,
and all combinations are one more block if the search allows them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from okbench.papers.cell_settings import resolve_with
from okbench.papers.table_types import LearnerColumn, Range, Search, Setting, Table
from okbench.papers.values import Value
from okbench.trials.plan.cells import Cell

Block = tuple[Range, ...]
Candidate = Mapping[str, Value]  # values of the settings searched, as the range has them written


def blocks_of(ranges: Sequence[Range], search: Search) -> tuple[Block, ...]:
    """The settings that are searched together, block after block."""
    if math.prod(len(range_.values) for range_ in ranges) <= search.together:
        return (tuple(ranges),)
    return tuple((range_,) for range_ in ranges)


def variations(ranges: Sequence[Range], search: Search) -> list[Candidate]:
    """Every value of each range beside the cell's own other settings; then, of several ranges,
    every combination of those searched, if the search tries them together."""
    blocks: list[Block] = [(range_,) for range_ in ranges]
    searched = [range_ for range_ in ranges if range_.searched]
    together = blocks_of(searched, search)
    if len(searched) > 1 and len(together) == 1:
        blocks += together
    return [candidate for block in blocks for candidate in combinations(block, {})]


def combinations(block: Block, kept: Candidate) -> list[Candidate]:
    """Every combination of a block's values, with what was chosen before."""
    names = [range_.name for range_ in block]
    chosen = product(*(range_.values for range_ in block))
    return [{**kept, **dict(zip(names, values, strict=True))} for values in chosen]


def label_of(column: LearnerColumn, candidate: Candidate) -> str:
    """A learner's label with the values it tries."""
    return " ".join([column.label, *(f"{name}={value}" for name, value in candidate.items())])


def grid_of(table: Table, tried: Mapping[Cell, Sequence[Candidate]], runs: int) -> Table:
    """The table of a search: the candidates, on the permutations of the search; rows that the table
    takes in the order of the file stay in it."""
    grid = with_candidates(table, tried)
    return replace(
        grid,
        protocol=replace(table.protocol, runs=runs, orders="seeded"),
        datasets=tuple(
            replace(row, orders="file" if table.orders_of(row) == "file" else None)
            for row in table.datasets
        ),
        learners=tuple(replace(column, runs=None) for column in grid.learners),
    )


def with_candidates(table: Table, tried: Mapping[Cell, Sequence[Candidate]]) -> Table:
    """The table with a column for every candidate, and no other cells than those tried.

    Its own columns stay, marked as left out, so that the settings of the whole table are used.
    What is printed in a cell is beside each of its candidates.
    """
    columns: dict[str, LearnerColumn] = {}
    settings, printed, random = dict(table.settings), dict(table.printed), table.random
    cells = set()
    for (row, column), candidates in tried.items():
        own = row.name, column.label
        for candidate in candidates:
            label = label_of(column, candidate)
            columns[label] = replace(column, label=label)
            cells.add((row.name, label))
            values = {name: Setting(value, shared=True) for name, value in candidate.items()}
            settings[row.name, label] = resolve_with(table.settings.get(own, {}), values, row.rows)
            if own in printed:
                printed[row.name, label] = printed[own]
            if random is not None and column.label in random:
                random |= {label}
    learners = (*table.learners, *columns.values())
    every = {(row.name, column.label) for row in table.datasets for column in learners}
    return replace(
        table,
        learners=learners,
        settings=settings,
        printed=printed,
        random=random,
        left_out=frozenset(every - cells),
    )
