"""A record: all that decides one run, and what is expected to come of it (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from okbench.base.config_nodes import Node, read_json
from okbench.base.errors import UsageError, did_you_mean
from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Draws, FloatArray, RecordedDraws, Task, check_role
from okbench.learners.draws import KINDS, Kind, NamedArrays, fault_of
from okbench.learners.registry import Entry, NotAllowed, find, is_allowed
from okbench.papers.table_types import Setting
from okbench.protocols.contract import BATCH, ONLINE
from okbench.protocols.train_test import TRAIN_TEST
from okbench.trials.plan.resolve_settings import resolve_settings
from okbench.trials.replay.record_arrays import read_array
from okbench.trials.replay.record_rows import read_order, read_row_numbers, read_rows
from okbench.trials.run.block_sizes import ticks
from okbench.trials.store.outcome_json import setting_of
from okbench.trials.trial_types import Settings

SCHEMA = 1

_KEYS = (
    "okbench", "schema", "note", "task", "classes", "rows", "order", "test", "learner", "settings",
    "draws", "ticks", "expect", "tolerance",
)  # fmt: skip
_OF_CURVES = ("curve", "support_curve")


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
    scores: FloatArray | None = None  # rows × columns, in the order the rows are met or tested

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return all(value is None for value in vars(self).values())


@dataclass(frozen=True)
class Record:
    """One run: these rows in this order, this learner, these draws.

    With `test`, the rows of `order` are learned first (in one call by a batch learner), and these
    rows are predicted and scored afterwards; such a run has no ticks.
    """

    path: Path
    dataset: Dataset
    order: NDArray[np.int64]
    learner: str
    settings: Settings
    draws: Draws
    ticks: tuple[int, ...]
    expected: Expected | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    test: NDArray[np.int64] | None = None

    @property
    def scored(self) -> NDArray[np.int64]:
        """The rows that are scored, in their order."""
        return self.order if self.test is None else self.test


def read_record(path: Path) -> Record:
    """The record of a file, with its rows and all that it names beside it."""
    page = read_json(path)
    fields = page.fields(_KEYS, required=("okbench", "schema", "rows", "learner"))
    if fields["okbench"].plain() != "record":
        raise fields["okbench"].error('this is no record of a run: it should say "record"')
    if fields["schema"].integer(1) > SCHEMA:
        raise fields["schema"].error(f"written by a newer okbench; this one reads up to {SCHEMA}")
    dataset = read_rows(fields["rows"], _task(fields.get("task")), fields.get("classes"))
    order = read_order(fields.get("order"), fields["rows"], dataset)
    test = read_row_numbers(fields["test"], dataset) if "test" in fields else None
    if test is not None and "ticks" in fields:
        raise fields["ticks"].error("a run with 'test' rows has no curve; leave the ticks out")
    entry, settings = _learner(fields, dataset.task)
    expected = None
    if "expect" in fields:
        expected = _expected(fields["expect"], dataset, has_curves=test is None)
    return Record(
        path=path,
        dataset=dataset,
        order=order,
        learner=entry.name,
        settings=settings,
        draws=_draws(fields.get("draws")),
        ticks=_ticks(fields.get("ticks"), len(order), dataset.task) if test is None else (),
        expected=expected,
        tolerance=_tolerance(fields.get("tolerance")),
        test=test,
    )


def _task(node: Node | None) -> Task | None:
    if node is None:
        return None
    if node.text() not in get_args(Task):
        hint = did_you_mean(node.text(), get_args(Task))
        raise node.error(f"no task '{node.text()}'.{hint} One of {', '.join(get_args(Task))}")
    return cast(Task, node.text())


def _learner(fields: Mapping[str, Node], task: Task) -> tuple[Entry, Settings]:
    """The learner, and its settings with the defaults of those that are left out."""
    node = fields["learner"]
    name = node.text()
    try:
        if not is_allowed(name):
            raise NotAllowed([name], node.where)
        entry = find(name)
        cls = entry.load()
        _check_role(cls, entry.name, has_test="test" in fields)
    except NotAllowed:
        raise
    except UsageError as error:
        raise node.error(str(error)) from error
    tasks = getattr(cls, "tasks", entry.tasks)
    if task not in tasks:
        raise node.error(f"{entry.name} does not do {task}; it does {', '.join(tasks)}")
    settings = fields["settings"].items() if "settings" in fields else ()
    given = {name: Setting(_setting(value), where=value.where) for name, value in settings}
    return entry, resolve_settings(cls, entry.name, given, node.where)


def _check_role(cls: type, name: str, has_test: bool) -> None:
    """Refuse a learner that cannot be run as the record says."""
    if has_test:
        if TRAIN_TEST.role_of(cls) is None:
            raise UsageError(f"{name} {TRAIN_TEST.lack}")
        return
    if BATCH.is_filled_by(cls) and not ONLINE.is_filled_by(cls):
        raise UsageError(
            f"{name} learns all rows at once; name the rows that it predicts afterwards: "
            "'test': [row numbers]"
        )
    check_role(cls, ONLINE, name)


def _setting(node: Node) -> Any:
    """A plain value or a list of them; infinity is written as text."""
    elements = node.elements() if node.kind == "list" else (node,)
    if any(element.kind != "scalar" for element in elements):
        raise node.error("a setting is a number, a text, true, false, null, or a list of these")
    if node.kind == "list" and None in (element.scalar() for element in elements):
        raise node.error("null cannot stand in a list")
    return setting_of(node.plain())


def _draws(node: Node | None) -> Draws:
    """Recorded numbers, or a seed of okbench's own generators; without either, none at all."""
    if node is None:
        return RecordedDraws()
    fields = node.fields(("seed", "normals", "uniforms", "named"))
    if "seed" in fields:
        if len(fields) > 1:
            raise node.error("a seed stands for all draws: leave it out, or all the others")
        seed = fields["seed"]
        numbers = seed.elements() if seed.kind == "list" else (seed,)
        return Draws([number.integer(0) for number in numbers])
    return RecordedDraws(
        _normals(fields["normals"]) if "normals" in fields else None,
        _drawn(fields["uniforms"], "uniforms") if "uniforms" in fields else None,
        _named(fields["named"]) if "named" in fields else None,
    )


def _normals(node: Node) -> FloatArray | list[FloatArray]:
    """One matrix, or a list of them: objects that name files, or lists of rows."""
    if node.kind == "list" and node.plain() and all(map(_is_matrix, node.elements())):
        return [read_array(element, 2) for element in node.elements()]
    return read_array(node, 2)


def _is_matrix(node: Node) -> bool:
    """Whether an element of a list is a matrix itself, not a row of one."""
    if node.kind == "list":
        rows = node.plain()
        return bool(rows) and all(isinstance(row, list) for row in rows)
    return node.kind == "mapping"


def _named(node: Node) -> NamedArrays:
    """Draws by name and kind: an array for each time the learner asked."""
    found: dict[tuple[str, Kind], list[NDArray[Any]]] = {}
    for name, kinds in node.items():
        for kind, arrays in kinds.fields(KINDS).items():
            drawn = [_drawn(each, cast(Kind, kind)) for each in arrays.elements()]
            found[name, cast(Kind, kind)] = drawn
    return found


def _drawn(node: Node, kind: Kind) -> NDArray[Any]:
    """An array that is a draw of that kind."""
    whole = kind in ("choice", "permutation")
    axes = 2 if kind in ("normals", "orthogonal") else 1
    found = read_array(node, axes, "iu" if whole else "iuf")
    if fault := fault_of(kind, found):
        raise node.data_error(fault)
    return found.astype(np.int64 if whole else np.float64)


def _ticks(node: Node | None, rows: int, task: Task) -> tuple[int, ...]:
    if node is None:
        return tuple(ticks(rows, task))
    found = read_array(node, 1, "iu")
    if len(found) and (found[0] < 1 or found[-1] > rows or (np.diff(found) <= 0).any()):
        raise node.data_error(f"ticks are rising row counts from 1 to {rows}")
    return tuple(found.tolist())


def _tolerance(node: Node | None) -> Tolerance:
    fields = node.fields(("counts", "loss", "scores", "sums")) if node else {}
    given: dict[str, Any] = {
        name: value.integer(0) if name == "counts" else float(value.number())
        for name, value in fields.items()
    }
    for name, value in given.items():
        if value < 0:
            raise fields[name].error("a tolerance is 0 or more")
    return Tolerance(**given)


def _expected(node: Node, dataset: Dataset, has_curves: bool) -> Expected:
    total = "summed_squared_loss" if dataset.task == "regression" else "mistakes"
    counts, curves = ("support_size", "updates"), ("support_curve", "removal_slots")
    sums = ("sum_f", "sum_abs_f")
    known = {total, *counts, "curve", *curves, *sums, "scores"}
    known -= set() if has_curves else set(_OF_CURVES)
    given: dict[str, Any] = {}
    for name, value in node.fields(known).items():
        if name in (*counts, "mistakes"):
            given[name] = value.integer(0)
        elif name in curves:
            given[name] = read_array(value, 1, "iu")
        elif name == "curve":
            given[name] = read_array(value, 1)
        elif name == "scores":
            given[name] = _scores(value, dataset)
        else:
            given[name] = float(value.number())
    return Expected(**given)


def _scores(node: Node, dataset: Dataset) -> FloatArray:
    """Rows × columns; a list of numbers where there is one column."""
    if dataset.task != "multiclass":
        return read_array(node, 1).astype(np.float64)[:, np.newaxis]
    found = read_array(node, 2).astype(np.float64)
    if found.shape[1] != len(dataset.classes):
        raise node.data_error(
            f"a score for each of {len(dataset.classes)} classes, not {found.shape[1]}"
        )
    return found
