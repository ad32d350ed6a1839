"""Where each page and file of the site is."""

from __future__ import annotations

import re
from pathlib import Path
from zlib import crc32

from okbench.papers.table_names import file_of

Place = tuple[str, str]  # a page, and the name of a place in it

INDEX = "index.html"
CLAIMS = "claims.html"
RANKS = "ranks.html"
MEMORY = "memory.html"
LEARNERS = "learners.html"
DATASETS = "datasets.html"

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


def page_of(table: str) -> str:
    """The page of a table."""
    return file_of(Path("tables"), table, ".html").as_posix()


def raw_of(table: str) -> str:
    """The outcomes of a table as they were written."""
    return file_of(Path("raw"), table, ".jsonl").as_posix()


def trials_of(table: str, number: int) -> str:
    """A page of the list of a table's trials, counted from 1."""
    return file_of(Path("trials"), table, f".{number}.html").as_posix()


def config_of(table: str, variant: str = "") -> str:
    """The configuration of a table, or one of the files of settings beside it."""
    return file_of(Path("config"), table, f"{variant and '.'}{variant}.yaml").as_posix()


def learner_page(name: str) -> str:
    """The page of a learner, by its own name."""
    return f"learners/{_plain(name)}.html"


def dataset_page(name: str) -> str:
    """The page of a dataset."""
    return f"datasets/{_plain(name)}.html"


def anchor(*names: str) -> str:
    """The name of a place of a page."""
    return "-".join(map(_plain, names))


def _plain(name: str) -> str:
    """A name of plain letters, digits and dashes that is unlike that of every other name. Names of
    learners and of datasets never differ in capital and small letters alone.
    """
    plain = _NOT_PLAIN.sub("-", name).strip("-.")[:60]
    return plain if plain == name else f"{plain}-{crc32(name.encode('utf-8', 'replace')):08x}"
