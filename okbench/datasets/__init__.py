"""From a name to rows: `load("cod-rna")` gives a `Dataset`, from verified files or a seed.

catalogue       which datasets there are, and what their entries hold
fetch           files from official addresses or a mirror, verified
data_folder     where verified files are, and what was recorded of them
readers         files of many formats as rows
prepare         rows as a paper learned them, kept on disk
user            user-defined rows
embedded        rows that need no files
changing        the streams among them whose concept changes
describe        what a dataset holds, beside what its entry says
dataset_types   the `Dataset` and its fingerprint
unpack          compressed files and archives
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from okbench.datasets.dataset_types import Dataset

__all__ = [
    "catalogue",
    "changing",
    "data_folder",
    "dataset_types",
    "describe",
    "embedded",
    "fetch",
    "load",
    "missing",
    "prepare",
    "readers",
    "unpack",
    "user",
]


def load(name: str, variant: str = "") -> Dataset:
    """The prepared rows of a dataset, read once per process and shared by its threads."""
    from okbench.datasets.prepare.loading import load

    return load(name, variant)


def missing(name: str, variant: str = "") -> str | None:
    """What is not here yet and the command that fetches it; None when `load` would succeed."""
    from okbench.datasets.prepare.loading import missing

    return missing(name, variant)
