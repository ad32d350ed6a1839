"""The transcribed papers as reports of printed numbers alone, to which claims are put."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from okbench.papers.table_types import PrintedCell
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report
from tests.shared import SHARED

PAPERS = ("bkm", "ik", "lsokl", "raker", "rrf")


def transcribed(paper: str) -> dict[str, Any]:
    """A transcribed paper."""
    return _read(SHARED / "papers" / f"{paper}.yaml")


@cache
def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def printed_report(table: str) -> Report | None:
    """A table's printed cells, rates in percent; None for a table that prints none."""
    for found in transcribed(table.partition("/")[0])["tables"]:
        if found["id"] == table and "cells" in found:
            return _report(table, found)
    return None


def _report(table: str, found: dict[str, Any]) -> Report:
    protocol = found["protocol"]
    unit = (protocol["metric"] or {}).get("unit", "")
    scale = 100.0 if unit == "fraction" else 1.0
    higher = "higher" in (protocol["metric"] or {}).get("direction", "")
    names = {one["name"]: one.get("canonical") or one["name"] for one in found["datasets"]}
    told = {(names[one["dataset"]], one["algorithm"]): one for one in found["cells"]}
    datasets = tuple(dict.fromkeys(names.values()))
    learners = tuple(dict.fromkeys(learner for _, learner in told))
    metric = "accuracy" if higher else "mistake_rate"
    cells = {
        (dataset, learner): Cell(
            dataset, learner, metric, (), 1, printed=_cell(dataset, learner, told, scale)
        )
        for dataset in datasets
        for learner in learners
    }
    return Report(table, table, metric, not higher, datasets, learners, cells, ())  # type: ignore[arg-type]


def _cell(dataset: str, learner: str, told: dict[Any, Any], scale: float) -> PrintedCell | None:
    one = told.get((dataset, learner))
    if one is None:
        return None
    mean = (one.get("metric") or {}).get("mean")
    return PrintedCell(
        dataset, learner, None if mean is None else scale * mean, seconds=one["time"]
    )
