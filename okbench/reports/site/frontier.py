"""Seconds against the metric on one dataset: which learners no other beats in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.site.axes import Axis, axis, banded, lower_end, tick_text, timed
from okbench.reports.site.charts import BOTTOM, LEFT, RIGHT, TOP, axes, chart_image
from okbench.reports.site.line_styles import hollow, look, marker, px
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report

_LETTER = 7.4  # width of one, in a label
_LINE = 10.0  # height of a label
_AWAY = 8.0  # of a label from its point


@dataclass(frozen=True)
class Spot:
    """A learner on one dataset: mean seconds, mean metric and its deviation."""

    learner: str
    seconds: float
    mean: float
    std: float
    shortfall: str


@dataclass(frozen=True)
class Frontier:
    """The learners that have both numbers, and those that no other beats in both, quickest first.

    `reason` is why no frontier can be drawn.
    """

    dataset: str
    spots: tuple[Spot, ...]
    best: tuple[Spot, ...]
    reason: str = ""


def frontier(report: Report, dataset: str) -> Frontier:
    """The frontier over complete cells, where all seconds are of one machine."""
    clocked = [
        cell
        for learner in report.learners
        if (cell := report.cells[dataset, learner]).seconds and cell.mean is not None
    ]
    spots = tuple(map(_spot, clocked))
    places = {found for cell in clocked for found in cell.environments}
    if len(places) > 1:
        reason = "not drawn: its seconds are of several machines or versions"
        return Frontier(dataset, spots, (), reason)
    if len({cell.timed for cell in clocked}) > 1:
        reason = "not drawn: some of its seconds were measured alone and some side by side"
        return Frontier(dataset, spots, (), reason)
    sign = 1.0 if report.lower_is_better else -1.0
    best: list[Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.seconds, sign * spot.mean)):
        if not spot.shortfall and (not best or sign * spot.mean < sign * best[-1].mean):
            best.append(spot)
    return Frontier(dataset, spots, tuple(best))


def frontier_chart(found: Frontier, report: Report, name: str) -> Markup:
    """The picture of a frontier, with its numbers behind it; a sentence where there is none."""
    if found.reason or not found.spots:
        reason = found.reason or "nothing was timed"
        return (
            tag("p", f"{found.dataset}: {reason}.", class_="quiet") if found.spots else siblings()
        )
    x = axis((spot.seconds for spot in found.spots), LEFT, RIGHT, logarithmic=True)
    y = banded(((spot.mean, spot.std) for spot in found.spots), BOTTOM, TOP)
    metric = METRICS[report.metric].heading
    words = f"{metric}, logarithmic" if y.logarithmic else metric
    drawn = siblings(
        axes(x, y, timed, tick_text, "seconds inside the learner per trial, logarithmic", words),
        tag("path", class_="frontier", d=_stairs(found.best, x, y)) if found.best else None,
        _spots(found, report.learners, x, y),
    )
    names = ", ".join(spot.learner for spot in found.best)
    description = f"No other learner beats in both, quickest first: {names or 'none is complete'}."
    title = f"{found.dataset}: {metric} against seconds"
    return tag(
        "figure",
        tag("figcaption", found.dataset),
        chart_image(name, title, description, drawn),
        tag("details", tag("summary", "Numbers"), _numbers(found, report)),
        class_="chart",
    )


def _spot(cell: Cell) -> Spot:
    assert cell.seconds is not None
    assert cell.mean is not None
    return Spot(cell.learner, cell.seconds, cell.mean, cell.std or 0.0, cell.shortfall)


def _stairs(best: Sequence[Spot], x: Axis, y: Axis) -> str:
    """From the quickest on, each as good as it gets until the next is better."""
    first, *rest = ((x(spot.seconds), y(spot.mean)) for spot in best)
    path = f"M{px(first[0])} {px(first[1])}"
    for across, up in rest:
        path += f"H{px(across)}V{px(up)}"
    return f"{path}H{px(x.end)}"


def _spots(found: Frontier, learners: Sequence[str], x: Axis, y: Axis) -> Iterator[Markup]:
    """Points with their deviation and, where there is room, their name: the frontier's first."""
    at = {spot.learner: (x(spot.seconds), y(spot.mean)) for spot in found.spots}
    order = [*found.best, *(spot for spot in found.spots if spot not in found.best)]
    places = _labels([(spot.learner, *at[spot.learner]) for spot in order])
    for spot in found.spots:
        number = learners.index(spot.learner)
        across, up = at[spot.learner]
        low, high = y(lower_end((spot.mean, spot.std))), y(spot.mean + spot.std)
        label = places.get(spot.learner)
        on_it = " on-frontier" if spot in found.best else ""
        yield tag(
            "g",
            tag("title", _described(spot)),
            tag("path", class_="spread", d=f"M{px(across)} {px(low)}V{px(high)}"),
            tag("path", class_=hollow(number), d=marker(number, across, up, 4.5)),
            label
            and tag("text", spot.learner, x=px(label[0]), y=px(label[1]), class_=f"label{on_it}"),
            class_=look(number),
            data_learner=number,
        )


def _described(spot: Spot) -> str:
    more = f", {spot.shortfall}" if spot.shortfall else ""
    return f"{spot.learner}: {spot.mean:.4g} in {numbers.seconds(spot.seconds)} s{more}"


Box = tuple[float, float, float, float]


def _labels(points: Sequence[tuple[str, float, float]]) -> dict[str, tuple[float, float]]:
    """Where each name is written so that none lies on another or on a point."""
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for _, x, y in points]
    found: dict[str, tuple[float, float]] = {}
    for name, x, y in points:
        width = _LETTER * len(name)
        left, right, middle = x - _AWAY - width, x + _AWAY, x - width / 2
        for across, up in (
            (right, y + 4), (left, y + 4), (middle, y - _AWAY), (middle, y + _AWAY + 9),
            (right - 3, y - 7), (right - 3, y + 14), (left + 3, y - 7), (left + 3, y + 14),
        ):  # fmt: skip
            box = (across, up - _LINE + 1.5, across + width, up + 1.5)
            inside = across > LEFT and across + width < RIGHT + 12 and TOP - 8 < up < BOTTOM - 2
            if inside and not any(_meet(box, other) for other in taken):
                taken.append(box)
                found[name] = across, up
                break
    return found


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _numbers(found: Frontier, report: Report) -> Markup:
    on_it = {spot.learner for spot in found.best}
    head = [tag("th", word, scope="col") for word in ("learner", "seconds", "mean", "frontier")]
    rows = [
        tag(
            "tr",
            tag("th", spot.learner, scope="row"),
            tag("td", numbers.seconds(spot.seconds)),
            tag("td", numbers.mean_and_std(report.metric, spot.mean, spot.std)),
            tag("td", "on it" if spot.learner in on_it else spot.shortfall or "beaten"),
            data_learner=report.learners.index(spot.learner),
        )
        for spot in sorted(found.spots, key=lambda spot: spot.seconds)
    ]
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="plain")
    return tag("div", table, class_="frame", tabindex="0", role="region", aria_label="Numbers")
