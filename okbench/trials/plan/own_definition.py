"""The table of a user's own rows as a text: what `okbench run --data` stores beside the outcomes,
and what `okbench init` writes to be edited.

Widths and steps of papers mean nothing for other rows. The width is the median distance between
rows of a sample, the step is the learner's default, and the table says how to search both on that
sample.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from okbench.base.config_nodes import read_yaml
from okbench.base.errors import OkbenchError, UsageError, did_you_mean
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.user.fitted_scale import SAMPLE, sample_of
from okbench.datasets.user.user_rows import as_read
from okbench.learners.registry import catalogue, find, settings_of
from okbench.papers.additions import AddedLearner, Additions, bracketed, with_settings
from okbench.papers.commands import command
from okbench.papers.table_types import Orders, RowsFile
from okbench.papers.values import parse_value
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.trials.plan.rows_in_memory import OPTION, beyond_memory
from okbench.trials.plan.user_table import chance_of, read_once

RUNS = 20
_NOTHING = Additions()
_STEPS = (2.0, 0.2, 0.02, 0.002, 0.0002)
_DECAYS = (1e-2, 1e-3, 1e-4, 1e-5)
_WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)  # times the median distance
_SEARCH_RUNS = 2
# mistakes move these by whole steps, so that the size of the step changes no sign of a score
_STEP_FREE = {"Perceptron", "RBP", "BudgetPerceptron", "Projectron"}
_ORDERS: Mapping[Orders, tuple[str, ...]] = {
    "file": ("  orders: file  # one pass in the order of the file",),
    "block-shuffled": ("  orders: block-shuffled  # permuted inside windows of blocks",),
}
_PLAIN = re.compile(r"[A-Za-z_][\w./+-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off"}


@dataclass(frozen=True)
class OwnTable:
    """The definition of a table of a user's own rows. `learners` are None for all that do the
    task. Without an `order`, permutations are met, or blocks of rows beyond the memory."""

    file: RowsFile
    in_order: bool = False
    runs: int | None = None
    learners: tuple[AddedLearner, ...] | None = None
    added: Additions = _NOTHING
    searched: bool = True
    order: Orders | None = None

    @property
    def data(self) -> Dataset:
        return read_once(self.file).dataset

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed of the rows, what may be wrong with them, and learners left out."""
        left_out = () if self.learners is not None else learners_for(self.data.task)[1]
        return (*read_once(self.file).notes, *self._order_note(), *left_out)

    @property
    def orders(self) -> Orders:
        """How the rows are met."""
        if self.in_order:
            return "file"
        return self.order or ("block-shuffled" if beyond_memory(self.data) else "seeded")

    def _order_note(self) -> tuple[str, ...]:
        if self.in_order or self.order or not (reason := beyond_memory(self.data)):
            return ()
        return (f"order: {reason}; blocks of rows are permuted instead ({OPTION})",)

    def columns(self) -> dict[str, dict[str, Any]]:
        """What the table says of each learner, by label."""
        return columns_of(self.learners, self.added, self.data.task)

    @property
    def user_defined(self) -> tuple[str, ...]:
        """The user-defined learners, which a command that runs the table has to allow."""
        names = (str(column.get("learner", "")) for column in self.columns().values())
        return tuple(dict.fromkeys(name for name in names if ":" in name))

    def text(self, place: Path, kept: Mapping[str, Any] | None = None, stored: bool = True) -> str:
        """The file of the table, to be written at `place`; `kept` are learners of an earlier run.
        A `stored` one names the exact rows."""
        data, file = self.data, as_read(self.file, read_once(self.file))
        width = median_distance(data, self.in_order)
        columns = {**(kept or {}), **self.columns()}
        taken = {name for label in columns for name in _searched_in(label, columns[label])}
        metric = default_metric(data.task).name
        lines = [
            f"# The rows of {file.path.name}, and the learners that are compared on them.",
            "# okbench run --data writes this file again; okbench init writes one to edit."
            if stored
            else f"# Edit it, then run it: {command('run', place.name, allow=self.user_defined)}",
            f"title: {_flow(f'{data.n_rows:,} rows of {file.path.name}')}",
            "protocol:",
            f"  kind: {SINGLE_PASS.name}  # predict every row, then learn it",
            f"  metric: {metric}",
            f"  runs: {1 if self.in_order else self.runs or RUNS}  # permutations of the rows",
            *_ORDERS.get(self.orders, ()),
            "",
            "datasets:",
            f"  {_flow(file.path.name)}:",
            f"    file: {_flow(_from(place.parent, file.path))}",
            *(f"    {line}" for line in _reading(file)),
            *([f"    fingerprint: {_flow(data.fingerprint)}  # of these rows"] if stored else []),
            f"    chance: {chance_of(data, metric):.6g}  # {metric} of always the same answer",
        ]
        if "width" in taken:
            where = "first rows" if self.in_order else "rows of a sample"
            source = {"value": width, "default": f"the median distance between {where}"}
            lines += ["", "settings:  # for every learner that has one of this name"]
            lines.append(f"  width: {_flow(source)}")
        if self.searched:
            lines += ["", *_search(data.n_rows, width, taken)]
        lines += ["", "learners:  # {learner: module:Class, setting: value}"]
        lines += [f"  {_flow(label)}: {_flow(column)}" for label, column in columns.items()]
        return "\n".join(lines) + "\n"


def columns_of(
    learners: Sequence[AddedLearner] | None, added: Additions, task: str
) -> dict[str, dict[str, Any]]:
    """What a table of such rows says of each learner, by label: its settings, of which a search may
    change those that have a `default` as their source."""
    every = tuple(map(AddedLearner, learners_for(task)[0])) if learners is None else tuple(learners)
    asked = replace(added, learners=(*every, *added.learners))
    found: dict[str, dict[str, Any]] = {}
    for one in with_settings(asked, {}):
        name = find(one.name).name
        label = replace(one, name=name).label
        if label in found and found[label].get("learner", label) != name:
            label = name + bracketed(one.settings)
        found[label] = _column(label, name, one.settings, task)
    return found


def _column(label: str, name: str, given: Mapping[str, str], task: str) -> dict[str, Any]:
    taken = settings_of(find(name).load())
    for setting in given:
        if setting not in taken:
            raise UsageError(
                f"{name} has no setting '{setting}'.{did_you_mean(setting, taken)} Its"
                f" settings: {', '.join(taken) or 'none'}"
            )
    column: dict[str, Any] = {"learner": name} if label != name else {}
    column |= {setting: parse_value(value) for setting, value in given.items()}
    for setting in ("step", "decay"):
        if setting == "decay" and "step" in taken:
            continue
        if name in _STEP_FREE and task != "regression":
            continue
        default = taken[setting].default if setting in taken else None
        if setting not in given and isinstance(default, float) and default > 0.0:
            column[setting] = {"value": default, "default": f"of {name}, before any search"}
    return column


def median_distance(data: Dataset, in_order: bool) -> float:
    """The median distance between pairs of rows of the sample, in three digits."""
    chosen = np.arange(min(SAMPLE, data.n_rows)) if in_order else sample_of(data.n_rows)
    half = len(chosen) // 2
    if half == 0:
        return 1.0
    gaps = data.X[chosen[:half]] - data.X[chosen[half : 2 * half]]
    with np.errstate(over="ignore"):
        squares = gaps * gaps if isinstance(gaps, np.ndarray) else gaps.multiply(gaps)
        distances = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    median = float(np.median(distances))
    found = median if median > 0.0 else float(distances.mean())
    return float(f"{found:.3g}") if 0.0 < found < math.inf else 1.0


def earlier_learners(place: Path, now: Mapping[str, Any]) -> dict[str, Any] | None:
    """The learners of the definition at `place`, if the rest of it says the same as this one: the
    rows, how they are met, and whether settings are searched."""
    before = read_yaml(place).plain() if place.is_file() else None
    if not isinstance(before, dict) or _head(before) != _head(now):
        return None
    searched = {"tune" in each for each in (before, now) if "settings" in each or "tune" in each}
    return None if len(searched) == 2 else dict(before.get("learners") or {})


def _head(definition: Mapping[str, Any]) -> Any:
    return definition.get("datasets"), {**(definition.get("protocol") or {}), "runs": None}


def _searched_in(label: str, column: Mapping[str, Any]) -> Iterable[str]:
    """The settings of a learner that nobody gives, and that a search may choose."""
    for name, value in column.items():
        if isinstance(value, Mapping) and "default" in value:
            yield name
    try:
        if "width" in settings_of(find(column.get("learner", label)).load()):
            yield "width"
    except OkbenchError:  # of an earlier run, and not allowed or not here in this one
        pass


def learners_for(task: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The learners that do a task in one pass, baselines excepted, and what is wrong with those
    that cannot be imported."""
    names, broken = [], []
    for entry in catalogue().values():
        try:  # a package announces no more than a name and a class
            cls = entry.load()
        except UsageError as error:
            broken.append(f"{error}; left out")
            continue
        does = task in getattr(cls, "tasks", entry.tasks) and SINGLE_PASS.role_of(cls) is not None
        if does and not getattr(cls, "is_baseline", False):
            names.append(entry.name)
    return tuple(names), tuple(broken)


def _reading(file: RowsFile) -> Iterable[str]:
    if file.target is not None:
        yield f"target: {_flow(file.target)}"
    yield f"task: {file.task}  # binary, multiclass or regression"
    if file.drop:
        yield f"drop: {_flow(list(file.drop))}"
    if file.categorical:
        yield f"categorical: {_flow(list(file.categorical))}"
    if file.missing != "refuse":
        yield f"missing: {file.missing}"
    yield f"scale: {_flow(file.scale)}  # none, standard or [0,1]"
    if file.hash:
        yield f"hash: {file.hash}  # columns to which those of the file are hashed"


def search_values(width: float) -> dict[str, tuple[float, ...]]:
    """The values that are tried of each setting, around this median distance."""
    widths = tuple(float(f"{factor * width:.3g}") for factor in _WIDTHS)
    return {"width": widths, "step": _STEPS, "decay": _DECAYS}


def _search(n_rows: int, width: float, taken: Iterable[str]) -> Iterable[str]:
    values = search_values(width)
    searched = [name for name in values if name in taken]
    if not searched:
        return
    reason = {"inferred": "okbench's own choice for a user's rows"}
    share = 1.0 if n_rows <= SAMPLE else max(1e-6, math.floor(1e6 * SAMPLE / n_rows) / 1e6)
    yield "tune:  # how okbench run searches settings that no line below gives"
    for name in searched:
        yield f"  {name}: {_flow({'values': list(values[name]), **reason})}"
    yield f"  subset: {_flow({'value': share, **reason})}  # of the rows"
    yield f"  at_least: {_flow({'value': min(SAMPLE, n_rows), **reason})}"
    yield f"  runs: {_flow({'value': _SEARCH_RUNS, **reason})}"


def _from(folder: Path, path: Path) -> str:
    """The path as a file in the folder names it: from there, if both are in the current folder."""
    here, whole, start = Path.cwd(), path.absolute(), folder.absolute()
    if whole.is_relative_to(here) and start.is_relative_to(here):
        return Path(os.path.relpath(whole, start)).as_posix()
    return str(whole)


def _flow(value: Any) -> str:
    """A value in one line of YAML; words are quoted where YAML might read them otherwise."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flow(key)}: {_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return json.dumps(value, ensure_ascii=False)
