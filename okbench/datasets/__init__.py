"""From a name to rows: `load("cod-rna")` gives a `Dataset`, from verified files or a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from okbench.datasets.dataset_types import Dataset

__all__ = ["load", "missing"]


def load(name: str, variant: str = "") -> Dataset:
    """The prepared rows of a dataset, read once per process and shared by its threads."""
    from okbench.datasets.prepare.loading import load

    return load(name, variant)


def missing(name: str, variant: str = "") -> str | None:
    """What is not here yet and the command that fetches it; None when `load` would succeed."""
    from okbench.datasets.prepare.loading import missing

    return missing(name, variant)
