"""Where the names of points are written so that none lies on another or on a point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from okbench.reports.site.markers import px
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.site.plot import BOTTOM, LEFT, RIGHT, TOP, path

Box = tuple[float, float, float, float]
Place = tuple[float, float]

_LETTER = 6.2  # width of one, on average
_LINE = 10.0  # height of a name
_FIRST, _STEP, _LAST = 8.0, 9.0, 150.0  # distances of a name from its point that are tried
_NEAR = 12.0  # a name farther away is joined to its point by a line


def places(points: Sequence[tuple[str, float, float]]) -> dict[str, Place]:
    """The lower left corner of every name, from its point; the first names choose first. Where a
    drawing is too full for a name, it stands on others, beside its point.
    """
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for _, x, y in points]
    found: dict[str, Place] = {}
    for name, x, y in points:
        width = _LETTER * len(name)
        for across, up in _tried(width):
            box = (x + across, y + up - _LINE + 1.5, x + across + width, y + up + 1.5)
            inside = box[0] > LEFT and box[2] < RIGHT + 12 and TOP - 8 < box[1] < BOTTOM - _LINE
            if inside and not any(_meet(box, other) for other in taken):
                taken.append(box)
                found[name] = across, up
                break
        else:
            found[name] = (-width / 2, -_FIRST)
    return found


def label(name: str, place: Place, class_: str) -> Markup:
    """A name at its place, joined to its point where that is far away."""
    end = _nearest(place, name)
    far = math.hypot(*end) > _NEAR
    leader = tag("path", class_="leader", d=path([(0, 0), end])) if far else None
    return siblings(leader, tag("text", name, x=px(place[0]), y=px(place[1]), class_=class_))


def _nearest(place: Place, name: str) -> Place:
    """The end of a name that its point is nearest to."""
    across, up = place
    width = _LETTER * len(name)
    return min(max(0.0, across), across + width), up - _LINE / 3


def _tried(width: float) -> Iterator[Place]:
    """Beside the point, above and below it, between these, and so on farther away."""
    distance = _FIRST
    while distance < _LAST:
        down, aside = distance + 9, distance * 0.7 + width / 2
        for middle, up in (
            (distance + width / 2, 4), (-distance - width / 2, 4), (0, -distance), (0, down),
            (aside, -distance * 0.8), (aside, down * 0.8),
            (-aside, -distance * 0.8), (-aside, down * 0.8),
        ):  # fmt: skip
            yield middle - width / 2, up
        distance += _STEP


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
