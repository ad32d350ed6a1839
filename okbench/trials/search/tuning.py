"""The search a paper describes for its settings: every value of a range, on a part of the rows.

Trials are planned, run and stored as a table's are, on permutations of a seed that no evaluation
uses. The rows are a random part of those evaluated later, as in the papers, which search and
evaluate on the same stream. A candidate counts when all its trials are done; of those the one with
the least mean cost per row is chosen (mistakes, or squared loss). Among equals it is that with the
largest value, of the setting that stands first in the search, then of the next: on few rows small
steps act alike, because none of them reaches the margin. Of lists the first that was tried counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from okbench.base.errors import UsageError
from okbench.papers.table_types import Search, Table
from okbench.papers.values import Value, spelled
from okbench.protocols.registry import ONE_PASS, PROTOCOLS
from okbench.trials.plan.cells import Cell, chosen_cells, row_key
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load, trials_by_cell
from okbench.trials.run.estimate import Missing
from okbench.trials.run.run_table import Tally, run
from okbench.trials.search.search_grid import (
    Block,
    Candidate,
    blocks_of,
    combinations,
    grid_of,
    label_of,
)
from okbench.trials.search.searched_ranges import refuse_unknown, searched
from okbench.trials.search.subsample import Subsample
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial

APART = 2**32  # added to the seed: permutations, and the part of the rows, of tuning alone
TIES = "the largest of equals"


@dataclass(frozen=True)
class Try:
    """What a candidate came to: its mean cost per row over its trials, None unless all are done."""

    values: Candidate  # evaluated for the dataset
    cost: float | None
    endings: Mapping[str, int]


def spoken(values: Candidate) -> str:
    """Values with the settings they are of: `width 0.707107, widths [0.5, 1]`."""
    return ", ".join(f"{name} {short(value)}" for name, value in values.items())


def short(value: Value) -> str:
    """A value in six digits; a list as it is."""
    return spelled(value) if isinstance(value, tuple | str) else f"{value:g}"


@dataclass(frozen=True)
class Round:
    """Settings searched together: what was tried, and the try chosen, if any was all done."""

    names: tuple[str, ...]
    tries: tuple[Try, ...]
    chosen: Try | None

    def at_edge(self, name: str) -> bool:
        """Whether the value chosen is the first or last tried, so a better may lie beyond."""
        values = [each.values[name] for each in self.tries]
        if self.chosen is None or any(isinstance(value, tuple) for value in values):
            return False  # lists have no order, and so no edge
        return self.chosen.values[name] in (min(values), max(values))


@dataclass(frozen=True)
class Choice:
    """The values chosen for a learner on a dataset, in one round or one after the other."""

    dataset: str
    learner: str
    rounds: tuple[Round, ...]
    rows: int
    trial: Trial  # the first of those behind it

    @property
    def values(self) -> Candidate:
        """The value chosen for each setting; a setting is missing when no value of it was done."""
        done = [(name, each.chosen) for each in self.rounds for name in each.names]
        return {name: chosen.values[name] for name, chosen in done if chosen}

    @property
    def tries(self) -> tuple[Try, ...]:
        return tuple(each for round_ in self.rounds for each in round_.tries)

    @property
    def at_edge(self) -> tuple[str, ...]:
        """The settings whose value is the first or last of its range."""
        return tuple(n for each in self.rounds for n in each.names if each.at_edge(n))


@dataclass(frozen=True)
class Tuning:
    """All choices of one search, and how its run went."""

    choices: tuple[Choice, ...]
    tally: Tally


def tune(
    table: Table,
    load: Load,
    missing: Missing,
    store: Store,
    options: Options,
    watch: Callable[[Tally], None],
) -> Tuning:
    """Try what the table's search says and choose.

    Settings whose value the paper or its authors' files give are left alone, unless both dataset
    and learner are asked for by name. What was tried before is read from the store, and not run
    again.
    """
    search = _search_of(table)
    quests = [_Quest(cell, blocks) for cell, blocks in cells_to_tune(table, options).items()]
    seed = options.seed + APART
    apart = replace(options, datasets=None, learners=None, trials=None, repetitions=None, seed=seed)
    in_order = tuple(row.name for row in table.datasets if table.orders_of(row) == "file")
    shares = tuple(search.subsets.items())
    part = Subsample(load, search.subset, search.at_least, seed, shares, in_order)
    tally = Tally(total=0)
    while waiting := [quest for quest in quests if quest.block]:
        grid = grid_of(table, {quest.cell: quest.candidates for quest in waiting})
        told = partial(_tell, watch, tally)
        tally = tally.and_then(run(grid, part, missing, store, apart, told))
        quests = [quest for quest in quests if row_key(table, quest.row) not in tally.missing]
        cells = [c for c in chosen_cells(grid, apart) if row_key(grid, c[0]) not in tally.missing]
        planned, known = trials_by_cell(grid, part, apart, cells), store.outcomes()
        for quest in quests:
            quest.take(grid, planned, known)
    return Tuning(tuple(quest.choice for quest in quests), tally)


def cells_to_tune(table: Table, options: Options) -> dict[Cell, tuple[Block, ...]]:
    """The cells a search would choose for, with what it searches: settings that nobody gives."""
    search = _search_of(table)
    refuse_unknown(table, search)
    by_name = options.datasets is not None and options.learners is not None
    found = {
        (row, column): blocks_of(ranges, search)
        for row, column in chosen_cells(table, options)
        if (ranges := searched(table, row, column, by_name))
    }
    if not found:
        names = " or ".join(range_.name for range_ in search.ranges)
        raise UsageError(
            f"{table.name}: no {names} to tune here: all are printed or found in the authors' "
            "files. Name both --datasets and --learners to tune them all the same"
        )
    return found


def _search_of(table: Table) -> Search:
    if table.search is None:
        raise UsageError(
            f"{table.name} does not say how to tune: no 'tune:' in {table.where.split(':')[0]}"
        )
    if not PROTOCOLS[table.protocol.kind].is_one_pass:
        raise UsageError(f"{table.name}: only {ONE_PASS} tables are tuned here")
    return table.search


class _Quest:
    """A cell on its way through its blocks."""

    def __init__(self, cell: Cell, blocks: Sequence[Block]) -> None:
        self.cell = cell
        self.row, self.column = cell
        self._blocks = blocks
        self._kept: Candidate = {}
        self._rounds: list[Round] = []
        self._trial: Trial | None = None
        self._rows = 0

    @property
    def block(self) -> Block:
        """What is searched next; nothing when all is done."""
        done = len(self._rounds)
        return self._blocks[done] if done < len(self._blocks) else ()

    @property
    def candidates(self) -> list[Candidate]:
        return combinations(self.block, self._kept)

    def take(
        self,
        grid: Table,
        planned: Mapping[tuple[str, str], Sequence[Trial]],
        known: Mapping[str, Outcome],
    ) -> None:
        """Choose from what came of the block, if one was searched."""
        if not self.block:
            return
        names = tuple(range_.name for range_ in self.block)
        tries, candidates = [], self.candidates
        for candidate in candidates:
            label = label_of(self.column, candidate)
            trials = planned[row_key(grid, self.row), label]
            settings = grid.settings[self.row.name, label]
            tries.append(_tried({name: settings[name].value for name in candidate}, trials, known))
            if self._trial is None:
                self._trial = trials[0]
            self._rows = max([self._rows, *(known[t.id].rows for t in trials if t.id in known)])
        best = _best(tries, names)
        if best is not None:
            self._kept = candidates[best]
        self._rounds.append(Round(names, tuple(tries), None if best is None else tries[best]))

    @property
    def choice(self) -> Choice:
        assert self._trial is not None
        return Choice(
            self.row.name, self.column.label, tuple(self._rounds), self._rows, self._trial
        )


def _best(tries: Sequence[Try], names: Sequence[str]) -> int | None:
    """The place of the try of least cost; of equals, the one with the largest values."""
    counted = [
        (each.cost, [_late_if_small(each.values[name]) for name in names], place)
        for place, each in enumerate(tries)
        if each.cost is not None
    ]
    return min(counted)[2] if counted else None


def _late_if_small(value: Value) -> float:
    """Sorts the largest number first, and leaves lists, which have no order, as they were tried."""
    return -value if isinstance(value, int | float) else 0.0


def _tried(values: Candidate, trials: Sequence[Trial], known: Mapping[str, Outcome]) -> Try:
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
    return Try(values, fmean(costs) if whole else None, endings)


def _tell(watch: Callable[[Tally], None], before: Tally, now: Tally) -> None:
    watch(before.and_then(now))
