"""What a results folder holds, table by table, read and reckoned for the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from okbench.base.errors import UsageError
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_types import DatasetRow, LearnerColumn, Protocol, Table
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.reports.figures.convergence import convergence
from okbench.reports.figures.figure_data import Picture, picture
from okbench.reports.load import stored
from okbench.reports.results_paths import BASELINES, results_files
from okbench.reports.tables.cells import Expected
from okbench.reports.tables.complexity import Complexity, complexity
from okbench.reports.tables.grouping import grouped
from okbench.reports.tables.report import MACHINE_UNKNOWN, Report, report
from okbench.trials.plan.available import registered
from okbench.trials.plan.options import Options
from okbench.trials.run.environment import machine_line
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import recall
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

Environments = Mapping[str, Mapping[str, Any]]
_EVERYTHING = Options()


@dataclass(frozen=True)
class TableView:
    """A results file as a page shows it: a table's report, its picture (of convergence, or of a
    sweep), or fitted orders. `environments` are those of counted outcomes, with how many each has;
    `notes` say what a reader must know besides.
    """

    table: Table
    path: Path
    counted: int
    stored: int
    latest: str
    environments: Environments
    shares: Mapping[str, int]
    report: Report | None = None
    picture: Picture | None = None
    orders: Complexity | None = None
    notes: tuple[str, ...] = ()


def exhibits(results: Path, tables: Sequence[Table] = ()) -> list[TableView]:
    """The exhibits of these tables, or of every results file in the folder."""
    files = results_files(results)
    if tables:
        absent = [table.name for table in tables if table.trials_of not in files]
        if absent:
            raise UsageError(f"nothing of {absent[0]} in {results}  (okbench run {absent[0]})")
        once = {table.name: table for table in tables}
        return [_exhibit(results, table.trials_of, table) for table in once.values()]
    known = {card.name for card in names()}
    return [
        _exhibit(results, name, find(name) if name in known else None) for name in sorted(files)
    ]


def _exhibit(results: Path, name: str, table: Table | None) -> TableView:
    path = Store.of(results, name).path
    contents = Store(path).read()
    if table is None:
        note = "No table of this name is known here: everything in its file is shown as it stands."
        return _as_stored(name, path, contents, note)
    try:
        return _as_configured(results, table, path, contents)
    except UsageError as error:
        return _as_stored(name, path, contents, f"Shown as it stands in its file: {error}")


def _as_configured(results: Path, table: Table, path: Path, contents: Contents) -> TableView:
    """A table with its own cells, beside what its paper prints."""
    here, absent = registered(table)
    timed = True if table.kind == "complexity" else None
    outcomes = contents.standing(timed)
    expected = recall(here, outcomes.values(), _EVERYTHING)
    notes = (f"Not here: {', '.join(absent)}.",) if absent else ()
    found = _bare(here, path, contents, outcomes, expected, notes)
    if table.kind == "complexity":
        machines = sorted(_machines(found))
        return replace(found, orders=complexity(here, outcomes, expected, absent, machines))
    datasets = list(dict.fromkeys(dataset for dataset, _ in expected))
    if table.kind == "sweep":
        shown = picture(here, outcomes, expected, datasets, sorted(_machines(found)))
        return replace(found, picture=shown)
    baselines = None if results.resolve() == BASELINES.resolve() else BASELINES
    measured = stored(replace(here, name=table.trials_of), results, _EVERYTHING, baselines)
    return replace(
        found,
        report=replace(measured, table=table.name),
        picture=picture(convergence(here), outcomes, expected, datasets),
    )


def _as_stored(name: str, path: Path, contents: Contents, note: str) -> TableView:
    """A table made of what a file holds: its datasets, and its learners by settings if they differ
    in them."""
    outcomes = contents.standing()
    groups = grouped(outcomes.values())
    first = next((group[0].trial for group in groups.values()), None)
    metric = first.metric if first else default_metric("binary").name
    kind = first.protocol if first else SINGLE_PASS.name
    alike = {
        key: group
        for key, group in groups.items()
        if (group[0].trial.metric, group[0].trial.protocol) == (metric, kind)
    }
    datasets = tuple(dict.fromkeys(dataset for dataset, _ in alike))
    learners = tuple(dict.fromkeys(learner for _, learner in alike))
    table = Table(
        name=name,
        title=name,
        paper="",
        protocol=Protocol(kind, metric, runs=max(map(len, alike.values()), default=0)),
        datasets=tuple(map(DatasetRow, datasets)),
        learners=tuple(LearnerColumn(label, label) for label in learners),
        settings={},
    )
    expected = {
        key: tuple(o.trial.id for o in sorted(group, key=lambda o: o.trial.repetition))
        for key, group in alike.items()
    }
    found = _bare(table, path, contents, outcomes, expected, (note,))
    return replace(
        found,
        report=report(
            table,
            outcomes,
            expected,
            {hash_: machine_line(record) for hash_, record in contents.environments.items()},
            disputed=len(contents.disputed()),
        ),
        picture=picture(convergence(table), outcomes, expected, datasets),
    )


def _bare(
    table: Table,
    path: Path,
    contents: Contents,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
    notes: tuple[str, ...],
) -> TableView:
    counted = [outcomes[id_] for ids in expected.values() for id_ in ids if id_ in outcomes]
    shares = Counter(outcome.environment for outcome in counted)
    known = contents.environments
    return TableView(
        table,
        path,
        counted=len(counted),
        stored=len(outcomes),
        latest=max((outcome.finished for outcome in counted), default=""),
        environments={hash_: known.get(hash_, {}) for hash_ in sorted(shares)},
        shares=shares,
        notes=(*notes, *_blessing(contents.blessed)),
    )


def _blessing(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What the header of a baseline says of it."""
    if not header:
        return ()
    return (f"A baseline of {header.get('date', 'no date')}: {header.get('reason', 'no reason')}.",)


def _machines(found: TableView) -> set[str]:
    return {
        machine_line(record) if record else MACHINE_UNKNOWN
        for record in found.environments.values()
    }
