"""The frame of every chart: an image with a title and a description, axes, and a part for what is
drawn, which the script of the pages can magnify.

Everything in that part is drawn by `M` and `L` to places of the image, or stands in groups that are
moved to a place, so that the script can move it further.
"""

from __future__ import annotations

from collections.abc import Sequence

from okbench.reports.site.axes import Axis, Words
from okbench.reports.site.markers import px
from okbench.reports.site.markup import Child, Markup, tag

WIDTH, HEIGHT = 460.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 446.0, 30.0, 258.0
_COARSE, _FINE = 6, 40  # ticks of an axis, and those from which a magnified chart takes its own


def chart_image(
    name: str, title: str, description: str, *drawn: Child, height: float = HEIGHT
) -> Markup:
    """An image with a title and what can be seen on it in words."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-description"),
        *drawn,
        viewBox=f"0 0 {px(WIDTH)} {px(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-description",
    )


def figure(caption: Child, image: Markup, numbers: Markup | None = None) -> Markup:
    """An image under its caption, with its numbers as a table behind it."""
    behind = tag("details", tag("summary", "Numbers"), numbers) if numbers else None
    return tag("figure", tag("figcaption", caption), image, behind, class_="chart")


def plot(*drawn: Child) -> Markup:
    """The part between the axes."""
    return tag(
        "svg",
        *drawn,
        class_="plot",
        x=px(LEFT),
        y=px(TOP),
        width=px(RIGHT - LEFT),
        height=px(BOTTOM - TOP),
        viewBox=f"{px(LEFT)} {px(TOP)} {px(RIGHT - LEFT)} {px(BOTTOM - TOP)}",
    )


def axes(x: Axis, y: Axis, x_words: Words, y_words: Words, x_name: str, y_name: str) -> Markup:
    """Rules at the round values of y, ticks at those of x, and the names of both."""
    return tag(
        "g",
        tag("path", class_="base", d=f"M{px(LEFT)} {px(BOTTOM)}H{px(RIGHT)}"),
        [_tick("y-tick", px(LEFT), px(y(at)), _rule(x), y_words(at), -7, 0) for at in y.ticks()],
        [_tick("x-tick", px(x(at)), px(BOTTOM), "M0 0v4", x_words(at), 0, 16) for at in x.ticks()],
        [
            _tick("y-tick fine", px(LEFT), px(y(at)), _rule(x), y_words(at), -7, 0)
            for at in _between(y)
        ],
        [
            _tick("x-tick fine", px(x(at)), px(BOTTOM), "M0 0v4", x_words(at), 0, 16)
            for at in _between(x)
        ],
        tag("text", y_name, x="6", y="14", class_="name"),
        tag("text", x_name, x=px(x.end), y=px(HEIGHT - 8), class_="name at-end"),
        class_="axes",
    )


def path(points: Sequence[tuple[float, float]]) -> str:
    """A line through points."""
    return "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points)


def _rule(x: Axis) -> str:
    return f"M0 0H{px(x.end - x.start)}"


def _between(axis: Axis) -> list[float]:
    coarse = set(axis.ticks(_COARSE))
    return [at for at in axis.ticks(_FINE) if at not in coarse]


def _tick(class_: str, x: str, y: str, drawn: str, words: str, right: int, down: int) -> Markup:
    line = tag("path", d=drawn)
    text = tag("text", words, x=right or None, y=down or None)
    return tag("g", line, text, class_=class_, transform=f"translate({x} {y})")
