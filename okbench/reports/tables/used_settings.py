"""What stands under a table that a user made: the settings of each learner, with where they come
from, and the learners that do no better than a constant answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from okbench.papers.provenance import OPEN, basis_of
from okbench.papers.table_types import DatasetRow, LearnerColumn, Setting, Table
from okbench.papers.values import spelled
from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.tables.cells import Cell, CellKey, Expected
from okbench.trials.plan.cells import row_key
from okbench.trials.trial_types import Outcome, Settings

_ON_ROWS = re.compile(r" on (\d+) rows")  # as `okbench tune` writes the reason
_SCALES = {
    "none": "are not scaled",
    "standard": "have mean 0 and deviation 1 on a sample of the rows",
    "[0,1]": "go from 0 to 1 on a sample of the rows",
    "running standard": "have mean 0 and deviation 1 over the rows so far",
    "running [0,1]": "go from 0 to 1 over the rows so far",
}


def settings_notes(
    table: Table, outcomes: Mapping[str, Outcome], expected: Expected
) -> tuple[str, ...]:
    """A sentence per learner of a user's own rows, and per learner that was added to a table."""
    notes = [
        f"Columns of {row.name} {_SCALES[row.file.scale]}."
        for row in table.datasets
        if row.file and row.file.scale
    ]
    for column in table.learners:
        by_words: dict[str, list[str]] = {}
        for row in table.datasets:
            if (row.file or column.added) and (
                used := _used(table, row, column, outcomes, expected)
            ):
                by_words.setdefault(used, []).append(row.name)
        for words, rows in by_words.items():
            where = f" on {', '.join(rows)}" if len(table.datasets) > 1 else ""
            notes.append(f"Settings of {column.label}{where}: {words}.")
    return (*notes, *_searched_on(table))


def _searched_on(table: Table) -> Iterator[str]:
    """That the rows of a search are evaluated too, as a reader of a comparison must know."""
    own = {row.name for row in table.datasets if row.file}
    reasons = [
        setting.reason
        for (dataset, _), settings in table.settings.items()
        if dataset in own
        for setting in settings.values()
        if setting.source == "tuned"
    ]
    counts = {int(found[1]) for reason in reasons if (found := _ON_ROWS.search(reason))}
    if counts:
        yield (
            f"searched: the best on a sample of {max(counts):,} rows, which are among the rows of"
            " this table."
        )


def chance_warnings(table: Table, cells: Mapping[CellKey, Cell]) -> tuple[str, ...]:
    """The cells that are not better than always the same answer: their settings may be wrong."""
    return tuple(_warnings(table, cells))


def _warnings(table: Table, cells: Mapping[CellKey, Cell]) -> Iterator[str]:
    metric = METRICS[table.protocol.metric]
    for row in table.datasets:
        if row.chance is None:
            continue
        answer = "the mean" if "regression" in metric.tasks else "the most frequent class"
        poor = [
            cell
            for column in table.learners
            if (cell := cells[row_key(table, row), column.label]).mean is not None
            if not _is_better(cell.mean, row.chance, metric.lower_is_better)
        ]
        if poor:
            listed = ", ".join(cell.learner for cell in poor)
            chance = numbers.of_cell(poor[0], row.chance).partition(" ±")[0]
            yield (
                f"Warning: on {row.name} {listed} {'is' if len(poor) == 1 else 'are'} not better"
                f" than always answering {answer} ({chance}). Other settings may help, or other"
                " columns."
            )


def _is_better(mean: float, chance: float, lower: bool) -> bool:
    return mean < chance if lower else mean > chance


def _used(
    table: Table,
    row: DatasetRow,
    column: LearnerColumn,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
) -> str:
    ids = expected.get((row_key(table, row), column.label), ())
    found = next((outcomes[id_].trial.settings for id_ in ids if id_ in outcomes), None)
    given = table.settings.get((row.name, column.label), {})
    return ", ".join(_words(found, given)) if found else ""


def _words(found: Settings, given: Mapping[str, Setting]) -> Iterable[str]:
    for name, value in found:
        source = given[name].source if name in given else "printed"
        words = f"{name} {value:g}" if isinstance(value, float) else f"{name} {spelled(value)}"
        edge = (
            ", at the edge of its range" if name in given and "edge" in given[name].reason else ""
        )
        yield f"{words} ({basis_of(source)}{edge})" if source in OPEN else words
