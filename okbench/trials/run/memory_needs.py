"""What trials need to hold, computed from rows, features and settings before any of them runs.

A model is counted with what its settings make it hold at least. What cannot be known is named and
not counted: user-defined learners, and how far an expansion without a budget grows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from okbench.base.errors import OkbenchError
from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import find, is_ours, settings_of
from okbench.papers.values import Value
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.trial_types import Trial

_NUMBER = 8  # bytes of a float64
_SINGLE = 4  # bytes of a number in single precision
_PER_NUMBER = 3  # what is held per number of a particle: itself, its gradient, its running square
_ENTRY = 12  # bytes of a sparse row's entry: a number and its column
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Need:
    """What so many trials that run at one time hold, in bytes each.

    `rows` are held once by each process; rows that are mapped from a file count as none. `terms`
    show how `model` was computed, None when nothing is known of it. `growth` is what an expansion
    without a budget holds if every row becomes a support; it is no part of the total.
    """

    dataset: str
    learner: str
    at_once: int
    rows: int
    model: int | None
    terms: str
    growth: int = 0

    @property
    def total(self) -> int:
        """Bytes of all of them together, at least."""
        return self.at_once * (self.rows + (self.model or 0))

    @property
    def arithmetic(self) -> str:
        """`2 at a time × (rows 1.2 GB + model 3.4 GB = 100 supports × …)`."""
        model = f"model {spoken_bytes(self.model or 0)} = {self.terms}"
        return f"{self.at_once} at a time × (rows {spoken_bytes(self.rows)} + {model})"


def needs(trials: Iterable[Trial], load: Load, options: Options) -> list[Need]:
    """What the trials need, one entry for all that differ in their permutation alone."""
    kinds = Counter((t.dataset, t.variant, t.learner, t.settings) for t in trials)
    at_once = 1 if options.timing else options.jobs
    return [
        _need(load(dataset, variant), dataset, learner, dict(settings), min(at_once, count))
        for (dataset, variant, learner, settings), count in kinds.items()
    ]


def largest(found: Iterable[Need]) -> Need | None:
    """The need that is hardest to meet."""
    return max(found, key=lambda need: need.total, default=None)


def refuse_what_cannot_fit(found: Iterable[Need], options: Options) -> None:
    """Raise OkbenchError if a trial needs more memory than there is, or than it may take."""
    need = largest(found)
    if options.force or need is None:
        return
    name = f"{need.learner} × {need.dataset}"
    if (need.model or 0) >= options.memory_limit:
        raise OkbenchError(
            f"{name}: the model alone takes {spoken_bytes(need.model or 0)} = {need.terms}, and "
            f"the limit is {spoken_bytes(options.memory_limit)}; raise --memory, leave this "
            "learner or dataset out, or run all the same with --force"
        )
    there = available()
    if need.total > there:
        fewer = "fewer at a time (--jobs), " if need.at_once > 1 else ""
        raise OkbenchError(
            f"{name} needs {spoken_bytes(need.total)}: {need.arithmetic}; "
            f"{spoken_bytes(there)} are available. Run {fewer}without this learner or dataset, "
            "or all the same with --force"
        )


def available() -> int:
    """Bytes that processes may still take, by the system and by its limit on this container."""
    free = int(psutil.virtual_memory().available)
    try:
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        statistics = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
        files = int(dict(line.split() for line in statistics)["inactive_file"])  # can be given up
    except (OSError, ValueError, KeyError):  # no such limit here
        return free
    return max(0, min(free, limit - used + files))


def spoken_bytes(count: float) -> str:
    """Bytes in the unit that reads best."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def _need(
    data: Dataset, dataset: str, learner: str, settings: Mapping[str, Any], at_once: int
) -> Need:
    entry = find(learner)
    rows = 0 if _is_mapped(data) else rows_bytes(data)
    if not is_ours(entry):
        return Need(dataset, learner, at_once, rows, None, "unknown, the learner is user-defined")
    terms: list[str] = []
    model = 0
    known = settings_of(entry.load())
    n_rows, n_features = data.X.shape
    budget, components = _whole(settings.get("budget")), _whole(settings.get("components"))
    number = _SINGLE if settings.get("precision") == "single" else _NUMBER
    if "budget" in known and budget:
        supports = min(budget, n_rows)
        columns = _columns(data, supports)
        terms.append(f"{supports} supports × {columns} features × {_NUMBER} B")
        model += supports * columns * _NUMBER
    if "components" in known and components:
        terms.append(f"{components} components × {n_features} features × {number} B")
        model += components * n_features * number
    if "particles" in known and components and (particles := _whole(settings.get("particles"))):
        numbers = 2 * components * len(data.classes) + n_features
        terms.append(f"{_PER_NUMBER} × {particles} particles × {numbers} numbers × {number} B")
        model += _PER_NUMBER * particles * numbers * number
    if terms:
        return Need(dataset, learner, at_once, rows, model, " + ".join(terms))
    entries = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    return Need(dataset, learner, at_once, rows, None, "it has no budget", entries * _ENTRY)


def rows_bytes(data: Dataset) -> int:
    """Bytes of the rows and labels of a dataset."""
    return int(sum(array.nbytes for array in _arrays(data)) + data.y.nbytes)


def _arrays(data: Dataset) -> tuple[Any, ...]:
    X = data.X
    return (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)


def _is_mapped(data: Dataset) -> bool:
    """Whether the rows are a file that the system reads and gives up as it needs to."""
    array = _arrays(data)[0]
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def _columns(data: Dataset, supports: int) -> int:
    """The columns that so many rows use, by the first rows: those of a support take memory."""
    X = data.X
    if isinstance(X, np.ndarray):
        return int(X.shape[1])
    return len(np.unique(X.indices[: X.indptr[supports]]))


def _whole(value: Value | None) -> int:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else 0
