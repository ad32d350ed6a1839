"""What a worker of a cluster does: it runs trials, and keeps rows that are sent to it.

A trial runs in a process that the worker starts and can end, as on one machine, so that its limits
hold. The process stays for the next trials, and ends when none has come for a while. No function
here ends any other process, since it may run in a process that others use too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from okbench.base.errors import OkbenchError
from okbench.base.worker_processes import Worker
from okbench.datasets.data_folder import data_folder
from okbench.datasets.prepare.prepared_files import About
from okbench.trials.cluster import rows
from okbench.trials.cluster.contract import Here
from okbench.trials.cluster.rows import RowsOfRun
from okbench.trials.cluster.sources import Sources
from okbench.trials.cluster.versions import Versions, differences
from okbench.trials.run.environment import here as environment_here
from okbench.trials.run.guarded import Slot, run_in
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.trial_types import Outcome, Trial

IDLE_SECONDS = 60.0  # after which a process that runs no trial ends
_START_SECONDS = 120.0  # that a process may take until it says what machine this is


@dataclass(frozen=True)
class RunTerms:
    """What the tasks of a run have in common."""

    versions: Versions
    recorded: bool  # a worker with other versions runs them all the same, and says so
    sources: Sources
    rows: RowsOfRun
    fetching: bool
    seconds: float
    bytes: float
    timed: bool


@dataclass(frozen=True)
class Ran:
    """The outcome of a trial, and the machine and versions behind it. Where the process of the
    trial died, the fault may be the machine's."""

    place: str
    outcome: Outcome
    environment: dict[str, Any]
    died: bool = False


@dataclass(frozen=True)
class Lacks:
    """Rows that the data folder of a worker, `folder` of `host`, does not have, and why."""

    place: str
    folder: str
    reason: str


@dataclass(frozen=True)
class Refused:
    """Why a worker cannot run trials of this run."""

    place: str
    reason: str


@dataclass(frozen=True)
class Kept:
    """A part of rows that were sent has arrived."""

    place: str


Reply = Ran | Lacks | Refused | Kept


def run_trial(here: Here, terms: RunTerms, trial: Trial) -> Reply | None:
    """Run a trial on this worker; None when it was stopped."""
    try:
        other = differences(terms.versions)
        if other and not terms.recorded:
            advice = "install the same there, or have it recorded with --other-versions record"
            return Refused(here.place, f"{'; '.join(other)} ({advice})")
        key = dict(terms.rows.keys)[trial.dataset, trial.variant]
        if reason := rows.lacks(trial.dataset, trial.variant, key, terms.fetching):
            return Lacks(here.place, _folder(), reason)
        environment, were_sent = _environment(), rows.is_sent(key)
        outcome, died = _outcome(here, terms, trial)
        if outcome and outcome.status == "failed" and were_sent and not rows.is_sent(key):
            return Lacks(here.place, _folder(), outcome.reason)  # they were damaged
    except OkbenchError as error:
        return Refused(here.place, str(error))
    except OSError as error:
        return Refused(here.place, f"{type(error).__name__}: {error}")
    if outcome is None:
        return None
    extra = outcome.extra | ({"differs": other} if other else {})
    return Ran(here.place, replace(outcome, timed=terms.timed, extra=extra), environment, died)


def take_piece(here: Here, key: str, delivery: str, name: str, at: int, content: bytes) -> Reply:
    """Keep a piece of rows that the worker lacks."""
    try:
        rows.write_piece(key, delivery, name, at, content)
    except OSError as error:
        return Refused(here.place, f"{_folder()}: rows cannot be kept ({error})")
    return Kept(here.place)


def take_rows(here: Here, key: str, delivery: str, record: About) -> Reply:
    """Check rows whose pieces have all arrived, and keep them."""
    try:
        rows.keep(key, delivery, record)
    except (OkbenchError, OSError) as error:
        return Refused(here.place, str(error))
    return Kept(here.place)


def _folder() -> str:
    import platform

    return f"{platform.node()}:{data_folder()}"


@cache
def _environment() -> dict[str, Any]:
    """This machine, as a process sees it that runs trials: the process of the engine, which others
    use too, stays as it is."""
    worker = Worker(_say_environment)
    try:
        if not worker.connection.poll(_START_SECONDS):
            raise OkbenchError(f"no worker process could be started: {worker.death()}")
        found: dict[str, Any] = worker.connection.recv()
    except EOFError as error:
        raise OkbenchError(f"no worker process could be started: {worker.death()}") from error
    finally:
        worker.end()
    return found


def _say_environment(connection: Any) -> None:
    connection.send(dict(environment_here()))


def _outcome(here: Here, terms: RunTerms, trial: Trial) -> tuple[Outcome | None, bool]:
    """The outcome of a trial, None if it was stopped, and whether its process died."""
    endless = _endless.setdefault(terms.sources.digest, set())
    with (
        _slot(terms) as slot,
        closing(run_in([slot], [[trial]], here.stopped, endless)) as coming,
    ):
        return next(coming, None), slot.died


_Key = tuple[RowsOfRun, str, float, float]
_idle: list[tuple[_Key, Slot, float]] = []  # with the time since when
_endless: dict[str, set[str]] = {}  # by the sources: learners whose warm-up was ended
_lock = threading.Lock()


@contextmanager
def _slot(terms: RunTerms) -> Iterator[Slot]:
    """A slot of this run, kept from a trial before or new. It is ended, and the trial in it, unless
    the trial has ended by itself."""
    key = terms.rows, terms.sources.digest, terms.seconds, terms.bytes
    with _lock:
        found = next((one for one in _idle if one[0] == key), None)
        if found:
            _idle.remove(found)
    limits = Limits(terms.seconds, terms.bytes)
    slot = found[1] if found else Slot(terms.rows, limits, terms.sources.folder())
    try:
        yield slot
    finally:
        if slot.trial is not None:
            slot.end()
        with _lock:
            if not _idle:
                threading.Thread(target=_end_idle, daemon=True).start()
            _idle.append((key, slot, time.monotonic()))


def _end_idle() -> None:
    """End the processes that have run no trial for a while, until none is left."""
    left = True
    while left:
        time.sleep(IDLE_SECONDS / 4)
        with _lock:
            old = [one for one in _idle if time.monotonic() - one[2] >= IDLE_SECONDS]
            for one in old:
                _idle.remove(one)
            left = bool(_idle)
        for _, slot, _ in old:
            slot.end()
