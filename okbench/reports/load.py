"""From a results folder to a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from okbench.papers.table_types import Table
from okbench.reports.results_paths import BASELINES
from okbench.reports.tables.cells import Cell, CellKey, cells
from okbench.reports.tables.report import Report, report
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import narrowed
from okbench.trials.run.environment import machine_line
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import recall


def stored(
    table: Table, results: Path, options: Options, baselines: Path | None = BASELINES
) -> Report:
    """The report of a table from what a results folder holds of it, beside its baseline if there
    is one.
    """
    contents = Store.of(results, table.trials_of).read(curves=False)
    outcomes = contents.standing()
    everything = replace(options, datasets=None, learners=None)
    expected = recall(table, outcomes.values(), everything)
    expected |= recall(table, outcomes.values(), options)
    counted = {id_ for ids in expected.values() for id_ in ids}
    machines = {hash_: machine_line(record) for hash_, record in contents.environments.items()}
    return report(
        narrowed(table, options),
        outcomes,
        expected,
        machines,
        blessed=_blessed(table, baselines, options) if baselines else None,
        disputed=sum(id_ in counted for id_ in contents.disputed()),
    )


def _blessed(table: Table, baselines: Path, options: Options) -> dict[CellKey, Cell]:
    contents = Store.of(baselines, table.trials_of).read(curves=False)
    if contents.blessed.get("table") != table.trials_of:
        return {}
    outcomes = contents.standing()
    found = cells(table, outcomes, recall(table, outcomes.values(), options))
    return {(cell.dataset, cell.learner): cell for cell in found}
