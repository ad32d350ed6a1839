"""A figure as text: a sheet a panel, rows of the plotted data, everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from okbench.reports import numbers
from okbench.reports.csv_text import csv_text
from okbench.reports.figures.figure_data import Mark, Panel, Picture
from okbench.reports.tables.layout import Sheet, SheetText

CSV_COLUMNS = (
    "figure", "dataset", "learner", "x_name", "x", "quantity", "mean", "std", "n", "expected",
)  # fmt: skip
BOUND = "bound"  # a further column of a figure that draws one


def sheets_of(picture: Picture, metric: str) -> tuple[Sheet, ...]:
    """A sheet a panel: values down, lines across, each with what is proved of it beside it. The
    notes stand under the last. Without any panel, a sheet says that every line is missing."""
    if not picture.panels:
        rows = tuple((SheetText(label), SheetText("missing")) for label in picture.labels)
        title = f"{picture.name}: {picture.title}"
        return (Sheet(title, ("line", "measured"), (rows,), picture.notes, words=1),)
    sheets = []
    for panel in picture.panels:
        header, *lines = zip(*_columns(panel, metric), strict=True)
        last = panel is picture.panels[-1]
        sheets.append(
            Sheet(
                f"{picture.name}: {picture.title}, {panel.title} ({panel.y_name})",
                header,
                (tuple(tuple(map(SheetText, line)) for line in lines),),
                picture.notes if last else (),
                words=1,
            )
        )
    return tuple(sheets)


def _columns(panel: Panel, metric: str) -> Iterator[tuple[str, ...]]:
    """The columns of a panel's sheet, headings first."""
    places = sorted({mark.x for line in panel.lines.values() for mark in line})
    yield panel.x_name, *(f"{x:.12g}" for x in places)
    for label, line in panel.lines.items():
        at = {mark.x: mark for mark in line}
        yield label, *(words_of(at.get(x), metric) for x in places)
        if label in panel.bounds:
            yield BOUND, *(_bound_of(at.get(x), metric) for x in places)


def _bound_of(mark: Mark | None, metric: str) -> str:
    if mark is None or mark.bound is None:
        return ""
    return numbers.mean_and_std(metric, mark.bound, None)


def csv_of(picture: Picture) -> str:
    """What is plotted, one row per point, numbers as measured."""
    bounded = bool(picture.bound)
    rows: list[list[Any]] = [[*CSV_COLUMNS, *([BOUND] if bounded else [])]]
    for mark in picture.marks:
        spread = "" if mark.std is None else mark.std
        bound = "" if mark.bound is None else mark.bound
        rows.append(
            [picture.name, mark.dataset, mark.learner, mark.x_name, f"{mark.x:.12g}",
             mark.quantity, mark.mean, spread, mark.n, mark.expected, *([bound] if bounded else [])]
        )  # fmt: skip
    return csv_text(rows)


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


def words_of(mark: Mark | None, metric: str) -> str:
    """A point as a number, with the trials behind it where some are missing."""
    if mark is None:
        return "missing"
    if mark.quantity == "seconds":
        words = numbers.seconds(mark.mean)
    else:
        words = numbers.mean_and_std(metric, mark.mean, mark.std)
    return words if mark.n == mark.expected else f"{words} ({mark.n}/{mark.expected})"
