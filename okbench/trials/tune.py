"""The search a paper describes for its settings: every value of a range, on a part of the rows.

Trials are planned, run and stored as a table's are, on row orders of a seed that no evaluation
uses. The rows are a random part of those evaluated later, as in the papers, which search and
evaluate on the same stream. A value counts when all its trials are done; of those the one with the
least mean cost a row is chosen (mistakes, or squared loss). Among equals it is the largest: on few
rows small steps act alike, because none of them reaches the margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean

import numpy as np

from okbench.datasets.nouns import Dataset
from okbench.errors import UsageError
from okbench.learners.registry import find, settings_of
from okbench.papers.nouns import LearnerColumn, Search, Table
from okbench.trials.estimate import Missing
from okbench.trials.nouns import Outcome, Trial
from okbench.trials.options import Options
from okbench.trials.plan import Cell, Load, chosen_cells, trials_by_cell
from okbench.trials.run import Tally, run
from okbench.trials.store import Store

APART = 2**32  # added to the seed: row orders, and the part of the rows, of tuning alone
TIES = "the largest of equals"


@dataclass(frozen=True)
class Try:
    """What a value came to: its mean cost a row over its trials, None unless all are done."""

    value: int | float
    cost: float | None
    endings: Mapping[str, int]


@dataclass(frozen=True)
class Choice:
    """The value chosen for a learner on a dataset, None when no value got all its trials done."""

    dataset: str
    learner: str
    value: int | float | None
    tries: tuple[Try, ...]
    rows: int
    trial: Trial  # the first of those behind it

    @property
    def at_edge(self) -> bool:
        """Whether the best value is the first or last of the range, so a better may lie beyond."""
        values = [each.value for each in self.tries]
        return self.value in (min(values), max(values))


@dataclass(frozen=True)
class Tuning:
    """All choices of one search, and how its run went."""

    choices: tuple[Choice, ...]
    tally: Tally


@dataclass(frozen=True)
class Part:
    """Loads a random part of the rows of a dataset, always the same for a seed."""

    load: Load
    share: float
    at_least: int
    seed: int

    def __call__(self, name: str, variant: str = "") -> Dataset:
        return _part(self, name, variant)


@lru_cache(maxsize=4)
def _part(part: Part, name: str, variant: str) -> Dataset:
    whole = part.load(name, variant)
    count = min(whole.n_rows, max(part.at_least, math.ceil(part.share * whole.n_rows)))
    chosen = np.random.default_rng([part.seed, whole.n_rows]).permutation(whole.n_rows)[:count]
    return replace(
        whole,
        X=whole.X[chosen],
        y=whole.y[chosen],
        fingerprint=f"{whole.fingerprint}/{count}/{part.seed}",
        orders=None,
        n_train=None,
    )


def tune(
    table: Table,
    grid: Table,
    load: Load,
    missing: Missing,
    store: Store,
    options: Options,
    watch: Callable[[Tally], None],
) -> Tuning:
    """Try every value of the table's search and choose.

    `grid` is the same table swept over the range. Cells whose value the paper or its authors'
    files give are left alone, unless both dataset and learner are asked for by name. What was
    tried before is read from the store, and not run again.
    """
    search = _search_of(table)
    cells = cells_to_tune(table, options)
    grid = _only(grid, cells, search)
    seed = options.seed + APART
    apart = replace(options, datasets=None, learners=None, trials=None, seed=seed)
    part = Part(load, search.subset, search.at_least, apart.seed)
    tally = run(grid, part, missing, store, apart, watch)
    here = [
        (row, column)
        for row, column in chosen_cells(grid, apart)
        if missing(row.name, row.variant) is None
    ]
    planned = trials_by_cell(grid, part, apart, here)
    known = store.outcomes()
    choices = [
        _choice(row.name, column, grid, planned, known)
        for row, column in cells
        if missing(row.name, row.variant) is None
    ]
    return Tuning(tuple(choices), tally)


def cells_to_tune(table: Table, options: Options) -> list[Cell]:
    """The cells a search would choose for: those whose setting nobody gives."""
    name = _search_of(table).sweep.name
    by_name = options.datasets is not None and options.learners is not None
    found = []
    for row, column in chosen_cells(table, options):
        setting = table.settings[row.name, column.label].get(name)
        unknown = setting is not None and setting.source in ("inferred", "tuned")
        if (unknown or by_name) and name in settings_of(find(column.learner).load()):
            found.append((row, column))
    if not found:
        raise UsageError(
            f"{table.name}: no {name} to tune here: all are printed or found in the authors' "
            "files. Name both --datasets and --learners to tune them all the same"
        )
    return found


def _search_of(table: Table) -> Search:
    if table.search is None:
        raise UsageError(
            f"{table.name} does not say how to tune: no 'tune:' in {table.where.split(':')[0]}"
        )
    if table.protocol.kind != "single-pass":
        raise UsageError(f"{table.name}: only single-pass tables are tuned here")
    return table.search


def _only(grid: Table, cells: Sequence[Cell], search: Search) -> Table:
    """The grid with nothing but these cells, each in the number of row orders of the search."""
    wanted = {(row.name, column.label) for row, column in cells}
    return replace(
        grid,
        protocol=replace(grid.protocol, runs=search.runs, orders="seeded"),
        datasets=tuple(replace(row, orders=None) for row in grid.datasets),
        left_out=frozenset(
            (row.name, column.label)
            for row in grid.datasets
            for column in grid.learners
            if (row.name, column.line) not in wanted
        ),
    )


def _choice(
    dataset: str,
    column: LearnerColumn,
    grid: Table,
    planned: Mapping[tuple[str, str], Sequence[Trial]],
    known: Mapping[str, Outcome],
) -> Choice:
    behind = {
        swept.point.value: planned[dataset, swept.label]
        for swept in grid.learners
        if swept.point and swept.line == column.label
    }
    tries = tuple(_tried(value, trials, known) for value, trials in behind.items())
    counted = [(each.cost, -each.value) for each in tries if each.cost is not None]
    first = next(iter(behind.values()))[0]
    rows = known[first.id].rows if first.id in known else 0
    value = -min(counted)[1] if counted else None
    return Choice(dataset, column.label, value, tries, rows, first)


def _tried(value: int | float, trials: Sequence[Trial], known: Mapping[str, Outcome]) -> Try:
    found = [known[trial.id] for trial in trials if trial.id in known]
    costs = [
        outcome.total / outcome.rows
        for outcome in found
        if outcome.status == "done" and outcome.total is not None and outcome.rows
    ]
    endings: dict[str, int] = {}
    for outcome in found:
        endings[outcome.status] = endings.get(outcome.status, 0) + 1
    whole = len(costs) == len(trials) and all(map(math.isfinite, costs))
    return Try(value, fmean(costs) if whole else None, endings)
