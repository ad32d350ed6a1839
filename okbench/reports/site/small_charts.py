"""A chart of the size of three lines of text, which shows a table on the first page."""

from __future__ import annotations

from collections.abc import Sequence

from okbench.reports.figures.figure_data import Picture
from okbench.reports.site.axes import axis
from okbench.reports.site.charts import drawable
from okbench.reports.site.markers import look, marker, px
from okbench.reports.site.markup import Markup, tag
from okbench.reports.site.plot import path
from okbench.reports.tables.report import Report

_WIDTH, _HEIGHT, _ROOM = 120.0, 64.0, 5.0
_FEWEST = 2  # points of a chart


def small_chart(report: Report | None, picture: Picture | None) -> Markup | None:
    """Printed numbers against ours where a paper prints them, else the means of each dataset, or
    the first panel of a figure."""
    if report is not None:
        printed = [
            (cell.learner, cell.printed.mean, cell.mean)
            for cell in report.cells.values()
            if cell.printed and cell.printed.mean is not None and cell.mean is not None
        ]
        if len(printed) >= _FEWEST:
            return _against_print(printed)
        return _by_dataset(report)
    if picture is not None and picture.panels:
        return _first_panel(picture)
    return None


def _against_print(points: Sequence[tuple[str, float, float]]) -> Markup:
    """On the diagonal, our mean is the printed one."""
    values = [value for _, *pair in points for value in pair]
    x = axis(values, _ROOM, _WIDTH - _ROOM)
    y = axis(values, _HEIGHT - _ROOM, _ROOM)
    diagonal = tag("path", class_="base", d=path([(x.start, y.start), (x.end, y.end)]))
    words = f"Our means against {len(points)} printed ones; on the line they are equal."
    return _image(words, diagonal, *(_dot(name, x(at), y(up)) for name, at, up in points))


def _by_dataset(report: Report) -> Markup | None:
    """A column for each dataset, its learners by their mean from the best to the worst."""
    dots = []
    measured = [
        (name, found) for name in report.datasets if len(found := _means(report, name)) >= _FEWEST
    ]
    x = axis(range(len(measured)), 2 * _ROOM, _WIDTH - 2 * _ROOM, logarithmic=False)
    for place, (_, means) in enumerate(measured):
        y = axis(means.values(), _HEIGHT - _ROOM, _ROOM)
        dots += [_dot(name, x(place), y(mean)) for name, mean in means.items()]
    return _image("The means of the learners, dataset by dataset.", *dots) if dots else None


def _means(report: Report, dataset: str) -> dict[str, float]:
    cells = (report.cells[dataset, learner] for learner in report.learners)
    return {cell.learner: cell.mean for cell in cells if cell.mean is not None}


def _first_panel(picture: Picture) -> Markup | None:
    for panel in picture.panels:
        lines = drawable(panel)
        marks = [mark for line in lines.values() for mark in line]
        if len(marks) >= _FEWEST:
            logarithmic = panel.is_wide
            x = axis((m.x for m in marks), _ROOM, _WIDTH - _ROOM, logarithmic=logarithmic)
            y = axis((m.mean for m in marks), _HEIGHT - _ROOM, _ROOM)
            drawn = (
                tag("path", class_="line", d=path([(x(m.x), y(m.mean)) for m in line]))
                for line in lines.values()
            )
            words = f"{panel.title}: {panel.y_name} against {panel.x_name}."
            coloured = (
                tag("g", line, class_=look(name)) for name, line in zip(lines, drawn, strict=True)
            )
            return _image(words, *coloured)
    return None


def _dot(learner: str, x: float, y: float) -> Markup:
    return tag("g", marker(learner, x, y, 2.2), class_=look(learner))


def _image(words: str, *drawn: Markup) -> Markup:
    box = f"0 0 {px(_WIDTH)} {px(_HEIGHT)}"
    return tag("svg", tag("title", words), *drawn, viewBox=box, class_="small", role="img")
