"""What a paper prints in a cell, read from the words it prints."""

from __future__ import annotations

import re

from okbench.base.config_nodes import Node
from okbench.papers.table_types import PrintedCell

_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
_METRIC = re.compile(rf"({_NUMBER})\s*%?\s*(?:±\s*({_NUMBER})\s*%?)?")


def printed_cell(dataset: str, learner: str, node: Node) -> PrintedCell:
    """A cell written as `35.2 % ± 0.9`, `[35.2 % ± 0.9, 0.112]` with its seconds, or with names:
    `{text: 35.2 % ± 0.9, seconds: 0.112, filler: why the 0.9 is no deviation}`.

    What is no number (`NA`, `> 1 week`) stays words: then `mean` or `seconds` is None.
    """
    if node.kind == "mapping":
        parts = node.fields({"text", "seconds", "note", "filler"})
    elif node.kind == "list":
        elements = node.elements()
        if not 1 <= len(elements) <= 2:
            raise node.error("a printed cell is [metric] or [metric, seconds]")
        parts = dict(zip(("text", "seconds"), elements, strict=False))
    else:
        parts = {"text": node}
    words = {name: part.text() for name, part in parts.items()}
    metric = _METRIC.fullmatch(words.get("text", ""))
    mean, std = metric.groups() if metric else (None, None)
    return PrintedCell(
        dataset,
        learner,
        mean=_number(mean),
        std=None if "filler" in words else _number(std),
        seconds=_number(words.get("seconds")),
        text=words.get("text", ""),
        seconds_text=words.get("seconds", ""),
        note=words.get("note", ""),
        filler=words.get("filler", ""),
    )


def _number(words: str | None) -> float | None:
    if words is None or not re.fullmatch(_NUMBER, words):
        return None
    return float(words.replace(",", ""))
