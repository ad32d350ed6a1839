"""A table with all that was measured of it: read once, and handed to every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from okbench.papers.table_types import Setting, Table
from okbench.papers.values import Value
from okbench.reports.results_paths import BASELINES
from okbench.reports.tables.cells import Cell, CellKey, Expected, cells, outdated_notes
from okbench.reports.tables.report import MACHINE_UNKNOWN, Report, report
from okbench.trials.plan.available import registered
from okbench.trials.plan.cells import chosen_cells, narrowed, row_key
from okbench.trials.plan.options import Options
from okbench.trials.run.environment import machine_line
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import Versions, recall
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

_EVERYTHING = Options()


@dataclass(frozen=True)
class LoadedTable:
    """A table, what its results file holds, and which outcomes belong in which of its cells.

    `table` is whole; `absent` are its learners that are neither installed nor measured, which it
    has no more. `expected` are the ids of the trials of every cell, `asked` those of the cells that
    the options ask for, `others` those of the same cells with the settings of each alternative.
    `blessed` are the cells of the baseline, `versions` those of the installed
    learners, None where they are not known.
    """

    table: Table
    options: Options
    contents: Contents
    outcomes: Mapping[str, Outcome]
    expected: Expected
    asked: Expected
    blessed: Mapping[CellKey, Cell] = field(default_factory=dict)
    versions: Versions | None = None
    absent: tuple[str, ...] = ()
    others: Mapping[str, Expected] = field(default_factory=dict)

    @cached_property
    def report(self) -> Report:
        """The cells asked for, beside what the paper prints."""
        shown = narrowed(self.table, self.options)
        whole = cells(self.table, self.outcomes, self.expected, self.versions)
        is_whole = (shown.datasets, shown.learners) == (self.table.datasets, self.table.learners)
        return report(
            shown,
            self.outcomes,
            self.expected,
            self._machine_lines,
            blessed=self.blessed,
            disputed=len(self.contents.disputed().keys() & self._counted_ids),
            versions=self.versions,
            absent=self.absent,
            family={(cell.dataset, cell.learner): cell for cell in whole},
            alternatives={name: self._with_others(shown, name) for name in self.others},
            also_counted=self._counted_ids,
            known_cells=whole if is_whole else None,
        )

    def _with_others(self, shown: Table, name: str) -> dict[CellKey, Cell]:
        """The cells shown that an alternative names, as far as they are measured with it."""
        ids = {key: found for key, found in self.others[name].items() if found}
        settings = {**self.table.settings, **self.table.alternatives[name]}
        found = cells(replace(shown, settings=settings), self.outcomes, ids, self.versions)
        keyed = {(cell.dataset, cell.learner): cell for cell in found}
        return {key: cell for key, cell in keyed.items() if key in ids and cell.values}

    @cached_property
    def counted(self) -> tuple[Outcome, ...]:
        """The outcomes of the cells asked for."""
        known = self.outcomes
        return tuple(known[id_] for ids in self.asked.values() for id_ in ids if id_ in known)

    @cached_property
    def machines(self) -> tuple[str, ...]:
        """The machines that measured them."""
        hashes = {outcome.environment for outcome in self.counted}
        return tuple(sorted({self._machine_lines.get(one, MACHINE_UNKNOWN) for one in hashes}))

    @property
    def datasets(self) -> list[str]:
        """The datasets of the cells asked for."""
        return list(dict.fromkeys(dataset for dataset, _ in self.asked))

    @property
    def outdated(self) -> tuple[str, ...]:
        """What a reader must know of learners that are not installed as they were measured."""
        return outdated_notes(self.report.cells.values())

    @cached_property
    def _machine_lines(self) -> Mapping[str, str]:
        found = self.contents.environments
        return {hash_: machine_line(record) for hash_, record in found.items()}

    @cached_property
    def _counted_ids(self) -> frozenset[str]:
        counted = (
            *self.expected.values(),
            *(ids for one in self.others.values() for ids in one.values()),
        )
        return frozenset(id_ for ids in counted for id_ in ids)


def load_table(
    table: Table,
    results: Path,
    options: Options = _EVERYTHING,
    baselines: Path | None = BASELINES,
    versions: Versions | None = None,
    contents: Contents | None = None,
) -> LoadedTable:
    """A table from what a results folder holds of it, beside its baseline if there is one.

    `contents` are those of its file, if they were read before. Orders of growth are a matter of
    seconds: there only what was timed alone counts.
    """
    path = Store.of(results, table.trials_of).path
    if contents is None:
        curves = table.kind in ("curves", "complexity") or bool(table.shown.margin)
        contents = Store(path).read(curves=curves)
    baseline = None
    if baselines:
        blessed = Store.of(baselines, table.trials_of).path
        same = blessed.resolve() == path.resolve()
        baseline = contents if same else Store(blessed).read(curves=False)
    outcomes = contents.standing(timed=True if table.kind == "complexity" else None)
    here, absent = _measurable(table, outcomes, versions)
    asked = chosen_cells(here, options)
    whole = chosen_cells(here, replace(options, datasets=None, learners=None))
    every = recall(here, outcomes.values(), options, contents.plans, versions,
                   list(dict.fromkeys([*whole, *asked])))  # fmt: skip
    keys = [(row_key(here, row), column.label) for row, column in asked]
    return LoadedTable(
        here,
        options,
        contents,
        outcomes,
        every,
        {key: every[key] for key in keys},
        _blessed(here, baseline, options, versions) if baseline else {},
        versions,
        absent,
        _others(here, outcomes, contents, options, versions),
    )


def _others(
    table: Table,
    outcomes: Mapping[str, Outcome],
    contents: Contents,
    options: Options,
    versions: Versions | None,
) -> dict[str, Expected]:
    """The ids of the trials of the cells that each alternative names, where its settings differ."""
    found: dict[str, Expected] = {}
    for name, settings in table.alternatives.items():
        changed = replace(table, settings={**table.settings, **settings})
        picked = [
            (row, column)
            for row, column in chosen_cells(changed, options)
            if (key := (row.name, column.label)) in settings
            if _values(settings[key]) != _values(table.settings[key])
        ]
        found[name] = recall(changed, outcomes.values(), options, contents.plans, versions, picked)
    return found


def _values(settings: Mapping[str, Setting]) -> dict[str, Value]:
    return {name: one.value for name, one in settings.items()}


def _measurable(
    table: Table, outcomes: Mapping[str, Outcome], versions: Versions | None
) -> tuple[Table, tuple[str, ...]]:
    """The table with the learners that are installed or measured, and the labels of the others."""
    if versions is None:
        return table, ()
    return registered(table, {*versions, *(one.trial.learner for one in outcomes.values())})


def _blessed(
    table: Table, baseline: Contents, options: Options, versions: Versions | None
) -> dict[CellKey, Cell]:
    if baseline.blessed.get("table") != table.trials_of:
        return {}
    outcomes = baseline.standing()
    expected = recall(table, outcomes.values(), options, baseline.plans, versions)
    found = cells(table, outcomes, expected)
    return {(cell.dataset, cell.learner): cell for cell in found}
