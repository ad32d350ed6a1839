"""What the pages say of learners and datasets beyond their outcomes.

Reports import neither learners nor datasets, so whoever builds a site hands this over. What is not
given is left out of the pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SettingFacts:
    """A setting of a learner: its default as text, empty if it must be given, and its meaning."""

    name: str
    default: str
    meaning: str = ""


@dataclass(frozen=True)
class LearnerFacts:
    """A learner by its own name: its rule in a sentence, and what its class says besides."""

    name: str
    summary: str
    description: str
    paper: str
    version: int
    tasks: tuple[str, ...]
    settings: tuple[SettingFacts, ...] = ()


@dataclass(frozen=True)
class DatasetFacts:
    """A dataset as its entry describes it; `variants` are the sizes and preparations of papers."""

    name: str
    task: str
    features: int | None
    cite: str = ""
    licence: str = ""
    page: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class About:
    """All of them by name."""

    learners: Mapping[str, LearnerFacts] = field(default_factory=dict)
    datasets: Mapping[str, DatasetFacts] = field(default_factory=dict)
