"""What a results folder holds, table by table, loaded and computed for the pages."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from okbench.base.errors import UsageError
from okbench.papers.commands import run_command
from okbench.papers.table_catalogue import find, names, own_tables
from okbench.papers.table_types import DatasetRow, LearnerColumn, Protocol, Table
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.reports.figures.figure_data import Picture, picture_of
from okbench.reports.load import LoadedTable, load_table
from okbench.reports.results_paths import BASELINES, results_files
from okbench.reports.tables.complexity import Complexity, growth_of
from okbench.reports.tables.grouping import grouped
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import Versions
from okbench.trials.store.results_file import Contents

Environments = Mapping[str, Mapping[str, Any]]
_EVERYTHING = Options()


@dataclass(frozen=True)
class TableView:
    """A results file as a page shows it: a table's report, its picture (of convergence, or of a
    sweep), or fitted orders. `environments` are those of counted outcomes, with how many each has;
    `notes` say what a reader must know besides; `loaded` has the trials behind all of it, and
    `configs` the files that describe the table: its own, and those of settings by their name.
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
    loaded: LoadedTable | None = None
    configs: Mapping[str, Path] = field(default_factory=dict)


def table_views(
    results: Path, tables: Sequence[Table] = (), versions: Versions | None = None
) -> Iterator[TableView]:
    """These tables, or every results file in the folder, one after the other: each file is read
    once, and let go before the next is read. What cannot be shown is refused before the first.
    """
    files = results_files(results)
    if tables:
        absent = [table for table in tables if table.trials_of not in files]
        if absent:
            raise UsageError(
                f"nothing of {absent[0].name} in {results}  ({run_command(absent[0])})"
            )
    known = {*(card.name for card in names()), *own_tables(results)}
    asked: dict[str, tuple[str, Table | None]] = {
        table.name: (table.trials_of, table) for table in tables
    } or {
        name: (name, find(name, results=results) if name in known else None)
        for name in sorted(files)
    }
    if not asked:
        raise UsageError(f"nothing is measured yet: no results in {results}  (okbench run demo)")
    return _views(results, list(asked.values()), versions)


def _views(
    results: Path, asked: Sequence[tuple[str, Table | None]], versions: Versions | None
) -> Iterator[TableView]:
    for file in dict.fromkeys(name for name, _ in asked):
        contents = Store.of(results, file).read()
        for name, table in asked:
            if name == file:
                yield _view(results, name, table, contents, versions)


def _view(
    results: Path,
    name: str,
    table: Table | None,
    contents: Contents,
    versions: Versions | None,
) -> TableView:
    path = Store.of(results, name).path
    if table is None:
        note = "No table of this name is known here: everything in its file is shown as it stands."
        return _as_stored(name, path, contents, note)
    baselines = None if results.resolve() == BASELINES.resolve() else BASELINES
    loaded = load_table(table, results, _EVERYTHING, baselines, versions, contents)
    return _as_configured(path, loaded)


def _as_configured(path: Path, loaded: LoadedTable) -> TableView:
    """A table with its own cells, beside what its paper prints."""
    absent = loaded.absent
    found = _bare(path, loaded, (f"Not here: {', '.join(absent)}.",) if absent else ())
    if loaded.table.kind == "complexity":
        return replace(found, orders=growth_of(loaded))
    if loaded.table.kind in ("sweep", "contours"):
        return replace(found, picture=picture_of(loaded))
    return replace(found, report=loaded.report, picture=picture_of(loaded, converging=True))


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
    loaded = LoadedTable(table, _EVERYTHING, contents, outcomes, expected, expected)
    found = _bare(path, loaded, (note,))
    return replace(found, report=loaded.report, picture=picture_of(loaded, converging=True))


def _bare(path: Path, loaded: LoadedTable, notes: tuple[str, ...]) -> TableView:
    shares = Counter(outcome.environment for outcome in loaded.counted)
    known = loaded.contents.environments
    return TableView(
        loaded.table,
        path,
        counted=len(loaded.counted),
        stored=len(loaded.outcomes),
        latest=max((outcome.finished for outcome in loaded.counted), default=""),
        environments={hash_: known.get(hash_, {}) for hash_ in sorted(shares)},
        shares=shares,
        notes=(*notes, *_blessing(loaded.contents.blessed)),
        loaded=loaded,
        configs=_configs(loaded.table),
    )


def _configs(table: Table) -> dict[str, Path]:
    """The file of a table, and the files of settings beside it by what their name adds."""
    path = Path(table.where.rpartition(":")[0])
    if not path.is_file():
        return {}
    overlays = {
        one.name.removeprefix(f"{path.stem}.").removesuffix(".yaml"): one
        for one in sorted(path.parent.glob(f"{glob.escape(path.stem)}.*.yaml"))
    }
    return {"": path, **overlays}


def _blessing(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What the header of a baseline says of it."""
    if not header:
        return ()
    return (f"A baseline of {header.get('date', 'no date')}: {header.get('reason', 'no reason')}.",)
