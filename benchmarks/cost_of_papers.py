"""What all tables of the five papers would cost on all their datasets, from what is measured.

    python -m benchmarks.cost_of_papers [--results FOLDER]

A cell with outcomes in the results folder counts with their mean seconds. Any other cell is
extrapolated from a measured cell of its learner: one on the same dataset if there is one, else one
with the same task whose number of rows, and of values in a row, is nearest. It takes longer in
proportion to the rows (and to the training rows once more, for learners whose model grows with the
rows and for solvers that need all pairs of rows) and to the settings that the work grows with. A
learner without any measured cell counts with the seconds that its paper prints, or else like a
related learner. No trial counts with more than its time limit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Literal

from tabulate import tabulate

from okbench.datasets.catalogue.dataset_catalogue import spec, variant
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_types import DatasetRow, LearnerColumn, Table
from okbench.papers.values import Value
from okbench.reports.load import LoadedTable, load_table
from okbench.trials.plan.cells import chosen_cells, row_key, time_limit_of
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store

PRICE = 0.05  # USD for an hour of one core: an assumption

# Seconds grow with this power of the values of a row. The nearest cell has rows of a similar width,
# and the width says little of sparse rows: a power of 1 makes the errors larger.
VALUES_POWER = 0.0

Basis = Literal["measured", "extrapolated", "printed", "related", "unknown"]
_RAN = ("done", "timeout", "memory", "diverged")

# The rows that a model or a solver compares each row with grow with the rows.
QUADRATIC = frozenset({
    "Perceptron", "OGD", "Norma", "RBF", "OMKC", "OMKL", "OMKR", "LaplacianOGD", "IK-OGD-dual",
    "LIBSVM", "Laplacian-LIBSVM", "ChiSquare-LIBSVM", "IK-LIBSVM",
})  # fmt: skip

# Settings that the work of a row is in proportion to, where no paper states another order.
LINEAR = dict.fromkeys(("budget", "components", "partitionings", "particles", "epochs"), 1)

# Whose measured cells stand for a learner that has none.
RELATED = {
    "LaplacianOGD": "OGD",
    "LaplacianNOGD": "NOGD",
    "IK-OGD": "FOGD",
    "IK-OGD-dual": "OGD",
    "IK-SVM": "FOGD",
    "ChiSquare-SVM": "FOGD",
    "Laplacian-LIBSVM": "LIBSVM",
    "ChiSquare-LIBSVM": "LIBSVM",
    "IK-LIBSVM": "LIBSVM",
    "LIBLINEAR": "FOGD",
    "AdaRaker": "Raker",
    "FKL": "RRF-batch",
    "MultiRRF-V": "MultiRRF-A",
}

# Values that are not zero in a row, of sets with too many columns to be full (LIBSVM's pages).
FILLED = {"url": 116, "news20.binary": 455, "rcv1.binary": 73, "real-sim": 52}


@dataclass(frozen=True)
class Work:
    """What decides how long a trial takes: `values` are those of a row, `train` the rows that are
    learned."""

    learner: str
    dataset: str
    task: str
    rows: int
    train: int
    values: int
    settings: Mapping[str, Value | None]


@dataclass(frozen=True)
class Measured:
    work: Work
    seconds: float  # of a trial


@dataclass(frozen=True)
class Cost:
    """What one cell of a table takes. `seconds` are those of a trial, None if nothing is known."""

    table: str
    label: str
    work: Work
    trials: int
    seconds: float | None
    basis: Basis

    @property
    def hours(self) -> float:
        return self.trials * (self.seconds or 0.0) / 3600


def growth(
    work: Work, other: Work, powers: Mapping[str, int], of_values: float = VALUES_POWER
) -> float:
    """How many times as long as the other this work is expected to take."""
    rows = work.rows / other.rows
    if work.learner in QUADRATIC:
        rows *= work.train / other.train
    sizes = 1.0
    for name, power in powers.items():
        ours, theirs = work.settings.get(name), other.settings.get(name)
        if isinstance(ours, int | float) and isinstance(theirs, int | float) and theirs > 0:
            sizes *= (ours / theirs) ** power
    return rows * sizes * (work.values / other.values) ** of_values


def nearest(work: Work, measured: Iterable[Measured]) -> Measured | None:
    """The measured work on the same dataset, else with the same task and a shape like it."""

    def distance(one: Measured) -> tuple[bool, bool, float]:
        shapes = (one.work.rows / work.rows, one.work.values / work.values)
        apart = sum(abs(math.log(ratio)) for ratio in shapes)
        return one.work.dataset != work.dataset, one.work.task != work.task, apart

    return min(measured, key=distance, default=None)


def extrapolated(
    work: Work,
    measured: Iterable[Measured],
    powers: Mapping[str, int],
    of_values: float = VALUES_POWER,
) -> float | None:
    """The seconds of a trial of this work, from the measured work nearest to it."""
    found = nearest(work, measured)
    if found is None:
        return None
    return found.seconds * growth(work, found.work, powers, of_values)


class Known:
    """What the results folder says: the seconds of a trial of each measured cell."""

    def __init__(self, tables: Iterable[Table], results: Path) -> None:
        self.of_learner: dict[str, list[Measured]] = {}
        self.of_cell: dict[tuple[str, str, str], float] = {}
        self._bytes = self._outcomes = 0
        for table in tables:
            path = Store.of(results, table.name).path
            if path.is_file():
                self._take(load_table(table, results, Options(), None))
                self._bytes += path.stat().st_size

    @property
    def bytes_of_outcome(self) -> int:
        return round(self._bytes / self._outcomes) if self._outcomes else 0

    def _take(self, loaded: LoadedTable) -> None:
        self._outcomes += len(loaded.contents.measured)
        for row, column in chosen_cells(loaded.table, Options()):
            key = row_key(loaded.table, row), column.label
            found = [loaded.outcomes[id_] for id_ in loaded.expected[key] if id_ in loaded.outcomes]
            seconds = [one.seconds for one in found if one.seconds and one.status in _RAN]
            if seconds:
                work = work_of(loaded.table, row, column)
                self.of_cell[loaded.table.name, *key] = mean(seconds)
                self.of_learner.setdefault(work.learner, []).append(Measured(work, mean(seconds)))


def work_of(table: Table, row: DatasetRow, column: LearnerColumn) -> Work:
    """What decides how long a trial of a cell takes, from the YAML files alone."""
    entry = spec(row.name)
    prepared = variant(entry, row.variant)
    settings = table.settings.get((row.name, column.label), {})
    rows = row.rows or prepared.rows or 1
    parted = table.protocol.kind == "train-test"
    train = prepared.train or (prepared.split.train if prepared.split else None)
    return Work(
        column.learner,
        row.name,
        prepared.task,
        rows,
        train if parted and train else rows,
        FILLED.get(row.name, prepared.features or entry.features or 1),
        {name: setting.value for name, setting in settings.items()},
    )


def cost(table: Table, row: DatasetRow, column: LearnerColumn, known: Known) -> Cost:
    """What a cell takes, by the best that is known of it."""
    key = row_key(table, row), column.label
    work, powers = work_of(table, row, column), powers_of(column.learner)
    related = known.of_learner.get(RELATED.get(work.learner, ""), [])
    printed = table.printed.get(key)
    bases: tuple[tuple[Basis, float | None], ...] = (
        ("measured", known.of_cell.get((table.name, *key))),
        ("extrapolated", extrapolated(work, known.of_learner.get(work.learner, []), powers)),
        ("printed", printed.seconds if printed else None),
        ("related", extrapolated(work, related, powers)),
    )
    basis, seconds = next((one for one in bases if one[1] is not None), ("unknown", None))
    limit = time_limit_of(table, Options())
    return Cost(
        table.name,
        f"{column.label} on {key[0]}",
        work,
        table.runs_of(column.label),
        None if seconds is None else min(seconds, limit),
        basis,
    )


def powers_of(learner: str) -> Mapping[str, int]:
    """The settings that the work of a row grows with: as Lu et al. 2016 state them in Table 1, or
    each in proportion."""
    return _stated().get(learner, LINEAR)


@cache
def _stated() -> Mapping[str, Mapping[str, int]]:
    table = find("lsokl/table1")
    return {
        column.learner: table.stated[column.line].time
        for column in table.learners
        if column.line in table.stated
    }


def errors(known: Known, of_values: float = VALUES_POWER) -> list[float]:
    """How far off an extrapolation of every measured cell from another dataset is, as factors."""
    found = []
    for learner, cells in known.of_learner.items():
        for cell in cells:
            others = [other for other in cells if other.work.dataset != cell.work.dataset]
            guess = extrapolated(cell.work, others, powers_of(learner), of_values)
            if guess is not None:
                found.append(math.exp(abs(math.log(guess / cell.seconds))))
    return found


def files_of(tables: Iterable[Table]) -> dict[tuple[str, str], int | None]:
    """The bytes of every file that the datasets of the tables are read from, unpacked; None where
    the catalogue does not state them."""
    entries = [(spec(row.name), row.variant) for table in tables for row in table.datasets]
    return {
        (entry.name, file.key): file.content_bytes
        for entry, name in entries
        for file in entry.files_of(variant(entry, name))
    }


def bytes_of_rows(tables: Iterable[Table]) -> int:
    """The bytes of the rows of every dataset of the tables in memory: 8 for a value, and 12 for one
    of a set whose rows are sparse."""
    works = {
        (row.name, row.variant): work_of(table, row, table.learners[0])
        for table in tables
        for row in table.datasets
    }
    return sum(
        work.rows * work.values * (12 if work.dataset in FILLED else 8) for work in works.values()
    )


def page(tables: Sequence[Table], results: Path) -> str:
    """The tables of docs/scale.md."""
    known = Known(tables, results)
    costs = [
        cost(table, row, column, known)
        for table in tables
        for row, column in chosen_cells(table, Options())
    ]
    return "\n\n".join(
        [_table_of_costs(tables, costs, known), _longest(costs), _sentences(tables, costs, known)]
    )


def _table_of_costs(tables: Sequence[Table], costs: Sequence[Cost], known: Known) -> str:
    lines = [
        _line(table.name, [one for one in costs if one.table == table.name], known)
        for table in tables
    ]
    lines.append(_line("all", costs, known))
    heads = ["table", "cells", "measured", "trials", "core-hours, measured",
             "extrapolated", "by print or relation", "results, MB", "USD"]  # fmt: skip
    return _markdown(lines, heads)


def _line(name: str, costs: Sequence[Cost], known: Known) -> list[str]:
    def hours(*bases: Basis) -> float:
        return sum(one.hours for one in costs if one.basis in bases)

    trials = sum(one.trials for one in costs)
    total = sum(one.hours for one in costs)
    return [
        name,
        f"{len(costs):,}",
        f"{sum(one.basis == 'measured' for one in costs):,}",
        f"{trials:,}",
        _rounded(hours("measured")),
        _rounded(hours("extrapolated")),
        _rounded(hours("printed", "related")),
        _rounded(trials * known.bytes_of_outcome / 1e6),
        _rounded(total * PRICE),
    ]


def _longest(costs: Sequence[Cost]) -> str:
    """The cells with the most core-hours."""
    total = sum(one.hours for one in costs)
    longest = sorted(costs, key=lambda one: -one.hours)[:10]
    lines = [
        [
            one.table,
            one.label,
            f"{one.trials}",
            _rounded(one.hours),
            f"{one.hours / total:.0%}",
            one.basis,
        ]
        for one in longest
    ]
    return _markdown(lines, ["table", "cell", "trials", "core-hours", "share", "basis"])


def _sentences(tables: Sequence[Table], costs: Sequence[Cost], known: Known) -> str:
    off = {power: errors(known, power) for power in (VALUES_POWER, 0.5, 1.0)}
    lines = [
        [f"{power:g}", f"{len(of)}", f"{median(of):.1f}", f"{quantiles(of, n=10)[-1]:.1f}"]
        for power, of in off.items()
    ]
    heads = ["power of the values of a row", "cells", "half within a factor of", "nine of ten"]
    unknown = [one.work.learner for one in costs if one.basis == "unknown"]
    files = files_of(tables)
    stated = [size for size in files.values() if size is not None]
    return (
        f"{_markdown(lines, heads)}\n\nThe datasets are read from {len(files)} files; the "
        f"{len(stated)} with a stated size have {sum(stated) / 1e9:.1f} GB unpacked. Prepared, the "
        f"rows of all datasets take {bytes_of_rows(tables) / 1e9:.0f} GB. An outcome takes "
        f"{known.bytes_of_outcome} bytes. Of {len(unknown)} cells nothing is known, and they count "
        f"as nothing: those of {', '.join(dict.fromkeys(unknown)) or 'no learner'}."
    )


def _rounded(number: float) -> str:
    """Two significant digits, which is more than an extrapolation is worth."""
    if number < 0.01:
        return "<0.01" if number else "0"
    digits = 1 - math.floor(math.log10(number))
    return f"{round(number, digits):,.{max(digits, 0)}f}"


def _markdown(lines: Sequence[Sequence[str]], heads: Sequence[str]) -> str:
    return tabulate(lines, heads, tablefmt="github", disable_numparse=True)


def tables_of_papers() -> list[Table]:
    """Every table and figure of a paper that has trials of its own."""
    tables = [find(card.name) for card in names() if "/" in card.name]
    return [table for table in tables if not table.of]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost_of_papers")
    parser.add_argument("--results", type=Path, default=Path("results"))
    print(page(tables_of_papers(), parser.parse_args().results))


if __name__ == "__main__":
    main()
