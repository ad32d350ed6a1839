"""The learners that learn row by row."""

from __future__ import annotations

from okbench.learners.registry import Entry, catalogue
from okbench.protocols.contract import ONLINE


def learners_online() -> list[Entry]:
    """Those of the registry, in its order."""
    return [entry for entry in catalogue().values() if ONLINE.is_filled_by(entry.load())]
