"""The looks of `line_styles` as SVG: classes for colours, paths for markers, samples of lines.

Colours are classes, so that a dark page has others.
"""

from __future__ import annotations

import math

from okbench.reports.line_styles import COLOURS, DASHES, MARKERS, style_of
from okbench.reports.site.markup import Markup, tag

_CORNERS = {  # of the markers, as angles in turns and distances; a circle has none
    "circle": (),
    "square": tuple((turn / 8, 1.1) for turn in (1, 3, 5, 7)),
    "up": tuple((turn / 12, 1.2) for turn in (3, 7, 11)),
    "diamond": tuple((turn / 4, 1.25) for turn in range(4)),
    "down": tuple((turn / 12, 1.2) for turn in (9, 1, 5)),
    "star": tuple((turn / 10 + 0.25, 0.55 if turn % 2 else 1.35) for turn in range(10)),
    "right": tuple((turn / 12, 1.2) for turn in (0, 4, 8)),
    "hexagon": tuple((turn / 6, 1.15) for turn in range(6)),
    "cross": tuple((turn / 8, 0.5 if turn % 2 else 1.35) for turn in range(8)),
    "left": tuple((turn / 12, 1.2) for turn in (6, 10, 2)),
}


def look(label: str) -> str:
    """The class of a learner's colour."""
    return f"k{style_of(label).colour}"


def colour_rules() -> str:
    """The style sheet of the classes."""
    rules = (
        f".k{number} {{ --c: light-dark({light}, {dark}); }}"
        for number, (light, dark) in enumerate(COLOURS)
    )
    return "\n".join(rules) + "\n"


def dashes(label: str) -> str | None:
    """The dash pattern of a learner's line, none for a whole one."""
    pattern = DASHES[style_of(label).dash]
    return " ".join(f"{length:g}" for length in pattern) or None


def marker(label: str, x: float = 0.0, y: float = 0.0, size: float = 3.0) -> Markup:
    """A learner's marker."""
    style = style_of(label)
    outline = "mark hollow" if style.hollow else "mark"
    return tag("path", class_=outline, d=_outline(MARKERS[style.marker], x, y, size))


def point(label: str, x: float, y: float, words: str, *more: Markup, size: float = 3.0) -> Markup:
    """A learner's marker that says its numbers when the pointer is on it."""
    drawn = (tag("title", words), marker(label, size=size), *more)
    return tag("g", *drawn, class_="point", transform=f"translate({px(x)} {px(y)})")


def style_sample(label: str) -> Markup:
    """A piece of a learner's line, for a legend."""
    return tag(
        "svg",
        tag("path", class_="line", d="M1 7L33 7", stroke_dasharray=dashes(label)),
        marker(label, 17, 7, 3.6),
        class_=f"sample {look(label)}",
        viewBox="0 0 34 14",
        aria_hidden="true",
    )


def px(value: float) -> str:
    """A coordinate, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def _outline(shape: str, x: float, y: float, size: float) -> str:
    corners = _CORNERS[shape]
    if not corners:
        return f"M{px(x - size)} {px(y)}a{px(size)} {px(size)} 0 1 0 {px(2 * size)} 0" + (
            f"a{px(size)} {px(size)} 0 1 0 {px(-2 * size)} 0z"
        )
    points = [
        f"{px(x + size * far * math.cos(2 * math.pi * turn))} "
        f"{px(y - size * far * math.sin(2 * math.pi * turn))}"
        for turn, far in corners
    ]
    return f"M{'L'.join(points)}z"
