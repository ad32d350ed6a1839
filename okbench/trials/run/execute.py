"""Run trials side by side and hand out each outcome as it comes."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import joblib

from okbench.learners.registry import find, is_ours
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.run.guarded import run_guarded
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.run.sharing import alone, groups_of, sharing_learners
from okbench.trials.run.workers import terminable, use_one_thread
from okbench.trials.trial_types import Outcome, Trial


def execute(
    trials: Iterable[Trial], load: Load, options: Options
) -> Generator[Outcome, None, None]:
    """The outcomes of trials, in the order they come to an end.

    Compiled learners of okbench run in threads that share the rows, as long as no limit is set. All
    other trials run in worker processes that can be ended, which call `load` (cached, and
    picklable) for themselves. When the run is interrupted, by Ctrl-C, SIGTERM or by closing the
    iterator, nothing is handed out of the trials under way, and no worker survives. Close it
    (`contextlib.closing`) if you leave it early.
    """
    use_one_thread()
    stop = threading.Event()
    limits = Limits(options.time_limit or math.inf, options.memory_limit, stop.is_set)
    with terminable():
        try:
            if options.timing:
                for outcome in _one_by_one(trials, load, limits, options):
                    yield replace(outcome, timed=True)
                return
            is_sharing = options.sharing and options.memory_limit == math.inf
            for backend, those in _by_backend(trials, options).items():
                groups = groups_of(those) if is_sharing else alone(those)
                start = run_guarded if backend == "processes" else _side_by_side
                coming = start(groups, load, limits, options.jobs)
                with closing(coming) as outcomes:
                    yield from outcomes
        finally:
            stop.set()


def _one_by_one(
    trials: Iterable[Trial], load: Load, limits: Limits, options: Options
) -> Generator[Outcome, None, None]:
    """Here, or in one worker process when any of the trials needs one: under equal conditions."""
    ordered = alternating(trials)
    if "processes" in {_backend(trial, options) for trial in ordered}:
        with closing(run_guarded(alone(ordered), load, limits, 1)) as outcomes:
            yield from outcomes
    else:
        yield from (attempt(trial, load, limits) for trial in ordered)


def alternating(trials: Iterable[Trial]) -> list[Trial]:
    """Learner after learner on the same rows, so that a slow minute does not hit one of them."""
    return sorted(trials, key=lambda trial: (trial.repetition, trial.dataset, trial.variant))


def _by_backend(trials: Iterable[Trial], options: Options) -> dict[str, list[Trial]]:
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(_backend(trial, options), []).append(trial)
    return groups


def _backend(trial: Trial, options: Options) -> str:
    limited = min(options.time_limit or math.inf, options.memory_limit) < math.inf
    guarded = options.backend == "processes" or limited or not _is_trusted(trial.learner)
    return "processes" if guarded else "threads"


def _is_trusted(learner: str) -> bool:
    """Whether a learner returns from its calls and lets other threads run meanwhile."""
    entry = find(learner)
    return is_ours(entry) and getattr(entry.load(), "compiled", False)


def _side_by_side(
    groups: Sequence[Sequence[Trial]], load: Load, limits: Limits, jobs: int
) -> Generator[Outcome, None, None]:
    """Outcomes from threads, `jobs` groups of trials at a time."""
    jobs = min(jobs, len(groups))
    parallel = joblib.Parallel(
        n_jobs=jobs,
        backend="threading",
        return_as="generator_unordered",
        pre_dispatch=jobs,
        batch_size=1,
    )
    run: Any = joblib.delayed(_run)
    coming = parallel(run(group, load, limits) for group in groups)
    try:
        for outcomes in coming:
            yield from outcomes
    finally:
        with warnings.catch_warnings():  # joblib warns of results that nobody waited for
            warnings.simplefilter("ignore", UserWarning)
            coming.close()


def _run(group: Sequence[Trial], load: Load, limits: Limits) -> list[Outcome]:
    use_one_thread()
    learners = sharing_learners(group, load)
    return [attempt(trial, load, limits, learner=learners.pop(trial, None)) for trial in group]
