"""Trials of one learner on the same rows that compute once what they have in common.

A learner's class may name `shared_settings` and have a function `share`, which is given learners
that differ in these settings alone before any of them meets a row. Their outcomes are those of
trials that run alone, but for the seconds, of which only the sum means anything, and for the room
for more rows in the bytes of a model that several learners have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from okbench.learners.registry import find
from okbench.trials.plan.planning import Load
from okbench.trials.run.run_trial import ready
from okbench.trials.trial_types import Trial


def groups_of(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Trials that differ in the shared settings of their learner alone, in the order of the first
    of each group; others by themselves."""
    groups: dict[Trial, list[Trial]] = {}
    for trial in trials:
        shared = getattr(find(trial.learner).load(), "shared_settings", ())
        settings = tuple(pair for pair in trial.settings if pair[0] not in shared)
        groups.setdefault(replace(trial, settings=settings), []).append(trial)
    return list(groups.values())


def alone(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Every trial by itself."""
    return [[trial] for trial in trials]


def sharing_learners(group: Sequence[Trial], load: Load) -> dict[Trial, Any]:
    """The learners of a group, made and given to `share`. There are none where there is nothing to
    share, nor where one cannot be made: then each trial says for itself what is wrong."""
    if len(group) < 2:
        return {}
    with suppress(Exception):
        cls: Any = find(group[0].learner).load()
        dataset = load(group[0].dataset, group[0].variant)
        learners = [ready(cls, trial, dataset) for trial in group]
        cls.share(learners)
        return dict(zip(group, learners, strict=True))
    return {}
