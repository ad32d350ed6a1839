"""The rows of a table that are a user's own: how files of a table are loaded, once per process, and
what is known of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from okbench import datasets
from okbench.datasets.catalogue.dataset_catalogue import is_known, spec
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.label_values import largest_class, squared_deviations
from okbench.datasets.user.large_file import read_rows
from okbench.datasets.user.user_rows import UserRows, as_read
from okbench.papers.table_types import RowsFile, Table
from okbench.protocols.metrics import METRICS

_read: dict[RowsFile, UserRows] = {}


@dataclass(frozen=True)
class TableRows:
    """Loads the rows of a table: those of its own files, and the datasets of okbench."""

    files: tuple[tuple[str, RowsFile], ...]

    def __call__(self, name: str, variant: str = "") -> Dataset:
        file = dict(self.files).get(name)
        if file is None:
            return datasets.load(name, variant)
        return replace(read_once(file).dataset, name=name)

    def missing(self, name: str, variant: str = "") -> str | None:
        """Why the rows are not here; None for a file of the table, which is read and checked."""
        return None if name in dict(self.files) else datasets.missing(name, variant)


def rows_of(table: Table) -> TableRows | None:
    """What loads the rows of a table with files of its own; None for all other tables."""
    files = tuple((row.name, row.file) for row in table.datasets if row.file)
    return TableRows(files) if files else None


def load_of(table: Table) -> Callable[[str, str], Dataset]:
    """What loads the rows of a table."""
    return rows_of(table) or datasets.load


def missing_of(table: Table) -> Callable[[str, str], str | None]:
    """What says why rows of a table are not here."""
    own = rows_of(table)
    return own.missing if own else datasets.missing


def read_once(file: RowsFile) -> UserRows:
    """The rows of a file. The scale that was chosen for them names the same rows."""
    if file not in _read:
        found = read_rows(file)
        _read[file] = _read[as_read(file, found)] = found
    return _read[file]


def with_rows_in_hand(table: Table) -> Table:
    """The table with the fingerprints of its own rows as they are now, whose outcomes alone count,
    and with the metric of always giving the same answer."""
    rows = []
    for row in table.datasets:
        if row.file is not None:
            found = read_once(row.file).dataset
            chance = chance_of(found, table.protocol.metric)
            row = replace(row, fingerprint=found.fingerprint, chance=chance)
        rows.append(row)
    return replace(table, datasets=tuple(rows))


def with_chance_of_added(table: Table) -> Table:
    """The table with the metric of always giving the same answer on datasets that the user added,
    as far as their rows are here."""
    rows = []
    for row in table.datasets:
        added = row.file is None and is_known(row.name) and spec(row.name).user_defined
        if added and datasets.missing(row.name, row.variant) is None:
            chance = chance_of(datasets.load(row.name, row.variant), table.protocol.metric)
            row = replace(row, chance=chance)
        rows.append(row)
    return replace(table, datasets=tuple(rows))


def chance_of(dataset: Dataset, metric: str) -> float | None:
    """The metric of always giving the same answer to the rows that are scored: the most frequent
    class, or the mean. None for a metric that scores no answers, or weighs them."""
    scored, how = dataset.y[dataset.n_train or 0 :], METRICS[metric]
    if how.answer != "prediction" or how.forgetting:
        return None
    if dataset.task == "regression":
        total = squared_deviations(scored)
    else:
        total = float(len(scored) - largest_class(scored))
    return how.value(total, len(scored))
