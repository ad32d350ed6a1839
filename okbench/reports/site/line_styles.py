"""How a learner looks in every chart: a colour, a marker and dashes of its own.

Colours are classes, so that a page in the dark has others; Okabe and Ito's, which the colour-blind
can distinguish. In grey print the marker and the dashes remain.
"""

from __future__ import annotations

import math

from okbench.reports.site.markup import Markup, tag

COLOURS = 10
_DASHES = (None, "7 3", "7 2 1.5 2", "2 2", "10 3 2 3")
_CORNERS = (  # of the markers, as angles in turns and distances; a circle has none
    (),
    tuple((turn / 8, 1.1) for turn in (1, 3, 5, 7)),
    tuple((turn / 12, 1.2) for turn in (3, 7, 11)),
    tuple((turn / 4, 1.25) for turn in range(4)),
    tuple((turn / 12, 1.2) for turn in (9, 1, 5)),
    tuple((turn / 10 + 0.25, 0.55 if turn % 2 else 1.35) for turn in range(10)),
    tuple((turn / 12, 1.2) for turn in (0, 4, 8)),
    tuple((turn / 6, 1.15) for turn in range(6)),
    tuple((turn / 8, 0.5 if turn % 2 else 1.35) for turn in range(8)),
    tuple((turn / 12, 1.2) for turn in (6, 10, 2)),
)


def look(number: int) -> str:
    """The class of a learner's colour."""
    return f"k{number % COLOURS}"


def dashes(number: int) -> str | None:
    """The dash pattern of a learner's line, none for a whole one."""
    return _DASHES[_turned(number) % len(_DASHES)]


def marker(number: int, x: float, y: float, size: float = 3.0) -> str:
    """The path of a learner's marker."""
    corners = _CORNERS[number % len(_CORNERS)]
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


def hollow(number: int) -> str:
    """The class of a marker: every other one is an outline."""
    return "mark hollow" if _turned(number) % 2 else "mark"


def style_sample(number: int) -> Markup:
    """A piece of a learner's line, for a legend."""
    return tag(
        "svg",
        tag("path", class_="line", d="M1 7H33", stroke_dasharray=dashes(number)),
        tag("path", class_=hollow(number), d=marker(number, 17, 7, 3.6)),
        class_=f"sample {look(number)}",
        viewBox="0 0 34 14",
        aria_hidden="true",
    )


def px(value: float) -> str:
    """A coordinate, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def _turned(number: int) -> int:
    """Shifted at every round of the colours, so that the eleventh is not the first again."""
    return number + number // COLOURS
