"""The papers: their titles, authors and links, from configs/papers.yml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.shipped import shipped


@dataclass(frozen=True)
class Paper:
    """A paper as it is cited; `key` is the folder of its tables, `link` empty if none is known."""

    key: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    link: str = ""


def papers(path: Path | None = None) -> Mapping[str, Paper]:
    """Every paper by its key."""
    # .yml, because every .yaml below configs/ is a table
    items = read_yaml(path or shipped("configs") / "papers.yml").items()
    return {key: _paper(key, node) for key, node in items}


def _paper(key: str, node: Node) -> Paper:
    required = ["title", "authors", "venue", "year"]
    fields = node.fields({*required, "link"}, required)
    link = fields["link"].text() if "link" in fields else ""
    if link and not link.startswith("https://"):
        raise fields["link"].error("a link begins with https://")
    return Paper(
        key,
        fields["title"].text(),
        tuple(author.text() for author in fields["authors"].elements()),
        fields["venue"].text(),
        fields["year"].integer(),
        link,
    )
