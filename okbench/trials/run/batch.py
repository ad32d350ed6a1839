"""Outcomes that arrive together, and are stored together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from okbench.trials.trial_types import Outcome


@dataclass(frozen=True)
class Batch:
    """Outcomes, the records of the environments that they name, what the user should know, and how
    many trials each worker of a cluster has run, by its name."""

    outcomes: tuple[Outcome, ...]
    environments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    workers: Mapping[str, int] = field(default_factory=dict)
