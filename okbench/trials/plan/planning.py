"""From a table to its trials. Pure: nothing is run, nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest
from typing import Any

from okbench.base.errors import ConfigError, DataError, UsageError, did_you_mean
from okbench.datasets.catalogue.dataset_catalogue import is_known, spec
from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import (
    Entry,
    NotAllowed,
    constructed,
    find,
    is_allowed,
    is_ours,
    settings_of,
)
from okbench.papers.table_types import DatasetRow, LearnerColumn, Table
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS, other_kinds
from okbench.trials.plan.cells import Cell, chosen_cells, repetitions_of, row_key
from okbench.trials.plan.options import Options
from okbench.trials.plan.resolve_settings import resolve_settings
from okbench.trials.plan.seeds import published_orders
from okbench.trials.store.plans import CellPlan
from okbench.trials.trial_types import Outcome, Settings, Trial

Load = Callable[[str, str], Dataset]

_ALL = Options()


def plan(
    table: Table, load: Load, options: Options = _ALL, cells: Sequence[Cell] | None = None
) -> list[Trial]:
    """The trials of a table, repetitions outermost: a run cut short has every cell partly filled.

    `load(name, variant)` gives prepared rows. `cells` are those of `chosen_cells`, or some of them.
    """
    return in_rounds(trials_by_cell(table, load, options, cells))


def in_rounds(cells: Mapping[tuple[str, str], Sequence[Trial]]) -> list[Trial]:
    """The trials of cells, every trial once: the first of each cell, then the second of each."""
    rounds = chain.from_iterable(zip_longest(*cells.values()))
    return list({trial.id: trial for trial in rounds if trial}.values())


def trials_by_cell(
    table: Table, load: Load, options: Options = _ALL, cells: Sequence[Cell] | None = None
) -> Mapping[tuple[str, str], tuple[Trial, ...]]:
    """The trials behind each cell, by dataset (`name` or `name:variant`) and learner label."""
    chosen = chosen_cells(table, options) if cells is None else cells
    refuse_not_allowed(column for _, column in chosen)
    _refuse_untaken(table)
    return {
        (row_key(table, row), column.label): _trials(table, row, column, load, options)
        for row, column in chosen
    }


def refuse_not_allowed(columns: Iterable[LearnerColumn]) -> None:
    """Refuse user-defined learners that may not be imported, all of them in one message."""
    refused = []
    for column in columns:
        with named_in(column.where):
            refused += [] if is_allowed(column.learner) else [column]
    if refused:
        raise NotAllowed([column.learner for column in refused], refused[0].where)


def refuse_invalid_settings(table: Table, options: Options) -> None:
    """Refuse values that a learner of okbench does not take, before any trial runs. A user-defined
    learner refuses them in its trials, because making one here would run its code."""
    cells = chosen_cells(table, options)
    refuse_not_allowed(column for _, column in cells)
    for row, column in cells:
        entry, cls = _learner_of(column)
        if is_ours(entry) and hasattr(cls, "check_settings"):
            settings = _settings_of_cell(table, row, column, cls)
            with named_in(_place(table, column)):
                constructed(cls, dict(settings)).check_settings()


def cell_plans(
    table: Table, cells: Sequence[Cell], planned: Mapping[tuple[str, str], Sequence[Trial]]
) -> list[CellPlan]:
    """What a results file must say of these cells, so that reports need no learner to read it."""
    return [
        _cell_plan(table, row, column, planned[row_key(table, row), column.label][0])
        for row, column in cells
    ]


def _cell_plan(table: Table, row: DatasetRow, column: LearnerColumn, trial: Trial) -> CellPlan:
    takes = frozenset(settings_of(_learner_of(column)[1]))
    given = takes & table.settings.get((row.name, column.label), {}).keys()
    return CellPlan(table.trials_of, column.label, trial.repeated(0), given, takes)


def remaining(trials: list[Trial], known: Mapping[str, Outcome], options: Options) -> list[Trial]:
    """The trials still to run, given what is known: only what was interrupted is tried again
    unasked. `known` comes from `Store.outcomes`, of timed outcomes alone when timing."""
    if options.again:
        return list(trials)
    tried_again = options.retry | {"interrupted"}
    return [t for t in trials if t.id not in known or known[t.id].status in tried_again]


def first_trial(
    table: Table, row: DatasetRow, column: LearnerColumn, options: Options, fingerprint: str
) -> Trial:
    """The first repetition of a cell, on the rows of that fingerprint; needs no rows."""
    entry, cls = _learner_of(column)
    protocol = table.protocol
    return Trial(
        dataset=row.name,
        variant=row.variant,
        fingerprint=fingerprint,
        learner=entry.name,
        learner_version=version_of(entry, cls),
        settings=_settings_of_cell(table, row, column, cls),
        protocol=protocol.kind,
        metric=protocol.metric,
        repetition=0,
        order=table.orders_of(row),
        seed=options.seed,
        **PROTOCOLS[protocol.kind].details(protocol, column),
    )


def _settings_of_cell(table: Table, row: DatasetRow, column: LearnerColumn, cls: type) -> Settings:
    given = table.settings.get((row.name, column.label), {})
    return resolve_settings(cls, column.label, given, _place(table, column))


def _place(table: Table, column: LearnerColumn) -> str:
    """Where a message says that a learner of a table stands."""
    return column.where or table.where or table.name


def _trials(
    table: Table, row: DatasetRow, column: LearnerColumn, load: Load, options: Options
) -> tuple[Trial, ...]:
    with named_in(row.where):
        refuse_second_spelling(row)
        dataset = load(row.name, row.variant)
    repetitions = repetitions_of(table, options, column.label)
    _refuse_mismatch(table, row, column, dataset)
    first = first_trial(table, row, column, options, dataset.fingerprint)
    if first.order == "published":
        published_orders(dataset, max(repetitions) + 1)
    return tuple(first.repeated(repetition) for repetition in repetitions)


def refuse_second_spelling(row: DatasetRow) -> None:
    """Refuse rows that other tables write differently: the name of a dataset and of its variant
    decides the permutations, so that the same rows would not be compared on the same ones."""
    if row.file is not None or not is_known(row.name):
        return
    entry = spec(row.name)
    default = next(iter(entry.variants))
    variant = row.variant or default
    if variant == default and not entry.default_named:
        variant = ""
    if (entry.name, variant) != (row.name, row.variant):
        usual = f"{entry.name}: {{variant: {variant}}}" if variant else f"{entry.name}: {{}}"
        raise UsageError(
            f"these rows are written '{usual}' in all tables; a different name would give the same "
            "rows different permutations"
        )


@contextmanager
def named_in(where: str) -> Iterator[None]:
    """Say where a name stands that means nothing: `where` is file:line, empty if in none."""
    try:
        yield
    except ConfigError:
        raise
    except UsageError as error:
        raise ConfigError(f"{where}: {error}" if where else str(error)) from error


def _learner_of(column: LearnerColumn) -> tuple[Entry, type]:
    """The learner behind a column, and its class."""
    with named_in(column.where):
        entry = find(column.learner)
        return entry, entry.load()


def version_of(entry: Entry, cls: type) -> int:
    """The version that a class states, or its entry."""
    version: Any = getattr(cls, "version", entry.version)
    if type(version) not in (int, float, str):  # what else there is may not outlive a line of JSON
        raise UsageError(
            f"{entry.name}: its version is {version!r}; it must be a whole number, raised when "
            "outcomes change"
        )
    return version


def _refuse_untaken(table: Table) -> None:
    """Refuse a setting of a table or a dataset that no learner of the table takes, and that no
    other setting is computed from: it is misspelled."""
    if {label for _, label in table.settings} - {column.label for column in table.learners}:
        return  # a learner was taken out, and it may be the one that takes the setting
    try:
        taken = {
            name for column in table.learners for name in settings_of(find(column.learner).load())
        }
    except UsageError:  # of a learner that is not here nothing is known
        return
    items = [item for settings in table.settings.values() for item in settings.items()]
    referred = {name for name, setting in items if setting.referred}
    for name, setting in items:
        if setting.shared and name not in taken | referred:
            raise ConfigError(
                f"{setting.where or table.where or table.name}: no learner of {table.name} has a "
                f"setting '{name}'.{did_you_mean(name, taken)} Their settings: "
                f"{', '.join(sorted(taken))}"
            )


def _refuse_mismatch(
    table: Table, row: DatasetRow, column: LearnerColumn, dataset: Dataset
) -> None:
    """Refuse a learner, a metric or a protocol that does not go with the rows."""
    entry, cls = _learner_of(column)
    tasks = getattr(cls, "tasks", entry.tasks)
    protocol, where = table.protocol, row.where or table.where or table.name
    if dataset.task not in tasks:
        raise UsageError(
            f"{table.name}: {column.label} does not do {dataset.task}, and {row.name} is that; "
            f"it does {', '.join(tasks)}. Leave the cell out, or name other learners"
        )
    kind, metric = PROTOCOLS[protocol.kind], METRICS[protocol.metric]
    if kind.role_of(cls) is None:
        raise ConfigError(
            f"{column.where or column.label}: {column.learner} {kind.lack}{other_kinds(kind, cls)}"
        )
    if dataset.task not in metric.tasks:
        raise ConfigError(f"{where}: {metric.name} does not score {row.name} ({dataset.task})")
    if kind.needs_test_rows and not 0 < (dataset.n_train or 0) < dataset.n_rows:
        raise DataError(f"{where}: {row.name} comes in one part; {kind.name} needs test rows")
    if kind.key and not all(value > 0 for value in kind.details(protocol, column).values()):
        raise ConfigError(f"{table.where or table.name}: {kind.name} needs {kind.key.needs}")
