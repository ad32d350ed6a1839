"""The cells of a table that are asked for. No learner is imported for it and no rows are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.additions import whole_names
from okbench.papers.table_types import DatasetRow, LearnerColumn, Table
from okbench.trials.plan.options import Options

Cell = tuple[DatasetRow, LearnerColumn]

_MOST = 1_000_000  # trials of a cell


def row_key(table: Table, row: DatasetRow) -> str:
    """A row's name, with its variant only where a table has two rows of that name."""
    twice = sum(other.name == row.name for other in table.datasets) > 1
    return f"{row.name}:{row.variant}" if twice else row.name


def repetitions_of(table: Table, options: Options, learner: str) -> tuple[int, ...]:
    """The repetitions asked for of a learner, by its label, in their order: those named, or the
    first so many, of a learner with a number of runs of its own no more than these."""
    if options.repetitions is not None:
        return tuple(sorted(set(options.repetitions)))
    own = table.runs_of(learner)
    count = own if options.trials is None else options.trials
    if own != table.protocol.runs:
        count = min(count, own)
    if count > _MOST:
        raise UsageError(f"{table.name}: at most {_MOST:,} trials of a cell, not {count:,}")
    return tuple(range(count))


def time_limit_of(table: Table, options: Options) -> float:
    """The seconds that one trial may take: those asked for, or the table's own limit. A trial that
    takes as long as search and training may take together is NA in any case."""
    limits = table.protocol.time_limit, table.protocol.na_after
    return min(limits) if options.time_limit is None else options.time_limit


def chosen_cells(table: Table, options: Options) -> list[Cell]:
    """The cells asked for, dataset by dataset.

    Cells the paper leaves out are among them only when both their dataset and their learner are
    asked for by name.
    """
    keys = {row: row_key(table, row) for row in table.datasets}
    names = {key: row.name for row, key in keys.items()}
    rows = _chosen(options.datasets, "dataset", names, table)
    columns = _chosen(
        options.learners, "learner", {c.label: c.learner for c in table.learners}, table
    )
    by_name = options.datasets is not None and options.learners is not None
    return [
        (row, column)
        for row in table.datasets
        for column in table.learners
        if keys[row] in rows and column.label in columns
        if by_name or (row.name, column.label) not in table.left_out
    ]


def narrowed(table: Table, options: Options) -> Table:
    """The table with the rows and columns asked for, and no others."""
    cells = chosen_cells(table, options)
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    return replace(
        table,
        datasets=tuple(row for row in table.datasets if row in rows or options.datasets is None),
        learners=tuple(c for c in table.learners if c in columns or options.learners is None),
    )


def _chosen(
    asked: tuple[str, ...] | None, kind: str, names: Mapping[str, str], table: Table
) -> set[str]:
    """The labels asked for, in any case; a second name stands for every label that has it."""
    if asked is None:
        return set(names)
    chosen: set[str] = set()
    for name in whole_names(asked, names):
        labels = {label for label in names if label.casefold() == name.casefold()}
        others = {label for label, other in names.items() if other.casefold() == name.casefold()}
        if not labels and not others:
            raise UsageError(
                f"{table.name} has no {kind} '{name}'.{did_you_mean(name, names)} "
                f"It has {', '.join(names)}"
                + (f"; --with {name} adds a learner" if kind == "learner" else "")
            )
        chosen |= labels or others
    return chosen
