"""A table of two real learners on two datasets, and outcomes that `recall` finds for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outcome_material import outcome

from okbench.learners.registry import find
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    PrintedCell,
    Protocol,
    Setting,
    Table,
)
from okbench.trials.plan.resolve_settings import resolve_settings
from okbench.trials.trial_types import Outcome, Trial

RUNS = 6


def small_table(printed: Mapping[tuple[str, str], str] | None = None, **more: Any) -> Table:
    """Perceptron and FOGD on `one` and `two`; `printed` texts by dataset and learner."""
    cells = {
        key: PrintedCell(*key, mean=float(text.split()[0]), std=1.0, text=text)
        for key, text in (printed or {}).items()
    }
    fields: dict[str, Any] = {
        "name": "made/small",
        "title": "A small table",
        "paper": "made",
        "protocol": Protocol("single-pass", "mistake_rate", RUNS),
        "datasets": (DatasetRow("one"), DatasetRow("two")),
        "learners": (LearnerColumn("Perceptron", "Perceptron"), LearnerColumn("FOGD", "FOGD")),
        "settings": {
            (name, "FOGD"): {"step": Setting(0.01, "inferred", "a guess")}
            for name in ("one", "two")
        },
        "printed": cells,
    }
    return Table(**{**fields, **more})


def measured(
    table: Table, dataset: str, label: str, totals: Sequence[float | None], **more: Any
) -> list[Outcome]:
    """Outcomes of a cell, one per permutation."""
    column = next(column for column in table.learners if column.label == label)
    entry = find(column.learner)
    cls = entry.load()
    settings = resolve_settings(cls, label, table.settings.get((dataset, label), {}), "here")
    return [
        outcome(
            total,
            Trial(dataset, "", "f1", entry.name, entry.version, settings, "single-pass",
                  "mistake_rate", repetition),
            **more,
        )
        for repetition, total in enumerate(totals)
    ]  # fmt: skip


PERCEPTRON = (200, 210, 190, 205, 195, 200)
FOGD = (150, 160, 140, 155, 145, 150)


def all_measured(table: Table) -> list[Outcome]:
    """Every trial of the small table, FOGD the better one."""
    return [
        one
        for dataset in ("one", "two")
        for label, totals in (("Perceptron", PERCEPTRON), ("FOGD", FOGD))
        for one in measured(table, dataset, label, totals)
    ]
