"""Outcomes put together as far as they may be averaged, and no further."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from okbench.trials.nouns import Outcome, Trial

GroupKey = tuple[str, str]  # dataset, learner; with what tells it from its like


def grouped(outcomes: Iterable[Outcome]) -> dict[GroupKey, list[Outcome]]:
    """Outcomes that differ in their row order alone, by dataset and learner.

    Where a learner stands on a dataset in several ways (settings, versions, seeds, rows), its name
    tells them apart: `FOGD(step=0.1)`, `FOGD(version=2)`.
    """
    kinds: dict[tuple[str, str], dict[Trial, list[Outcome]]] = defaultdict(dict)
    for outcome in outcomes:
        trial = outcome.trial
        rows = f"{trial.dataset}:{trial.variant}" if trial.variant else trial.dataset
        kind = replace(trial, repetition=0)
        kinds[rows, trial.learner].setdefault(kind, []).append(outcome)
    named: dict[GroupKey, list[Outcome]] = {}
    for (rows, learner), groups in kinds.items():
        traits = {kind: _traits(kind) for kind in groups}
        common = set.intersection(*(set(own.items()) for own in traits.values()))
        for kind, group in groups.items():
            own = [f"{k}={v}" for k, v in traits[kind].items() if (k, v) not in common]
            named[rows, f"{learner}({', '.join(own)})" if own else learner] = group
    return named


def _traits(kind: Trial) -> dict[str, object]:
    return {
        **dict(kind.settings),
        "version": kind.learner_version,
        "rows": kind.fingerprint[:8],
        "order": kind.order,
        "seed": kind.seed,
        "protocol": f"{kind.protocol}/{kind.protocol_version}",
        "block": kind.block,
        "tolerance": kind.tolerance,
        "metric": kind.metric,
    }
