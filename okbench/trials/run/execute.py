"""Run trials side by side and hand out each outcome as it comes."""

from __future__ import annotations

import math
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from okbench.base.errors import OkbenchError, UsageError
from okbench.base.quantities import now
from okbench.learners.registry import find
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.run.workers import StopSignal, begin_work, terminable, use_one_thread
from okbench.trials.trial_types import Outcome, Trial

_JOBLIB_NAMES = {"threads": "threading", "processes": "loky"}


def execute(
    trials: Iterable[Trial], load: Load, options: Options
) -> Generator[Outcome, None, None]:
    """The outcomes of trials, in the order they come to an end.

    Compiled learners run in threads that share the rows, all others in worker processes, which
    call `load` (cached, and picklable) for themselves. When the run is interrupted, by Ctrl-C,
    SIGTERM or by closing the iterator, nothing is handed out of the trials under way, and no
    worker survives. Close it (`contextlib.closing`) if you leave it early.
    """
    use_one_thread()
    with _stop_signal() as signal, terminable():
        limits = Limits(options.time_limit or math.inf, options.memory_limit, signal.is_cut)
        if options.timing:
            for trial in _alternating(trials):
                yield replace(attempt(trial, load, limits), timed=True)
            return
        for backend, group in _by_backend(trials, options).items():
            if backend == "processes":
                coming = _surviving(group, load, limits, signal, options.jobs)
            elif backend in _JOBLIB_NAMES:
                coming = _side_by_side(group, load, limits, signal, backend, options.jobs)
            else:  # another machine does not see the signal
                loose = replace(limits, stopped=Limits.stopped)
                coming = _side_by_side(group, load, loose, signal, backend, options.jobs)
            with closing(coming) as outcomes:
                yield from outcomes


@contextmanager
def _stop_signal() -> Iterator[StopSignal]:
    """A signal that is cut on the way out, whatever the way."""
    with tempfile.TemporaryDirectory(prefix="okbench-", ignore_cleanup_errors=True) as folder:
        signal = StopSignal.tied(Path(folder))
        try:
            yield signal
        finally:
            signal.cut()


def _alternating(trials: Iterable[Trial]) -> list[Trial]:
    """Learner after learner on the same rows, so that a slow minute does not hit one of them."""
    return sorted(trials, key=lambda trial: (trial.repetition, trial.dataset, trial.variant))


def _by_backend(trials: Iterable[Trial], options: Options) -> dict[str, list[Trial]]:
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        compiled = getattr(find(trial.learner).load(), "compiled", False)
        suited = "threads" if compiled else "processes"
        groups.setdefault(options.backend or suited, []).append(trial)
    return groups


def _surviving(
    trials: list[Trial], load: Load, limits: Limits, signal: StopSignal, jobs: int
) -> Generator[Outcome, None, None]:
    """Outcomes from worker processes; one that dies costs the trials under way and no others."""
    waiting = {trial.id: trial for trial in trials}
    while waiting:
        lost: list[Outcome] = []
        try:
            group = list(waiting.values())
            with closing(_side_by_side(group, load, limits, signal, "processes", jobs)) as outcomes:
                for outcome in outcomes:
                    del waiting[outcome.trial.id]
                    yield outcome
        except BrokenProcessPool as death:
            reason = _cause(death)
            begun = signal.left_behind() & waiting.keys()
            if not begun:
                raise OkbenchError(f"no worker process could be started: {reason}") from death
            lost = [
                Outcome(waiting.pop(id_), "failed", reason=reason, finished=now())
                for id_ in sorted(begun)
            ]
        yield from lost


def _side_by_side(
    trials: list[Trial],
    load: Load,
    limits: Limits,
    signal: StopSignal,
    backend: str,
    jobs: int,
) -> Generator[Outcome, None, None]:
    """Outcomes from joblib, `jobs` trials at a time."""
    jobs = min(jobs, len(trials))
    workers, extra = jobs, {}
    if backend == "processes":
        # One job would run here, where a learner that ends its process ends the whole run. So
        # there are two workers at least; handing out `jobs` trials at a time keeps the second idle.
        workers = max(2, jobs)
        extra = {"initializer": begin_work, "initargs": (os.getpid(), tuple(sys.path))}
    try:
        parallel = joblib.Parallel(
            n_jobs=workers,
            backend=_JOBLIB_NAMES.get(backend, backend),
            return_as="generator_unordered",
            pre_dispatch=jobs,
            batch_size=1,
            **extra,
        )
    except ValueError as error:
        raise UsageError(f"backend '{backend}': {error}") from error
    run: Any = joblib.delayed(_run)
    outcomes = parallel(run(trial, load, limits, signal) for trial in trials)
    try:
        for outcome in outcomes:  # noqa: UP028 – delegating would close them outside the filter
            yield outcome
    finally:
        with warnings.catch_warnings():  # joblib warns of results that nobody waited for
            warnings.simplefilter("ignore", UserWarning)
            outcomes.close()


def _run(trial: Trial, load: Load, limits: Limits, signal: StopSignal) -> Outcome:
    use_one_thread()
    with signal.at(trial):
        return attempt(trial, load, limits)


def _cause(death: BrokenProcessPool) -> str:
    """What is known of a worker's end, in the exit codes a shell would show."""
    codes = {int(code) for code in re.findall(r"\((-?\d+)\)", str(death))}
    shown = ", ".join(str(128 - code if code < 0 else code) for code in sorted(codes))
    if not shown:
        return f"worker died: {str(death).splitlines()[0]}"
    killed = "; 137 means the system killed it, most often for lack of memory"
    return f"worker died (exit {shown}{killed if -9 in codes else ''})"
