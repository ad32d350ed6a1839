"""Trials of one learner on the same rows that compute once what they have in common.

A learner's class may name a `shared_setting` and have a function `share`, which is given learners
that differ in that setting alone before any of them meets a row. Their outcomes are those of trials
that run alone, but for the seconds: only their sum means anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from okbench.learners.registry import find
from okbench.trials.plan.planning import Load
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt, ready
from okbench.trials.trial_types import Outcome, Trial


def groups_of(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Trials that differ in the shared setting of their learner alone, in the order of the first of
    each group; others by themselves."""
    groups: dict[Trial, list[Trial]] = {}
    for trial in trials:
        shared = getattr(find(trial.learner).load(), "shared_setting", None)
        settings = tuple(pair for pair in trial.settings if pair[0] != shared)
        groups.setdefault(replace(trial, settings=settings), []).append(trial)
    return list(groups.values())


def attempt_group(trials: Sequence[Trial], load: Load, limits: Limits) -> Iterator[Outcome]:
    """Run the trials of a group, one after the other."""
    learners: list[Any] = [None] * len(trials)
    if len(trials) > 1:
        with suppress(Exception):  # then each trial says for itself what is wrong
            learners = _sharing(trials, load)
    for trial, learner in zip(trials, learners, strict=True):
        yield attempt(trial, load, limits, learner=learner)


def _sharing(trials: Sequence[Trial], load: Load) -> list[Any]:
    """The learners of a group, made and told of each other."""
    cls: Any = find(trials[0].learner).load()
    dataset = load(trials[0].dataset, trials[0].variant)
    learners = [ready(cls, trial, dataset) for trial in trials]
    cls.share(learners)
    return learners
