"""What became of a trial that is gone: which trial stands in its place, and how it differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from okbench.trials.trial_types import Trial


class Changes:
    """Finds the trial that replaces one that is gone, and names how the two differ."""

    def __init__(self, others: Iterable[Trial]) -> None:
        self._by_slot: dict[Trial, list[Trial]] = defaultdict(list)
        for trial in others:
            self._by_slot[_slot(trial)].append(trial)

    def of(self, gone: Trial) -> str:
        """What changed, in words; empty when nothing stands in its place."""
        found = [difference(gone, trial) for trial in self._by_slot.get(_slot(gone), ())]
        return min(found, key=len, default="")


def _slot(trial: Trial) -> Trial:
    return replace(trial, fingerprint="", learner_version=0, settings=(), protocol_version=0)


def difference(old: Trial, new: Trial) -> str:
    """How two trials of one learner on one dataset differ, besides their permutations."""
    changes = []
    if old.learner_version != new.learner_version:
        changes.append(f"learner version {old.learner_version} → {new.learner_version}")
    before, after = dict(old.settings), dict(new.settings)
    changes += [
        f"{name} {before.get(name)!r} → {after.get(name)!r}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    if old.fingerprint != new.fingerprint:
        changes.append("other rows")
    changes += [
        f"{name.replace('_', ' ')} {getattr(old, name)} → {getattr(new, name)}"
        for name in ("seed", "order", "protocol", "protocol_version", "block", "tolerance")
        if getattr(old, name) != getattr(new, name)
    ]
    return ", ".join(changes)
