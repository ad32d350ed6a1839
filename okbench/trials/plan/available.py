"""A table without the learners that do not exist here yet."""

from __future__ import annotations

from dataclasses import replace

from okbench.learners.registry import catalogue
from okbench.papers.table_types import Table


def registered(table: Table) -> tuple[Table, tuple[str, ...]]:
    """The table with the learners there are, and the labels of the others."""
    known = {name.casefold() for name in catalogue()}
    here = tuple(
        column
        for column in table.learners
        if ":" in column.learner or column.learner.casefold() in known
    )
    absent = dict.fromkeys(column.line for column in table.learners if column not in here)
    return replace(table, learners=here), tuple(absent)
