"""A figure as text: a sheet a panel, rows of the plotted data, everything as JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict

from okbench.papers.nouns import Metric
from okbench.reports import numbers
from okbench.reports.figures import Mark, Picture
from okbench.reports.sheets import Entry, Sheet

CSV_COLUMNS = (
    "figure", "dataset", "learner", "x_name", "x", "quantity", "mean", "std", "n", "expected",
)  # fmt: skip


def sheets_of(picture: Picture, metric: Metric) -> tuple[Sheet, ...]:
    """A sheet a panel: values down, lines across. The notes stand under the last."""
    sheets = []
    for panel in picture.panels:
        marks = {(mark.x, label): mark for label, line in panel.lines.items() for mark in line}
        rows = tuple(
            (
                Entry(f"{x:.12g}"),
                *(Entry(words_of(marks.get((x, label)), metric)) for label in panel.lines),
            )
            for x in sorted({x for x, _ in marks})
        )
        last = panel is picture.panels[-1]
        sheets.append(
            Sheet(
                f"{picture.name}: {picture.title}, {panel.title} ({panel.y_name})",
                (panel.x_name, *panel.lines),
                (rows,),
                picture.notes if last else (),
                words=1,
            )
        )
    return tuple(sheets)


def csv_of(picture: Picture) -> str:
    """What is plotted, a row a point, numbers as measured."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for mark in picture.marks:
        spread = "" if mark.std is None else mark.std
        writer.writerow(
            [picture.name, mark.dataset, mark.learner, mark.x_name, f"{mark.x:.12g}",
             mark.quantity, mark.mean, spread, mark.n, mark.expected]
        )  # fmt: skip
    return page.getvalue()


def json_of(picture: Picture) -> str:
    """The figure with its notes, numbers as measured."""
    record = {
        "okbench": "figure",
        "schema": 1,
        "figure": picture.name,
        "title": picture.title,
        "points": [asdict(mark) for mark in picture.marks],
        "absent": picture.absent,
        "notes": picture.notes,
    }
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def words_of(mark: Mark | None, metric: Metric) -> str:
    """A point as a number, with the trials behind it where some are missing."""
    if mark is None:
        return "missing"
    if mark.quantity == "seconds":
        words = numbers.seconds(mark.mean)
    else:
        words = numbers.mean_and_std(metric, mark.mean, mark.std)
    return words if mark.n == mark.expected else f"{words} ({mark.n}/{mark.expected})"
