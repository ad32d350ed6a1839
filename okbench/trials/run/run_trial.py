"""One trial from its name to its outcome; whatever goes wrong in it stays in it."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import Any, Literal

import numpy as np
import psutil

from okbench.base import tracebacks
from okbench.base.errors import OkbenchError, UsageError
from okbench.base.quantities import now
from okbench.base.worker_processes import memory_here
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.mapped_rows import rows_at
from okbench.learners.contract import Problem, begun
from okbench.learners.registry import allow, find, is_allowed, is_ours
from okbench.protocols.contract import BATCH, MAP, RowCounts
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.plan.planning import Load
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.plan.seeds import draws, with_seed
from okbench.trials.run.account import Beginning, Warming
from okbench.trials.run.block_sizes import MOST
from okbench.trials.run.protocol_loop import Limits, Tell, nobody, walk
from okbench.trials.run.workers import ends_the_run, one_process
from okbench.trials.trial_types import Outcome, Status, Trial

WARM_UP_ROWS = 300
PLAIN_WARM_UP_SECONDS = 10.0  # of a learner that compiles nothing
SMALL = 30  # of the whole numbers among the settings: 300 rows then reach every stage of a learner
Lack = Literal["cut", "skipped"]  # of a warm-up
_warm: set[tuple[object, ...]] = set()
_warming = Lock()


def attempt(
    trial: Trial,
    load: Load,
    limits: Limits,
    tell: Tell = nobody,
    warm_up: bool = True,
    learner: Any = None,
) -> Outcome:
    """Run a trial. A learner that raises, or rows that cannot be had, make it `failed`.

    `tell` is called with its progress. Without `warm_up`, a learner that compiles itself does
    so on the clock, and the outcome says so. The `learner`, which is `ready`, is made here unless
    it is given.
    """
    busy = _load_average()
    try:
        outcome = _run(trial, load, limits, tell, warm_up, learner)
    except ends_the_run():
        raise
    except BaseException as error:  # sys.exit among them
        place = f"{trial.learner} × {trial.dataset} r={trial.repetition}, before the first row"
        status: Status = "memory" if isinstance(error, MemoryError) else "failed"
        outcome = Outcome(trial, status, reason=f"{place}: {reason_of(error)}", extra=_kept(error))
    return replace(outcome, finished=now(), extra=outcome.extra | busy)


def _load_average() -> dict[str, Any]:
    try:
        return {"load": psutil.getloadavg()[0]}
    except OSError:  # a learner has left no file descriptor
        return {}


def reason_of(error: BaseException) -> str:
    """What went wrong, in words."""
    return str(error) if isinstance(error, OkbenchError) else tracebacks.described(error)


def _kept(error: BaseException) -> dict[str, Any]:
    """The traceback of an error that does not say by itself what is wrong."""
    return {} if isinstance(error, OkbenchError) else {"traceback": tracebacks.tail(error)}


def _run(
    trial: Trial, load: Load, limits: Limits, tell: Tell, warm_up: bool, learner: Any
) -> Outcome:
    dataset = load(trial.dataset, trial.variant)
    if dataset.fingerprint != trial.fingerprint:
        raise OkbenchError(
            f"the rows are not those the trial was planned for ({dataset.fingerprint}, planned "
            f"{trial.fingerprint}); plan it again"
        )
    if not is_allowed(trial.learner):  # it was planned elsewhere, where it is allowed
        allow(trial.learner)
    cls = find(trial.learner).load()
    handed = _bytes_handed_over(cls, trial, dataset)
    lack: Lack | None = "skipped"
    if warm_up:
        tell(Warming(memory_here() + handed, _may_compile(cls, trial)))
        lack = _warm_up(cls, trial, dataset, limits)
    base = memory_here() + handed
    tell(Beginning(base))
    learner = ready(cls, trial, dataset) if learner is None else learner
    outcome = walk(trial, dataset, learner, limits, tell, base)
    if lack is None or outcome.status != "done":
        return outcome
    return replace(outcome, extra={**outcome.extra, "warm_up": lack})


def _bytes_handed_over(cls: type, trial: Trial, dataset: Dataset) -> int:
    """Bytes of the rows of one call at most: they are copies, and no part of a model."""
    at_once = PROTOCOLS[trial.protocol].role_of(cls) in (BATCH, MAP)
    rows = dataset.n_rows if at_once else min(dataset.n_rows, max(MOST, trial.block))
    return rows_bytes(dataset) * rows // max(1, dataset.n_rows)


def ready(cls: type, trial: Trial, dataset: Dataset) -> Any:
    """The learner with its settings and draws; it knows the problem if it has `begin`."""
    kind = PROTOCOLS[trial.protocol]
    if kind.role_of(cls) is None:
        raise UsageError(f"{trial.learner} {kind.lack}")
    rows = kind.shuffled(RowCounts(dataset.n_rows, dataset.n_train))
    problem = Problem(dataset.task, dataset.n_features, dataset.classes, rows)
    with one_process():
        return begun(cls, with_seed(cls, trial), problem, draws(trial))


def _warm_up(cls: type, trial: Trial, dataset: Dataset, limits: Limits) -> Lack | None:
    """Run the learner over a few rows, once for all that decides what it compiles, so that this is
    never timed; what was lacking.

    A learner that may compile is not cut short by a time limit. Those of okbench run with small
    settings, too: their budgets fill up and their first parts end, as they may in the trial. What
    comes of it is dropped: whatever goes wrong here goes wrong in the trial itself.
    """
    words = [(name, type(v) if type(v) in (int, float) else v) for name, v in trial.settings]
    key = (cls, trial.fingerprint, trial.protocol, *words)
    if key in _warm:
        return None
    with _warming:
        if key in _warm:
            return None
        own = replace(trial, order="seeded", repetition=0)
        tastes = [(own, 1)]
        if is_ours(find(trial.learner)):
            small = replace(own, settings=tuple((name, _small(v)) for name, v in own.settings))
            tastes += [(small, 1), (small, 2)] if hasattr(cls, "share") else [(small, 1)]
        most = math.inf if _may_compile(cls, trial) else min(limits.seconds, PLAIN_WARM_UP_SECONDS)
        few, endings = _few_rows(dataset), set()
        for each, count in tastes:
            with suppress(Exception):
                learners = [ready(cls, each, few) for _ in range(count)]
                if count > 1:
                    cls.share(learners)  # type: ignore[attr-defined]
                limits = replace(limits, seconds=most)
                endings.add(walk(each, few, learners[0], limits).status)
        _warm.add(key)
        return None if "done" in endings else "cut"


def _may_compile(cls: type, trial: Trial) -> bool:
    return is_ours(find(trial.learner)) or getattr(cls, "compiled", False) is True


def _small(value: Any) -> Any:
    return min(value, SMALL) if type(value) is int else value


def _few_rows(dataset: Dataset) -> Dataset:
    picked = np.linspace(0, dataset.n_rows - 1, min(WARM_UP_ROWS, dataset.n_rows)).astype(np.int64)
    return replace(
        dataset,
        X=rows_at(dataset.X, picked),
        y=dataset.y[picked],
        orders=None,
        n_train=None if dataset.n_train is None else max(1, 2 * len(picked) // 3),
    )
