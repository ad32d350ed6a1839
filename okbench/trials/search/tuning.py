"""The search a paper describes for its settings: every value of a range, on a part of the rows.

Trials are planned, run and stored as a table's are, on permutations of a seed that no evaluation
uses. Where a table has one stream of rows, the rows are a random part of those evaluated later, as
in the papers, which search and evaluate on the same stream. Where it has training rows, before test
rows or before a stream of blocks, the search is a cross-validation on them: `folds` deals them out,
and every fold of a candidate is a trial. A candidate counts when all its trials are done; of those
the one with the least mean cost per row is chosen (mistakes, or squared loss; the mean of the means
of the folds). Among equals it is that with the largest value, of the setting that stands first in
the search, then of the next: on few rows small steps act alike, because none of them reaches the
margin. A table may ask for the smallest value instead (`ties`). Of lists the first that was tried
counts.

A table that says after how long its cells are NA (`na_after`) has its search looked at after 1, 3,
7, … candidates: when the search as a whole, at the mean time of those tried, would take longer than
that, it is given up. A search of which that is out of the question goes on with all that is left at
once, because learners may share work among candidates that are tried together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean

from okbench.base.errors import DataError, UsageError
from okbench.base.quantities import spoken_time
from okbench.papers.table_types import DatasetRow, Equal, Search, Table
from okbench.papers.values import Value, spelled
from okbench.protocols.registry import ONE_PASS, PROTOCOLS
from okbench.trials.plan.cells import Cell, chosen_cells, row_key
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load, in_rounds, named_in, trials_by_cell
from okbench.trials.run.estimate import Missing, absent_rows
from okbench.trials.run.run_table import Tally, run
from okbench.trials.search.folds import Folds
from okbench.trials.search.search_grid import (
    Block,
    Candidate,
    blocks_of,
    combinations,
    grid_of,
    label_of,
)
from okbench.trials.search.searched_ranges import (
    refuse_unknown,
    runs_for,
    searched,
    shares_for,
)
from okbench.trials.search.subsample import Subsample
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial

SPARE = 1000  # times that candidates to come may take longer than those tried
APART = 2**32  # added to the seed: permutations, and the part of the rows, of tuning alone


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
    rows: int  # searched on
    trial: Trial  # the first of those behind it
    clocked: Mapping[str, float] = field(default_factory=dict)  # seconds in the learner, by trial
    runs: int = 1  # of each value, or of each fold of it
    expected: float = 0.0  # seconds that the whole search would take, where it was given up
    given_up: str = ""  # why

    @property
    def seconds(self) -> float:
        """Seconds inside the learner, of all trials."""
        return math.fsum(self.clocked.values())

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
    quests = [
        _Quest(table, cell, blocks, search.ties)
        for cell, blocks in cells_to_tune(table, options).items()
    ]
    absent = absent_rows(table, [quest.cell for quest in quests], missing)
    quests = [quest for quest in quests if row_key(table, quest.row) not in absent]
    if not quests:
        raise DataError("no dataset of the run is here: " + "; ".join(absent.values()))
    seed = options.seed + APART
    whole = replace(options, datasets=None, learners=None, trials=None, repetitions=None)
    apart = replace(whole, seed=seed, sharing=True)
    tally = Tally(total=0, missing=absent)
    while waiting := [quest for quest in quests if quest.block]:
        for alike in _alike(search, waiting):
            stage = _Stage.of(table, search, load, seed, alike)
            grid = stage.grid(table, alike)
            report = partial(_report, watch, tally)
            arrange = _by_candidate if search.folds else _in_rounds
            done = run(grid, stage.rows, lambda name, variant: None, store, apart, report, arrange)
            tally = tally.and_then(done)
            planned, known = trials_by_cell(grid, stage.rows, apart), store.outcomes()
            for quest in alike:
                quest.take(grid, stage, planned, known)
    return Tuning(tuple(quest.choice for quest in quests), tally)


def _in_rounds(
    planned: Mapping[tuple[str, str], Sequence[Trial]], known: Mapping[str, Outcome]
) -> list[Trial]:
    return in_rounds(planned)


def _by_candidate(
    planned: Mapping[tuple[str, str], Sequence[Trial]], known: Mapping[str, Outcome]
) -> list[Trial]:
    """All folds of a candidate, then all of the next: a search that is cut short has candidates
    that are whole."""
    groups: dict[tuple[str, str], list[Trial]] = {}
    for (_, label), trials in planned.items():
        groups.setdefault((trials[0].dataset, label), []).extend(trials)
    return [trial for group in groups.values() for trial in group]


def _alike(search: Search, quests: Sequence[_Quest]) -> list[list[_Quest]]:
    """Quests that are searched on the same share of the rows, equally often."""
    groups: dict[tuple[int, float], list[_Quest]] = {}
    for quest in quests:
        share = shares_for(search, quest.column).of(quest.row.name)
        groups.setdefault((runs_for(search, quest.column), share), []).append(quest)
    return list(groups.values())


@dataclass(frozen=True)
class _Stage:
    """The rows that candidates are tried on, and how often."""

    rows: Folds | Subsample
    runs: int

    @classmethod
    def of(
        cls, table: Table, search: Search, load: Load, seed: int, quests: Sequence[_Quest]
    ) -> _Stage:
        column, row = quests[0].column, quests[0].row
        runs = runs_for(search, column)
        share = shares_for(search, column).of(row.name)
        in_order = tuple(each.name for each in table.datasets if table.orders_of(each) == "file")
        if search.folds:
            is_stream = not PROTOCOLS[table.protocol.kind].needs_test_rows
            stream = seed - APART if is_stream else None
            folds = Folds(load, search.folds, share, search.at_least, seed, in_order, stream)
            return cls(folds, runs)
        return cls(Subsample(load, share, search.at_least, seed, in_order), runs)

    def grid(self, table: Table, quests: Sequence[_Quest]) -> Table:
        """The table of the candidates, with a row for each fold where there are folds."""
        grid = grid_of(table, {quest.cell: quest.candidates for quest in quests}, self.runs)
        if isinstance(self.rows, Folds):
            kind = PROTOCOLS[table.protocol.kind].folds_by
            grid = replace(grid, protocol=replace(grid.protocol, kind=kind))
        rows = {quest.row.name for quest in quests}
        return replace(
            grid,
            datasets=tuple(
                each for row in grid.datasets if row.name in rows for each in self.rows_of(row)
            ),
        )

    def rows_of(self, row: DatasetRow) -> tuple[DatasetRow, ...]:
        """A row of a table as the rows that its search has."""
        if isinstance(self.rows, Subsample):
            return (row,)
        with named_in(row.where):
            self.rows.check(row.name, row.variant)  # before millions of folds are planned
        return tuple(replace(row, variant=one) for one in self.rows.variants(row.variant))


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
    kind, search = PROTOCOLS[table.protocol.kind], table.search
    if kind.folds_by and not search.folds:
        raise UsageError(
            f"{table.name}: a {kind.name} table is searched by folds of its training rows; add "
            "'folds: 5' to its 'tune:', or give --folds"
        )
    if not kind.folds_by and search.folds:
        raise UsageError(f"{table.name}: folds are of training rows, and {kind.name} has none")
    if not kind.is_one_pass and not kind.folds_by:
        raise UsageError(f"{table.name}: only {ONE_PASS} tables and those with test rows are tuned")
    return search


class _Quest:
    """A cell on its way through its blocks."""

    def __init__(self, table: Table, cell: Cell, blocks: Sequence[Block], ties: Equal) -> None:
        self.cell = cell
        self._ties = ties
        self.row, self.column = cell
        self._na_after = table.protocol.na_after
        self._blocks = blocks
        self._kept: Candidate = {}
        self._rounds: list[Round] = []
        self._tries: list[Try] = []  # of the block that is searched now
        self._trial: Trial | None = None
        self._seconds: dict[str, float] = {}
        self._rows = self._runs = 0
        self._expected, self._given_up = 0.0, ""
        self._may_be_long = math.isfinite(self._na_after)

    @property
    def block(self) -> Block:
        """What is searched next; nothing when all is done."""
        done = len(self._rounds)
        return self._blocks[done] if done < len(self._blocks) and not self._given_up else ()

    @property
    def candidates(self) -> list[Candidate]:
        """Those to be tried next: all that are left of the block, or where the search may be given
        up, as many as were tried, and one."""
        tried = len(self._tries)
        left = combinations(self.block, self._kept)[tried:]
        return left[: tried + 1] if self._may_be_long else left

    def take(
        self,
        grid: Table,
        stage: _Stage,
        planned: Mapping[tuple[str, str], Sequence[Trial]],
        known: Mapping[str, Outcome],
    ) -> None:
        """Write down what came of the candidates; when the block is done, choose."""
        rows = stage.rows_of(self.row)
        self._runs = stage.runs
        scored: dict[str, int] = {}
        for candidate in self.candidates:
            label = label_of(self.column, candidate)
            trials = [trial for row in rows for trial in planned[row_key(grid, row), label]]
            settings = grid.settings[self.row.name, label]
            values = {name: settings[name].value for name in candidate}
            self._tries.append(_tried(values, trials, known))
            self._trial = self._trial or trials[0]
            found = [known[trial.id] for trial in trials if trial.id in known]
            self._seconds |= {one.trial.id: one.seconds or 0.0 for one in found}
            for one in found:
                fold = one.trial.variant
                scored[fold] = max(one.rows, scored.get(fold, 0))
        self._rows = max(self._rows, sum(scored.values()))
        every = combinations(self.block, self._kept)
        if len(self._tries) == len(every):
            self._choose(every)
        self._look_ahead()

    def _choose(self, candidates: Sequence[Candidate]) -> None:
        names = tuple(range_.name for range_ in self.block)
        best = _best(self._tries, names, self._ties)
        if best is not None:
            self._kept = candidates[best]
        tries = tuple(self._tries)
        self._rounds.append(Round(names, tries, None if best is None else tries[best]))
        self._tries = []

    def _look_ahead(self) -> None:
        """Give the search up when all of it takes longer than the table allows."""
        whole = sum(math.prod(len(one.values) for one in block) for block in self._blocks)
        tried = len(self._tries) + sum(len(each.tries) for each in self._rounds)
        expected = math.fsum(self._seconds.values()) / tried * whole
        self._may_be_long = expected * SPARE > self._na_after
        if expected <= self._na_after:
            return
        if self._tries:
            names = tuple(range_.name for range_ in self.block)
            self._rounds.append(Round(names, tuple(self._tries), None))
        self._expected = expected
        self._given_up = (
            f"the search takes about {spoken_time(expected)}, by {tried} of its {whole} "
            f"candidates, and search and training may take {spoken_time(self._na_after)}"
        )

    @property
    def choice(self) -> Choice:
        assert self._trial is not None
        return Choice(
            self.row.name,
            self.column.label,
            tuple(self._rounds),
            self._rows,
            self._trial,
            dict(self._seconds),
            self._runs,
            self._expected,
            self._given_up,
        )


def _best(tries: Sequence[Try], names: Sequence[str], ties: Equal) -> int | None:
    """The place of the try of least cost; of equals, that with the largest or smallest values."""
    sign = -1.0 if ties == "largest" else 1.0
    counted = [
        (each.cost, [_sorted_by(each.values[name], sign) for name in names], place)
        for place, each in enumerate(tries)
        if each.cost is not None
    ]
    return min(counted)[2] if counted else None


def _sorted_by(value: Value, sign: float) -> float:
    """Numbers are sorted up or down; lists, which have no order, stay as they were tried."""
    return sign * value if isinstance(value, int | float) else 0.0


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


def _report(watch: Callable[[Tally], None], before: Tally, now: Tally) -> None:
    watch(before.and_then(now))
