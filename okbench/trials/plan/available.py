"""A table without the learners that do not exist here yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from okbench.papers.table_types import Table


def registered(table: Table, known: Iterable[str]) -> tuple[Table, tuple[str, ...]]:
    """The table with the learners whose names are known, and the labels of the others.

    A `module:Class` needs no registration.
    """
    names = {name.casefold() for name in known}
    here = tuple(
        column
        for column in table.learners
        if ":" in column.learner or column.learner.casefold() in names
    )
    absent = dict.fromkeys(column.line for column in table.learners if column not in here)
    return replace(table, learners=here), tuple(absent)
