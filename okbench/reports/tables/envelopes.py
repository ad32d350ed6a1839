"""What the ranges that a paper searched can give in a cell, beside what the paper prints there.

    reachable       at a value of the range no difference from the print would be seen in as many
                    trials as the paper ran
    between values  at no value of the range, but the print lies between what two of them give
    unreachable     every value of the range gives another number, and all on one side of the print
    not decided     a value is not measured, or is within the noise of its few permutations only

A value is compared by the functions of `verdicts`. That a print is missed needs every value of the
cell to differ, so the largest of their p values is the cell's, corrected after Holm for all varied
cells of the table. No setting is chosen here: `unreachable` rests on no fit. It speaks of the
values of the range; a value beside them may still give the print, and `own` is true if it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from okbench.base.errors import UsageError
from okbench.papers.commands import run_command
from okbench.papers.provenance import OPEN
from okbench.papers.table_types import PrintedCell, Range, Search, Setting, Table
from okbench.papers.values import Value
from okbench.reports.load import LoadedTable
from okbench.reports.statistics import holm, welch_test
from okbench.reports.tables.cells import Cell as Measured
from okbench.reports.tables.cells import CellKey, Expected, cells
from okbench.reports.tables.verdicts import (
    AGREES,
    ALPHA,
    equal_as_printed,
    judge,
    must_be_equal,
    samples,
)
from okbench.trials.plan.cells import Cell, chosen_cells, row_key
from okbench.trials.plan.options import Options
from okbench.trials.search.search_grid import Candidate, label_of, variations, with_candidates
from okbench.trials.store.match_outcomes import recall

Reachability = Literal["reachable", "between values", "unreachable", "not decided"]
ValueStanding = Literal["reaches", "differs", "open", "not measured"]
LEAST = 2  # trials of a value, which have a deviation


@dataclass(frozen=True)
class Tried:
    """Values of the settings that were varied together, what they gave, and how it stands to the
    print: it `differs` with p, is `open` within the noise of its trials, or `reaches` it."""

    values: Mapping[str, Value]
    cell: Measured
    standing: ValueStanding
    p: float = 0.0

    @property
    def diverged(self) -> bool:
        return self.standing == "differs" and self.cell.mean is None

    @property
    def miss(self) -> float:
        """How far its mean is from the print, by amount."""
        difference = self.cell.difference
        return float("inf") if difference is None else abs(difference)


@dataclass(frozen=True)
class Envelope:
    """A printed cell with what its ranges gave. `own` is the cell with the table's settings;
    `given` are its values of those varied, which agree with the print or not. `held` are settings
    that neither paper nor authors give and that have no range. `at` are the values that the outcome
    speaks of: those that reach the print, those around it, the nearest one, or those that are open.
    """

    printed: PrintedCell
    own: Measured
    given: Mapping[str, Value]
    tried: tuple[Tried, ...]
    held: Mapping[str, Setting]
    outcome: Reachability
    at: tuple[Tried, ...]

    @property
    def own_agrees(self) -> bool:
        return judge(self.own).outcome in AGREES

    @property
    def low(self) -> float | None:
        return min(self._means, default=None)

    @property
    def high(self) -> float | None:
        return max(self._means, default=None)

    @property
    def _means(self) -> list[float]:
        return [one.cell.mean for one in self.tried if one.cell.mean is not None]


@dataclass(frozen=True)
class Envelopes:
    """The varied cells of a table that are asked for. `fixed` are the settings of printed cells
    that no range varies, with their learners; `inferred` are the reasons of ranges that the paper
    does not print; `waiting` counts the cells that could be varied and are not."""

    table: str
    title: str
    metric: str
    found: Mapping[CellKey, Envelope]
    fixed: Mapping[str, tuple[str, ...]]
    inferred: Mapping[str, str]
    waiting: int


def envelopes_of(loaded: LoadedTable) -> Envelopes:
    """The envelopes of the cells asked for, from files alone."""
    table, options = loaded.table, loaded.options
    search = table.search
    if search is None:
        raise UsageError(
            f"{table.name} has no ranges to vary settings in; add a 'tune:' block to its file"
        )
    whole = chosen_cells(table, replace(options, datasets=None, learners=None))
    asked = chosen_cells(table, options)
    varied = {cell: _settings_of(loaded, cell) for cell in dict.fromkeys([*whole, *asked])}
    judged = _judged(loaded, varied, _measured_values(loaded, varied))
    shown = {cell: varied[cell] for cell in asked if varied[cell]}
    found = {_key(cell): judged[cell] for cell in shown if cell in judged}
    if not found:
        raise UsageError(
            f"{table.name}: no chosen cell has a stored trial of a varied setting"
            f"  ({run_command(table, vary='inferred')})"
        )
    fixed: dict[str, dict[str, None]] = {}
    for cell, settings in shown.items():
        for name in settings.keys() - {range_.name for range_ in _ranges(search, cell, settings)}:
            fixed.setdefault(name, {})[cell[1].label] = None
    return Envelopes(
        table.name,
        table.title,
        table.protocol.metric,
        found,
        {name: tuple(fixed[name]) for name in sorted(fixed)},
        {range_.name: range_.reason for range_ in search.ranges if range_.reason},
        sum(bool(_ranges(search, cell, shown[cell])) and cell not in judged for cell in shown),
    )


def _key(cell: Cell) -> CellKey:
    return cell[0].name, cell[1].label


def _settings_of(loaded: LoadedTable, cell: Cell) -> dict[str, Setting]:
    """The settings of a printed cell that neither paper nor authors give, or that are varied and
    not searched, and that its learner takes, as its stored plans say."""
    printed = loaded.table.printed.get(_key(cell))
    learner, search = cell[1].learner.casefold(), loaded.table.search
    plans = [plan for plan in loaded.contents.plans if plan.trial.learner.casefold() == learner]
    if printed is None or printed.mean is None or not plans:
        return {}
    ranges = search.ranges if search else ()
    varied = {one.name for one in ranges if not one.searched and one.holds_for(learner)}
    return {
        name: one
        for name, one in loaded.table.settings.get(_key(cell), {}).items()
        if one.source in OPEN or name in varied
        if name in plans[-1].takes or one.referred
    }


def _ranges(search: Search, cell: Cell, settings: Mapping[str, Setting]) -> list[Range]:
    """The ranges that vary a cell."""
    return [
        range_
        for range_ in search.ranges
        if range_.name in settings and range_.holds_for(cell[1].learner)
    ]


def _measured_values(
    loaded: LoadedTable, among: Mapping[Cell, Mapping[str, Setting]]
) -> dict[Cell, list[tuple[Candidate, Measured]]]:
    """The candidates of the cells that have a trial of any of them."""
    table, search = loaded.table, loaded.table.search
    assert search is not None
    tried = {
        cell: variations(ranges, search)
        for cell, settings in among.items()
        if (ranges := _ranges(search, cell, settings))
    }
    grid = with_candidates(table, tried)
    expected = _expected(loaded, grid)
    columns = {_key(cell): cell for cell in chosen_cells(grid, Options())}
    found: dict[Cell, list[tuple[Candidate, Measured]]] = {}
    for cell, candidates in tried.items():
        row, column = cell
        labels = [label_of(column, candidate) for candidate in candidates]
        if not any(
            id_ in loaded.outcomes
            for label in labels
            for id_ in expected.get((row_key(table, row), label), ())
        ):
            continue
        part = replace(
            grid,
            datasets=(row,),
            learners=tuple(columns[row.name, label][1] for label in labels),
        )
        measured = cells(part, loaded.outcomes, expected, loaded.versions)
        settings = [grid.settings[row.name, label] for label in labels]
        values = [
            {name: given[name].value for name in candidate}
            for candidate, given in zip(candidates, settings, strict=True)
        ]
        found[cell] = list(zip(values, measured, strict=True))
    return found


def _expected(loaded: LoadedTable, grid: Table) -> Expected:
    """The ids of the trials of every candidate."""
    options = replace(loaded.options, datasets=None, learners=None)
    plans = loaded.contents.plans
    return recall(grid, loaded.outcomes.values(), options, plans, loaded.versions)


def _judged(
    loaded: LoadedTable,
    settings: Mapping[Cell, Mapping[str, Setting]],
    family: Mapping[Cell, Sequence[tuple[Candidate, Measured]]],
) -> dict[Cell, Envelope]:
    """The outcomes of all varied cells, which are one family of tests."""
    tried = {
        cell: tuple(_compared(values, measured) for values, measured in found)
        for cell, found in family.items()
    }
    p_values = [max(one.p for one in found) for found in tried.values()]
    corrected = dict(zip(tried, holm(p_values), strict=True))
    return {
        cell: _envelope(loaded, cell, settings[cell], tried[cell], corrected[cell])
        for cell in tried
    }


def _envelope(
    loaded: LoadedTable,
    cell: Cell,
    settings: Mapping[str, Setting],
    tried: tuple[Tried, ...],
    p: float,
) -> Envelope:
    varied = {name for one in tried for name in one.values}
    return Envelope(
        loaded.table.printed[_key(cell)],
        _own(loaded, _key(cell)),
        {name: one.value for name, one in settings.items() if name in varied},
        tried,
        {name: one for name, one in settings.items() if name not in varied},
        *_decided(tried, p),
    )


def _own(loaded: LoadedTable, key: CellKey) -> Measured:
    """The cell with the table's own settings: as measured, else as in the baseline."""
    own = loaded.report.family[key] if key in loaded.report.family else loaded.report.cells[key]
    return own if own.values else loaded.blessed.get(key, own)


def _compared(values: Candidate, cell: Measured) -> Tried:
    """How a value stands to the print. What few trials leave open is not reached yet: it is, if as
    many trials as the paper ran would show no difference from a mean like theirs."""
    assert cell.printed is not None
    least = min(LEAST, cell.runs)
    if not cell.values and cell.statuses.get("diverged", 0) >= least:
        return Tried(values, cell, "differs")
    if cell.n < least or cell.mean is None:
        return Tried(values, cell, "not measured", 1.0)
    if equal_as_printed(cell.mean, cell.printed.text):
        return Tried(values, cell, "reaches", 1.0)
    if must_be_equal(cell):
        return Tried(values, cell, "differs")
    pair = samples(cell)
    if pair is None:
        return Tried(values, cell, "open", 1.0)
    ours, theirs = pair
    p = welch_test(ours, theirs)
    if p < ALPHA:
        return Tried(values, cell, "differs", p)
    whole = replace(ours, n=max(ours.n, cell.runs))
    return Tried(values, cell, "reaches" if welch_test(whole, theirs) >= ALPHA else "open", p)


def _decided(tried: Sequence[Tried], p: float) -> tuple[Reachability, tuple[Tried, ...]]:
    """The outcome of a cell, and the values it speaks of, the nearest to the print first."""
    nearest = sorted(tried, key=lambda one: one.miss)
    reaching = tuple(one for one in nearest if one.standing == "reaches")
    if reaching:
        return "reachable", reaching
    unsettled = tuple(one for one in nearest if one.standing in ("open", "not measured"))
    if unsettled or p >= ALPHA:
        return "not decided", unsettled or (max(nearest, key=lambda one: one.p),)
    around = _around(tried)
    return ("between values", around) if around else ("unreachable", tuple(nearest[:1]))


def _around(tried: Sequence[Tried]) -> tuple[Tried, ...]:
    """The nearest values below and above the print, of the same settings varied; none where it lies
    on one side of all, or where values are no numbers and so have nothing between them."""
    for names in dict.fromkeys(tuple(one.values) for one in tried):
        same = [
            (one, one.cell.difference)
            for one in sorted(tried, key=lambda one: one.miss)
            if tuple(one.values) == names
            if all(type(value) in (int, float) for value in one.values.values())
        ]
        below = [one for one, difference in same if difference is not None and difference < 0]
        above = [one for one, difference in same if difference is not None and difference > 0]
        if below and above:
            return below[0], above[0]
    return ()
