"""Line charts with bands as SVG: a panel of a figure, or the convergence on one dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from okbench.reports.figures.figure_data import ROWS, Corners, Mark, Panel
from okbench.reports.figures.text import words_of
from okbench.reports.site.axes import (
    Axis,
    Band,
    Words,
    axis,
    banded,
    counted,
    lower_end,
    tick_text,
    timed,
)
from okbench.reports.site.line_styles import dashes, hollow, look, marker, px
from okbench.reports.site.markup import Markup, siblings, tag

WIDTH, HEIGHT = 460.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 446.0, 30.0, 258.0
MARKERS = 16  # of a line, at most

Line = tuple[Mark, ...]


def line_chart(panel: Panel, labels: Sequence[str], metric: str, name: str) -> Markup:
    """A panel's lines with bands of one deviation, and the same numbers as a table behind it.

    `labels` are those of all lines of the page, which decide how each looks; `name` is unlike that
    of any other chart of the page.
    """
    lines = drawable(panel)
    if not lines:
        return siblings()
    marks = [mark for line in lines.values() for mark in line]
    x = axis((mark.x for mark in marks), LEFT, RIGHT, logarithmic=False)
    clock = panel.quantity == "seconds"
    y = _upright(panel, marks)
    y_name = f"{panel.y_name}, logarithmic" if y.logarithmic else panel.y_name
    drawn = siblings(
        axes(x, y, counted, timed if clock else tick_text, panel.x_name, y_name),
        *(_line(line, labels.index(label), x, y) for label, line in lines.items()),
        *(_bound(panel.bounds[label], labels.index(label), x, y) for label in panel.bounds),
    )
    title = f"{panel.title}: {panel.y_name} against {panel.x_name}"
    return tag(
        "figure",
        tag("figcaption", panel.title),
        chart_image(name, title, _in_words(lines, metric), drawn),
        tag("details", tag("summary", "Numbers"), _numbers(panel, _finite(panel), labels, metric)),
        class_="chart",
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


def chart_image(name: str, title: str, description: str, drawn: Markup) -> Markup:
    """An image with a title and what can be seen on it in words."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-description"),
        drawn,
        viewBox=f"0 0 {px(WIDTH)} {px(HEIGHT)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-description",
    )


def axes(x: Axis, y: Axis, x_words: Words, y_words: Words, x_name: str, y_name: str) -> Markup:
    """Rules at the round values of y, ticks at those of x, and the names of both."""
    rows, columns = y.ticks(), x.ticks()
    return tag(
        "g",
        [tag("path", class_="rule", d=f"M{px(x.start)} {px(y(at))}H{px(x.end)}") for at in rows],
        [tag("text", y_words(at), x=px(x.start - 7), y=px(y(at)), class_="at-left") for at in rows],
        tag("path", class_="base", d=f"M{px(x.start)} {px(y.start)}H{px(x.end)}"),
        [tag("path", class_="base", d=f"M{px(x(at))} {px(y.start)}v4") for at in columns],
        [
            tag("text", x_words(at), x=px(x(at)), y=px(y.start + 16), class_="below")
            for at in columns
        ],
        tag("text", y_name, x="6", y="14", class_="name"),
        tag("text", x_name, x=px(x.end), y=px(HEIGHT - 8), class_="name at-end"),
        class_="axes",
    )


def _upright(panel: Panel, marks: Sequence[Mark]) -> Axis:
    """The axis of what was measured, with room for bounds where there are any."""
    bands = [_band(mark) for mark in marks]
    if not panel.bounds:
        return banded(bands, BOTTOM, TOP)
    heights = [height for corners in panel.bounds.values() for _, height in corners]
    reached = [end for mean, spread in bands for end in (mean, mean + spread)]
    return axis([*heights, *reached], BOTTOM, TOP, logarithmic=True)


def _bound(corners: Corners, number: int, x: Axis, y: Axis) -> Markup:
    points = [(x(at), y(height)) for at, height in corners]
    path = tag("path", class_="bound", d=_path(points))
    return tag("g", path, class_=look(number), data_learner=number)


def _band(mark: Mark) -> Band:
    known = mark.std is not None and math.isfinite(mark.std)
    return mark.mean, mark.std if known and mark.std else 0.0


def _line(line: Line, number: int, x: Axis, y: Axis) -> Markup:
    bands = [(mark.x, _band(mark)) for mark in line]
    upper = [(x(at), y(mean + spread)) for at, (mean, spread) in bands]
    lower = [(x(at), y(lower_end(band))) for at, band in bands]
    middle = [(x(at), y(mean)) for at, (mean, _) in bands]
    every = math.ceil(len(middle) / MARKERS)
    return tag(
        "g",
        tag("path", class_="band", d=f"{_path([*upper, *reversed(lower)])}z"),
        tag("path", class_="line", d=_path(middle), stroke_dasharray=dashes(number)),
        tag(
            "path",
            class_=hollow(number),
            d="".join(marker(number, *point) for point in middle[::-1][::every]),
        ),
        class_=look(number),
        data_learner=number,
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points)


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
