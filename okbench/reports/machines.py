"""Seconds of different machines have no mean: which outcomes a mean of seconds is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from okbench.trials.trial_types import Outcome


def of_one_machine(
    clocked: Sequence[Outcome], most: Mapping[str, int] | None = None
) -> list[Outcome]:
    """The outcomes of one environment: that with the most of these outcomes, or by `most`, with the
    most of a table, so that its cells can be compared."""
    counts = Counter(outcome.environment for outcome in clocked)
    ranks = most or counts
    chosen = max(counts, key=lambda name: (ranks.get(name, 0), name), default="")
    return [outcome for outcome in clocked if outcome.environment == chosen]
