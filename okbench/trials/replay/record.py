"""A record: all that decides one run, and what is expected to come of it (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import UsageError, did_you_mean
from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Draws, FloatArray, RecordedDraws, Task
from okbench.learners.registry import Entry, find
from okbench.papers.table_types import Setting
from okbench.trials.plan.resolve_settings import resolve_settings
from okbench.trials.replay.record_rows import read_order, read_rows
from okbench.trials.replay.record_value import Value, read_json
from okbench.trials.run.block_sizes import ticks
from okbench.trials.trial_types import Settings

SCHEMA = 1

_KEYS = (
    "okbench", "schema", "note", "task", "classes", "rows", "order", "learner", "settings", "draws",
    "ticks", "expect", "tolerance",
)  # fmt: skip


@dataclass(frozen=True)
class Tolerance:
    """How far what comes of a run may be from what is expected."""

    counts: int = 0  # mistakes, supports, updates
    loss: float = 1e-12  # of a summed squared loss, relative to it
    scores: float = 1e-9  # of each score
    sums: float = 1e-10  # of the sums over scores, relative to `sum_abs_f`


@dataclass(frozen=True)
class Expected:
    """What should come of a run; None says nothing. Curves hold what there is at each tick."""

    mistakes: int | None = None
    summed_squared_loss: float | None = None
    support_size: int | None = None
    updates: int | None = None
    curve: NDArray[Any] | None = None
    support_curve: NDArray[np.int64] | None = None
    removal_slots: NDArray[np.int64] | None = None
    sum_f: float | None = None
    sum_abs_f: float | None = None
    scores: FloatArray | None = None  # rows × columns, in the order the rows are met


@dataclass(frozen=True)
class Record:
    """One run: these rows in this order, this learner, these draws."""

    path: Path
    dataset: Dataset
    order: NDArray[np.int64]
    learner: str
    settings: Settings
    draws: Draws
    ticks: tuple[int, ...]
    expected: Expected | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)


def read_record(path: Path) -> Record:
    """The record of a file, with its rows and all that it names beside it."""
    page = read_json(path)
    fields = page.fields(_KEYS, required=("okbench", "schema", "rows", "learner"))
    if fields["okbench"].value != "record":
        fields["okbench"].refuse('this is no record of a run: it should say "record"')
    if fields["schema"].whole(1) > SCHEMA:
        fields["schema"].refuse(f"written by a newer okbench; this one reads up to {SCHEMA}")
    dataset = read_rows(fields["rows"], _task(fields.get("task")), fields.get("classes"))
    order = read_order(fields.get("order"), fields["rows"], dataset)
    entry, settings = _learner(fields, dataset.task)
    expected = _expected(fields["expect"], dataset) if "expect" in fields else None
    return Record(
        path=path,
        dataset=dataset,
        order=order,
        learner=entry.name,
        settings=settings,
        draws=_draws(fields.get("draws")),
        ticks=_ticks(fields.get("ticks"), len(order), dataset.task),
        expected=expected,
        tolerance=_tolerance(fields.get("tolerance")),
    )


def _task(told: Value | None) -> Task | None:
    if told is None:
        return None
    if told.text() not in get_args(Task):
        hint = did_you_mean(told.text(), get_args(Task))
        told.refuse(f"no task '{told.value}'.{hint} One of {', '.join(get_args(Task))}")
    return cast(Task, told.value)


def _learner(fields: Mapping[str, Value], task: Task) -> tuple[Entry, Settings]:
    """The learner, and its settings with the defaults of those that are not said."""
    told = fields["learner"]
    name = told.text()
    try:
        entry = find(name)
        cls = entry.load()
    except UsageError as error:
        told.refuse(str(error))
    if task not in getattr(cls, "tasks", entry.tasks):
        told.refuse(f"{entry.name} does not do {task}; it does {', '.join(entry.tasks)}")
    members = fields["settings"].members() if "settings" in fields else {}
    given = {name: Setting(_setting(value), where=value.where) for name, value in members.items()}
    return entry, resolve_settings(cls, entry.name, given, told.where)


def _setting(told: Value) -> Any:
    """A plain value; JSON has no number for infinity, so it is written as text."""
    if isinstance(told.value, dict | list):
        told.refuse("a setting is a number, a text, true, false or null")
    return float(told.value) if told.value in ("Infinity", "-Infinity") else told.value


def _draws(told: Value | None) -> Draws:
    """Recorded numbers, or a seed of okbench's own generators; without either, none at all."""
    if told is None:
        return RecordedDraws()
    fields = told.fields(("seed", "normals", "uniforms"))
    if "seed" in fields:
        if len(fields) > 1:
            told.refuse("a seed stands for all draws: leave it out, or the normals and uniforms")
        return Draws([part.whole() for part in fields["seed"].elements()])
    normals = fields["normals"].array(2) if "normals" in fields else None
    uniforms = fields["uniforms"].array(1) if "uniforms" in fields else None
    if uniforms is not None and not ((uniforms >= 0) & (uniforms < 1)).all():
        fields["uniforms"].damaged("uniforms are from 0 to below 1")
    return RecordedDraws(normals, uniforms)


def _ticks(told: Value | None, rows: int, task: Task) -> tuple[int, ...]:
    if told is None:
        return tuple(ticks(rows, task))
    found = told.array(1, "iu")
    if len(found) and (found[0] < 1 or found[-1] > rows or (np.diff(found) <= 0).any()):
        told.damaged(f"ticks are rising row counts from 1 to {rows}")
    return tuple(found.tolist())


def _tolerance(told: Value | None) -> Tolerance:
    fields = told.fields(("counts", "loss", "scores", "sums")) if told else {}
    given: dict[str, Any] = {
        name: value.whole() if name == "counts" else value.number()
        for name, value in fields.items()
    }
    for name, value in given.items():
        if value < 0:
            fields[name].refuse("a tolerance is 0 or more")
    return Tolerance(**given)


def _expected(told: Value, dataset: Dataset) -> Expected:
    total = "summed_squared_loss" if dataset.task == "regression" else "mistakes"
    counts, curves = ("support_size", "updates"), ("support_curve", "removal_slots")
    sums = ("sum_f", "sum_abs_f")
    known = (total, *counts, "curve", *curves, *sums, "scores")
    given: dict[str, Any] = {}
    for name, value in told.fields(known).items():
        if name in (*counts, "mistakes"):
            given[name] = value.whole()
        elif name in curves:
            given[name] = value.array(1, "iu")
        elif name == "curve":
            given[name] = value.array(1)
        elif name == "scores":
            given[name] = _scores(value, dataset)
        else:
            given[name] = value.number()
    return Expected(**given)


def _scores(told: Value, dataset: Dataset) -> FloatArray:
    """Rows × columns; a list of numbers where there is one column."""
    if dataset.task != "multiclass":
        return told.array(1).astype(np.float64)[:, np.newaxis]
    found = told.array(2).astype(np.float64)
    if found.shape[1] != len(dataset.classes):
        told.damaged(f"a score for each of {len(dataset.classes)} classes, not {found.shape[1]}")
    return found
