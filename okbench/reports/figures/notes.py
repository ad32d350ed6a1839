"""What a reader of a figure must know besides its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from okbench.papers.table_types import Table
from okbench.reports.figures.bounds import TOLD

if TYPE_CHECKING:
    from okbench.reports.figures.figure_data import Mark


def notes(
    table: Table,
    marks: Sequence[Mark],
    absent: Sequence[str],
    gaps: Sequence[str],
    machines: Sequence[str],
    timed: bool,
) -> Iterator[str]:
    """Sentences for the caption; `gaps` are lines without a mark, `timed` says that every trial was
    measured alone."""
    assert table.figure
    orders = sorted({mark.expected for mark in marks})
    yield f"Means over {_range(orders)} row orders; shaded: standard deviation (n − 1)."
    if table.figure.bound:
        yield f"{TOLD[table.figure.bound]}, thin and dashed."
        if any(mark.bound is not None and mark.mean == 0 for mark in marks):
            yield "Where 0 % were measured nothing is drawn: the axis is logarithmic."
    short = sorted({mark.n for mark in marks if mark.n < mark.expected})
    if short:
        yield f"Some points are of fewer trials ({_range(short)})."
    inferred = {
        column.point.name: setting.reason
        for (_, label), settings in table.settings.items()
        for column in table.learners
        if column.label == label and column.point
        if (setting := settings.get(column.point.name)) and setting.source == "inferred"
    }
    for name, reason in inferred.items():
        yield f"Values of {name}: inferred ({reason})."
    if absent:
        yield f"Left out, not measured here: {', '.join(absent)}."
    if gaps:
        yield f"No line, not measured here: {', '.join(gaps)}."
    if "seconds" in table.figure.quantities and marks:
        for machine in machines:
            yield f"Seconds inside the learner on {machine}."
        if not timed:
            yield "Trials may have run side by side; okbench run --timing measures each alone."


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return "no"
    least, most = counts[0], counts[-1]
    return f"{most}" if least == most else f"{least} to {most}"
