"""What a paper prints in a cell, read from the words it prints."""

from __future__ import annotations

import re

from okbench.base.config_nodes import Node
from okbench.papers.table_types import PrintedCell, Unit

_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?"
_PARTS = re.compile(rf"({_NUMBER})\s*\(.*\)")  # 1.44 (1.42 + 0.02): a total and its parts
SECONDS: dict[Unit, int] = {"seconds": 1, "minutes": 60, "hours": 3600}
_METRIC = re.compile(rf"({_NUMBER})\s*%?\s*(?:±\s*({_NUMBER})\s*%?)?\s*\*?")  # a star says: best


def printed_cell(dataset: str, learner: str, node: Node, unit: Unit = "seconds") -> PrintedCell:
    """A cell written as `35.2 % ± 0.9`, `[35.2 % ± 0.9, 0.112]` with its seconds, or with names:
    `{text: 35.2 % ± 0.9, seconds: 0.112, filler: why the 0.9 is no deviation}`.

    A star at the end marks what is significantly the best: `54.21 ± 0.33*`.
    What is no number (`NA`, `> 1 week`) stays words: then `mean` or `seconds` is None. Of a total
    with its parts, `1.44 (1.42 + 0.02)`, the total counts. Times are printed in `unit`.
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
        seconds=_total(words.get("seconds"), unit),
        text=words.get("text", ""),
        seconds_text=words.get("seconds", ""),
        note=words.get("note", ""),
        filler=words.get("filler", ""),
    )


def _total(words: str | None, unit: Unit) -> float | None:
    parts = _PARTS.fullmatch(words or "")
    total = _number(parts[1] if parts else words)
    return None if total is None else total * SECONDS[unit]


def _number(words: str | None) -> float | None:
    if words is None or not re.fullmatch(_NUMBER, words):
        return None
    return float(words.replace(",", ""))
