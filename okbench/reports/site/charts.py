"""Line charts with bands as SVG: a panel of a figure, or the convergence on one dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from okbench.papers.table_types import Quantity
from okbench.reports.figures.figure_data import ROWS, Corners, Mark, Panel
from okbench.reports.figures.text import words_of
from okbench.reports.site.axes import (
    Axis,
    Band,
    axis,
    banded,
    counted,
    lower_end,
    mostly_wide,
    tick_text,
    timed,
)
from okbench.reports.site.markers import dashes, look, point
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.site.plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    axes,
    chart_image,
    figure,
    path,
    plot,
)

MARKERS = 16  # of a line, at most

Line = tuple[Mark, ...]


@dataclass(frozen=True)
class Scales:
    """Whether the axes of panels that stand side by side are logarithmic."""

    x: bool
    y: Mapping[Quantity, bool]


def shared_scales(panels: Sequence[Panel]) -> Scales:
    """The same scale for panels that are compared: logarithmic where most of them need it, and none
    of them has a value of 0 or less."""
    means: dict[Quantity, list[list[float]]] = {}
    for panel in panels:
        marks = [mark for line in drawable(panel).values() for mark in line]
        if marks:
            means.setdefault(panel.quantity, []).append([mark.mean for mark in marks])
    places = [mark.x for panel in panels for line in drawable(panel).values() for mark in line]
    return Scales(
        x=any(panel.is_wide for panel in panels) and min(places, default=0.0) > 0,
        y={quantity: mostly_wide(of_panels) for quantity, of_panels in means.items()},
    )


def line_chart(
    panel: Panel, labels: Sequence[str], metric: str, name: str, scales: Scales | None = None
) -> Markup:
    """A panel's lines with bands of one deviation, and the same numbers as a table behind it.

    `labels` are those of all lines of the page, by whose places they are hidden; `name` is unlike
    that of any other chart of the page.
    """
    lines = drawable(panel)
    if not lines:
        return siblings()
    scales = scales or shared_scales([panel])
    marks = [mark for line in lines.values() for mark in line]
    x = axis((mark.x for mark in marks), LEFT, RIGHT, logarithmic=scales.x)
    clock = panel.quantity == "seconds"
    y = _upright(panel, marks, scales.y.get(panel.quantity, False))
    y_name = f"{panel.y_name}, logarithmic" if y.logarithmic else panel.y_name
    drawn = (
        axes(x, y, counted, timed if clock else tick_text, panel.x_name, y_name),
        plot(
            (_line(line, label, labels, metric, x, y) for label, line in lines.items()),
            (_bound(panel.bounds[label], label, labels, x, y) for label in panel.bounds),
        ),
    )
    title = f"{panel.title}: {panel.y_name} against {panel.x_name}"
    return figure(
        panel.title,
        chart_image(name, title, _in_words(lines, metric), *drawn),
        _numbers(panel, _finite(panel), labels, metric),
    )


def drawable(panel: Panel) -> dict[str, Line]:
    """The lines of a panel less what is not finite, or has no logarithm where bounds ask for it,
    and less those of which nothing is left."""
    lines = {
        label: tuple(mark for mark in line if mark.mean > 0 or not panel.bounds)
        for label, line in _finite(panel).items()
    }
    return {label: line for label, line in lines.items() if line}


def _finite(panel: Panel) -> dict[str, Line]:
    lines = {
        label: tuple(m for m in line if math.isfinite(m.mean) and math.isfinite(m.x))
        for label, line in panel.lines.items()
    }
    return {label: line for label, line in lines.items() if line}


def _upright(panel: Panel, marks: Sequence[Mark], logarithmic: bool) -> Axis:
    """The axis of what was measured, with room for bounds where there are any."""
    bands = [_band(mark) for mark in marks]
    if not panel.bounds:
        return banded(bands, BOTTOM, TOP, logarithmic)
    heights = [height for corners in panel.bounds.values() for _, height in corners]
    reached = [end for mean, spread in bands for end in (mean, mean + spread)]
    return axis([*heights, *reached], BOTTOM, TOP, logarithmic=True)


def _bound(corners: Corners, label: str, labels: Sequence[str], x: Axis, y: Axis) -> Markup:
    drawn = tag("path", class_="bound", d=path([(x(at), y(height)) for at, height in corners]))
    return tag("g", drawn, class_=look(label), data_learner=labels.index(label))


def _band(mark: Mark) -> Band:
    known = mark.std is not None and math.isfinite(mark.std)
    return mark.mean, mark.std if known and mark.std else 0.0


def _line(line: Line, label: str, labels: Sequence[str], metric: str, x: Axis, y: Axis) -> Markup:
    bands = [(mark.x, _band(mark)) for mark in line]
    upper = [(x(at), y(mean + spread)) for at, (mean, spread) in bands]
    lower = [(x(at), y(lower_end(band))) for at, band in bands]
    middle = [(x(at), y(mean)) for at, (mean, _) in bands]
    every = math.ceil(len(middle) / MARKERS)
    pointed = list(zip(line, middle, strict=True))[::-1][::every]
    return tag(
        "g",
        tag("path", class_="band", d=f"{path([*upper, *reversed(lower)])}z"),
        tag("path", class_="line", d=path(middle), stroke_dasharray=dashes(label)),
        [point(label, *place, _at(mark, label, metric)) for mark, place in pointed],
        class_=look(label),
        data_learner=labels.index(label),
    )


def _at(mark: Mark, label: str, metric: str) -> str:
    where = f"{mark.x:,.12g} {mark.x_name}" if mark.x_name == ROWS else f"{mark.x_name} {mark.x:g}"
    return f"{label}: {words_of(mark, metric)} at {where}"


def _in_words(lines: Mapping[str, Line], metric: str) -> str:
    ends = {label: line[-1] for label, line in lines.items()}
    least, most = (pick(ends, key=lambda label: ends[label].mean) for pick in (min, max))
    return (
        f"{len(lines)} {'line' if len(lines) == 1 else 'lines'}. At the right, lowest {least} "
        f"({words_of(ends[least], metric)}), highest {most} ({words_of(ends[most], metric)})."
    )


def _numbers(panel: Panel, lines: Mapping[str, Line], labels: Sequence[str], metric: str) -> Markup:
    marks = {(mark.x, label): mark for label, line in lines.items() for mark in line}
    head = tag(
        "tr",
        tag("th", panel.x_name, scope="col"),
        [tag("th", label, scope="col", data_learner=labels.index(label)) for label in lines],
    )
    body = [
        tag(
            "tr",
            tag("th", f"{at:,.12g}" if panel.x_name == ROWS else f"{at:.12g}", scope="row"),
            [
                tag(
                    "td",
                    words_of(marks[at, label], metric) if (at, label) in marks else "—",
                    data_learner=labels.index(label),
                )
                for label in lines
            ],
        )
        for at in sorted({x for x, _ in marks})
    ]
    table = tag("table", tag("thead", head), tag("tbody", body), class_="plain")
    return tag("div", table, class_="frame", tabindex="0", role="region", aria_label="Numbers")
