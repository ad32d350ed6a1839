"""A person's own rows as a table: every learner that does their task, with its default settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from okbench.base.errors import UsageError
from okbench.base.shared_types import Task
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.readers.table import Column
from okbench.datasets.user.running_scale import RunningScale
from okbench.datasets.user.user_rows import Missing, UserRows, read_user_rows
from okbench.learners.registry import catalogue
from okbench.papers.table_types import DatasetRow, LearnerColumn, Protocol, Table
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS


@dataclass(frozen=True)
class OwnFile:
    """Where the rows are and how they are to be read. Calling it gives the rows, as a table's
    `load` does: once per process."""

    path: Path
    target: Column | None = None
    task: Task | None = None
    categorical: tuple[Column, ...] = ()
    drop: tuple[Column, ...] = ()
    missing: Missing = "refuse"
    scale: RunningScale = "none"

    def __call__(self, name: str, variant: str) -> Dataset:
        return _read_once(self).dataset

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be guessed, and whose learners had to be left out."""
        read = _read_once(self)
        return (*read.notes, *_learners(read.dataset.task)[1])

    def table(self, in_order: bool) -> Table:
        """The table of these rows: met once as they come, or in twenty random orders."""
        if self.scale != "none" and not in_order:
            raise UsageError(
                "--scale learns from the rows before in the file, so other orders would look ahead;"
                " say --in-order, or scale the rows yourself"
            )
        dataset = self(self.path.name, "")
        return Table(
            name=f"own/{self.path.name}",
            title=f"{dataset.n_rows:,} rows of {self.path}",
            paper="",
            protocol=Protocol(
                SINGLE_PASS.name,
                default_metric(dataset.task).name,
                runs=1 if in_order else 20,
                orders="file" if in_order else "seeded",
            ),
            datasets=(DatasetRow(self.path.name, fingerprint=dataset.fingerprint),),
            learners=tuple(LearnerColumn(name, name) for name in _learners(dataset.task)[0]),
            settings={},
        )


def _learners(task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The learners that do a task row by row, and what is wrong with those that cannot be
    imported."""
    names, broken = [], []
    for entry in catalogue().values():
        try:  # a package announces no more than a name and a class
            cls = entry.load()
        except UsageError as error:
            broken.append(f"{error}; left out")
            continue
        if task in getattr(cls, "tasks", entry.tasks) and SINGLE_PASS.role_of(cls):
            names.append(entry.name)
    return tuple(names), tuple(broken)


@cache
def _read_once(file: OwnFile) -> UserRows:
    return read_user_rows(
        file.path,
        file.target,
        file.task,
        categorical=file.categorical,
        drop=file.drop,
        missing=file.missing,
        scale=file.scale,
    )
