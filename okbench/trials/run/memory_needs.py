"""What trials need to hold, computed from rows, features and settings before any of them runs.

What cannot be known is named and not counted: user-defined learners, and how far an expansion
without a budget grows.
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
from okbench.base.quantities import spoken_bytes
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.mapped_rows import is_mapped
from okbench.learners.registry import find, is_ours, settings_of
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.run.model_sizes import ENTRY, drawn_of, kernel_cache_of, parts_of
from okbench.trials.trial_types import Trial

MOST_DRAWN = 500_000_000  # random numbers before the first row: 4 GB, and many seconds
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Need:
    """What so many trials that run at one time hold, in bytes each.

    `rows` are held once by each process; rows that are mapped from a file count as none. `terms`
    show how `model` was computed, None when nothing is known of it. `growth` is what an expansion
    without a budget holds if every row becomes a support; it is no part of the total. `drawn` are
    the random numbers that a learner draws before its first row, for every feature, used or not,
    which `drawn_terms` show.
    """

    dataset: str
    learner: str
    at_once: int
    rows: int
    model: int | None
    terms: str
    growth: int = 0
    drawn: int = 0
    drawn_terms: str = ""

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
        raise OkbenchError(
            f"{most.learner} × {most.dataset} draws {most.drawn:,} random numbers before its first "
            f"row = {most.drawn_terms}, whether a row has these features or not; more than "
            f"{MOST_DRAWN:,} delay every trial. Number the features of the file without gaps, hash "
            "them (--hash 2^18), leave this learner or dataset out, or run all the same with "
            "--force"
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
    cls = entry.load()
    known = settings_of(cls)
    defaults = {name: parameter.default for name, parameter in known.items()}
    given = {name: settings.get(name, default) for name, default in defaults.items()}
    parts, cache = parts_of(cls, data, given), kernel_cache_of(data, given)
    terms = " + ".join(term for term, _ in parts + cache) or "it has no budget"
    model = sum(size for _, size in parts + cache) or None
    growth = 0 if parts else int(data.X.size) * ENTRY  # sparse rows have as many as they store
    draws, drawn = drawn_of(data, given)
    return Need(dataset, learner, at_once, rows, model, terms, growth, drawn, draws)


def _is_mapped(data: Dataset) -> bool:
    """Whether the rows are a file that the system reads and gives up as it needs to."""
    X = data.X
    return is_mapped(X if isinstance(X, np.ndarray) else X.data)
