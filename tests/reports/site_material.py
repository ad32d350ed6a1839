"""A results folder with names that would break a careless page, and the site made of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from outcome_material import MACHINE, results_file
from small_table import measured, small_table

from okbench.papers.table_types import DatasetRow, LearnerColumn, Table
from okbench.reports.site.about import About, DatasetFacts
from okbench.reports.site.build import Site, build
from okbench.trials.trial_types import Outcome

HOSTILE = '<script>alert(1)</script> & "quotes"'
ROWS = "<img src=x onerror=alert(2)>"
NAME = 'made/50% "off" #1?'
CPU = "</dd><script>alert(3)</script>"
TITLE = "<b>Small</b> & 'simple'"
TOTALS = {"Perceptron": 200, HOSTILE: 150, "FOGD": 155}


def hostile_table(**more: Any) -> Table:
    """Three learners on two datasets, one of each named to do harm."""
    learners = (
        LearnerColumn("Perceptron", "Perceptron"),
        LearnerColumn(HOSTILE, "OGD"),
        LearnerColumn("FOGD", "FOGD"),
    )
    printed = {
        ("one", "Perceptron"): "20.0 ± 0.7",
        ("one", HOSTILE): "18.2 ± 0.1 </td>",
        ("one", "FOGD"): "15.5 ± 0.7",
        (ROWS, "Perceptron"): "20.3 ± 0.3",
    }
    fields: dict[str, Any] = {"name": NAME, "title": TITLE, "learners": learners}
    rows = (DatasetRow("one"), DatasetRow(ROWS))
    return small_table(printed, **{**fields, "datasets": rows, **more})


def hostile_outcomes(table: Table) -> Iterator[Outcome]:
    """All of `one`, and of the other dataset the Perceptron alone, half of it."""
    draw = random.Random(3)
    for label, total in TOTALS.items():
        totals = [total + draw.randrange(-9, 9) for _ in range(6)]
        yield from map(with_curve, measured(table, "one", label, totals, seconds=total / 1000))
    few = measured(table, ROWS, "Perceptron", [210, 205, 207], seconds=0.4)
    yield from map(with_curve, few)


def with_curve(outcome: Outcome) -> Outcome:
    """The outcome with a curve that falls to its score."""
    total = outcome.total or 0.0
    points = [(200 * k, total * (200 * k / 1000) + 30 - 6 * k, k, 0.1 * k) for k in range(1, 6)]
    return replace(outcome, curve=tuple(points))


def hostile_site(folder: Path) -> Site:
    """The site of the hostile table, in a folder of its own."""
    table = hostile_table()
    machines = {"e1": {**MACHINE, "cpu": CPU}}
    results_file(folder / f"runs/{NAME}.jsonl", list(hostile_outcomes(table)), machines=machines)
    facts = DatasetFacts("one", "binary", 2, page=f"https://example.org/{'long' * 30}")
    about = About(datasets={"one": facts})
    return build(folder / "runs", folder / "site", [table], about=about)


class Page(HTMLParser):
    """What a reader of markup finds: elements that do not close, texts, links, tables' rows."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.ids: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def row(self, *begins: str) -> list[str]:
        """The first row of a table whose cells begin so."""
        return next(row for row in self.rows if tuple(row[: len(begins)]) == begins)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id" and value]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)
        if {"td", "th"} & set(self.open) and self.rows:
            self.rows[-1][-1] += data
