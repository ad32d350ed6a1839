"""Outcomes put together as far as they may be averaged, and no further."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from okbench.trials.trial_types import Family, Outcome, Trial

GroupKey = tuple[str, str]  # dataset, learner; with what distinguishes it from others


Kinds = dict[GroupKey, dict[Family, list[Outcome]]]


def grouped(outcomes: Iterable[Outcome]) -> dict[GroupKey, list[Outcome]]:
    """Outcomes that differ in their permutation alone, by dataset and learner.

    If a learner was run on a dataset in several ways (settings, versions, seeds, rows), its name
    states the difference: `FOGD(step=0.1)`, `FOGD(version=2)`.
    """
    return grouped_alike([outcomes])[0]


def grouped_alike(
    sets: Sequence[Iterable[Outcome]],
) -> list[dict[GroupKey, list[Outcome]]]:
    """Several sets so grouped, each group with the same name in all of them. Where no set has a
    learner in several ways, it keeps its plain name, however the sets differ.
    """
    found = [_kinds(outcomes) for outcomes in sets]
    named: list[dict[GroupKey, list[Outcome]]] = [{} for _ in sets]
    for rows, learner in dict.fromkeys(key for kinds in found for key in kinds):
        groups = [kinds.get((rows, learner), {}) for kinds in found]
        suffixes = _distinctions(groups) if max(map(len, groups)) > 1 else {}
        for into, of_set in zip(named, groups, strict=True):
            for kind, group in of_set.items():
                into[rows, learner + suffixes.get(kind, "")] = group
    return named


def _kinds(outcomes: Iterable[Outcome]) -> Kinds:
    by_family: dict[Family, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_family[outcome.trial.family].append(outcome)
    found: Kinds = defaultdict(dict)
    for family, group in by_family.items():
        trial = family.trial
        rows = f"{trial.dataset}:{trial.variant}" if trial.variant else trial.dataset
        found[rows, trial.learner][family] = group
    return found


def _distinctions(groups: Iterable[Iterable[Family]]) -> dict[Family, str]:
    """What each kind has that not all of them have: `(step=0.1)`."""
    traits: Mapping[Family, Mapping[str, object]] = {
        kind: _traits(kind.trial) for kinds in groups for kind in kinds
    }
    common = set.intersection(*(set(own.items()) for own in traits.values()))
    own = {
        kind: [f"{name}={value}" for name, value in of_kind.items() if (name, value) not in common]
        for kind, of_kind in traits.items()
    }
    return {kind: f"({', '.join(words)})" for kind, words in own.items() if words}


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
