"""The transcribed papers as reports of printed numbers alone, to which claims are put."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from okbench.papers.nouns import PrintedCell
from okbench.reports.cells import Cell
from okbench.reports.report import Report

PAPERS = ("bkm", "ik", "lsokl", "raker", "rrf")
_FOLDER = Path(os.environ.get("OKBENCH_SHARED", Path(__file__).parents[3] / "shared")) / "papers"


def transcribed(paper: str) -> dict[str, Any]:
    """A transcribed paper; a test that needs it is skipped, or fails in CI, when it is not here."""
    path = _FOLDER / f"{paper}.yaml"
    if not path.is_file():
        told = f"claims of {paper} not checked: ../shared is not here"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    return _read(path)


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
