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
from typing import Any, TypeAlias

import numpy as np
import psutil

from okbench.base.errors import OkbenchError
from okbench.base.quantities import spoken_bytes
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.mapped_rows import is_mapped
from okbench.learners.registry import find, is_ours, settings_of
from okbench.papers.values import Value
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.trial_types import Trial

_NUMBER = 8  # bytes of a float64
MOST_DRAWN = 500_000_000  # random numbers before the first row: 4 GB, held twice while copied
_SINGLE = 4  # bytes of a number in single precision
_PER_NUMBER = 3  # what is held per number of a particle: itself, its gradient, its running square
_ENTRY = 12  # bytes of a sparse row's entry: a number and its column
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Need:
    """What so many trials that run at one time hold, in bytes each.

    `rows` are held once by each process; rows that are mapped from a file count as none. `terms`
    show how `model` was computed, None when nothing is known of it. `growth` is what an expansion
    without a budget holds if every row becomes a support; it is no part of the total. `drawn` are
    the random numbers that a learner draws before its first row, for every feature, used or not.
    """

    dataset: str
    learner: str
    at_once: int
    rows: int
    model: int | None
    terms: str
    growth: int = 0
    drawn: int = 0

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
    at_once = 1 if options.on_cluster else options.at_once  # on one machine
    return [
        _need(load(dataset, variant), dataset, learner, dict(settings), min(at_once, count))
        for (dataset, variant, learner, settings), count in kinds.items()
    ]


def largest(found: Iterable[Need]) -> Need | None:
    """The need that is hardest to meet."""
    return max(found, key=lambda need: need.total, default=None)


def refuse_what_cannot_fit(found: Iterable[Need], options: Options) -> None:
    """Raise OkbenchError if a trial needs more memory than there is, or than it may take, or draws
    so many random numbers that it would seem to stand still before its first row. What the machines
    of a cluster have is not known here."""
    found = list(found)
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
    there = math.inf if options.on_cluster else available()
    if need.total > there:
        fewer = "fewer at a time (--jobs), " if need.at_once > 1 else ""
        raise OkbenchError(
            f"{name} needs {spoken_bytes(need.total)}: {need.arithmetic}; "
            f"{spoken_bytes(there)} are available. Run {fewer}without this learner or dataset, "
            "or all the same with --force"
        )
    most = max(found, key=lambda each: each.drawn)
    if most.drawn > MOST_DRAWN:
        terms = next(term for term in most.terms.split(" + ") if " components × " in term)
        terms = terms.rpartition(" × ")[0]  # without the bytes of each
        raise OkbenchError(
            f"{most.learner} × {most.dataset} draws {most.drawn:,} random numbers before its first "
            f"row = {terms}, one for each component and feature whether a row has it or "
            f"not; more than {MOST_DRAWN:,} take minutes. Number the features of the file without "
            "gaps, hash them (--hash 2^18), leave this learner or dataset out, or run all the same "
            "with --force"
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


def _need(
    data: Dataset, dataset: str, learner: str, settings: Mapping[str, Any], at_once: int
) -> Need:
    entry = find(learner)
    rows = 0 if _is_mapped(data) else rows_bytes(data)
    if not is_ours(entry):
        return Need(dataset, learner, at_once, rows, None, "unknown, the learner is user-defined")
    known = settings_of(entry.load())
    defaults = {name: parameter.default for name, parameter in known.items()}
    given = {name: settings.get(name, default) for name, default in defaults.items()}
    parts = [part for size_of in _PARTS for part in size_of(data, given)]
    cache = _kernel_cache(data, given)
    terms = " + ".join(term for term, _ in parts + cache) or "it has no budget"
    model = sum(size for _, size in parts + cache) or None
    drawn = _whole(given.get("components")) * data.X.shape[1]
    entries = data.X.nnz if hasattr(data.X, "nnz") else data.X.size
    growth = 0 if parts else entries * _ENTRY
    return Need(dataset, learner, at_once, rows, model, terms, growth, drawn)


Part: TypeAlias = tuple[str, int]  # what is held, and its bytes


def _supports(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    supports = min(_whole(settings.get("budget")), data.X.shape[0])
    if not supports:
        return []
    columns = _columns(data, supports)
    term = f"{supports} supports × {columns} features × {_NUMBER} B"
    return [(term, supports * columns * _NUMBER)]


def _frequencies(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    components, n_features = _whole(settings.get("components")), data.X.shape[1]
    if not components:
        return []
    number = _number(settings)
    term = f"{components} components × {n_features} features × {number} B"
    return [(term, components * n_features * number)]


def _particles(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    particles = _whole(settings.get("particles"))
    if not particles:
        return []
    components, number = _whole(settings.get("components")), _number(settings)
    numbers = 2 * components * len(data.classes) + data.X.shape[1]
    pair = _NUMBER + 2 * number  # a distance, and what the kernel makes of it
    return [
        (
            f"{_PER_NUMBER} × {particles} particles × {numbers} numbers × {number} B",
            _PER_NUMBER * particles * numbers * number,
        ),
        (f"{particles} × {particles} particles × {pair} B", particles**2 * pair),
    ]


def _kernel_cache(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    """Of a kernel machine: the rows of the kernel that it keeps, in single precision, and the whole
    matrix where LIBSVM does not compute the kernel."""
    megabytes = settings.get("cache")
    if not isinstance(megabytes, int | float) or not math.isfinite(megabytes):
        return []
    n_rows = data.n_train or data.X.shape[0]
    cache = min(int(megabytes * 2**20), _SINGLE * n_rows**2)
    parts = [(f"kernel cache of {spoken_bytes(cache)}", cache)]
    if settings.get("kernel", "rbf") != "rbf":
        parts.append((f"{n_rows} × {n_rows} rows × {_NUMBER} B", n_rows**2 * _NUMBER))
    return parts


def _partitionings(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    references = _references(data, settings)
    cells = _whole(settings.get("partitionings")) * min(_whole(settings.get("psi")), references)
    if not cells:
        return []
    if settings.get("map") != "nearest":
        return [(f"{cells} cells × {_ENTRY} B", cells * _ENTRY)]
    points = min(cells, references)
    columns = _columns(data, points)
    number = _NUMBER + _SINGLE  # points are held in both precisions
    return [(f"{points} points × {columns} features × {number} B", points * columns * number)]


_PARTS = (_supports, _frequencies, _particles, _partitionings)


def _number(settings: Mapping[str, Any]) -> int:
    return _SINGLE if settings.get("precision") == "single" else _NUMBER


def _references(data: Dataset, settings: Mapping[str, Any]) -> int:
    """The rows that an isolation map is made of: the training part, or the first `initial` rows."""
    if data.n_train is not None:
        return data.n_train
    return min(_whole(settings.get("initial")) or data.X.shape[0], data.X.shape[0])


def _is_mapped(data: Dataset) -> bool:
    """Whether the rows are a file that the system reads and gives up as it needs to."""
    X = data.X
    return is_mapped(X if isinstance(X, np.ndarray) else X.data)


def _columns(data: Dataset, supports: int) -> int:
    """The columns that so many rows use, by the first rows: those of a support take memory."""
    X = data.X
    if isinstance(X, np.ndarray):
        return int(X.shape[1])
    return len(np.unique(X.indices[: X.indptr[supports]]))


def _whole(value: Value | None) -> int:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else 0
