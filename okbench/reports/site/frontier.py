"""A cost against the metric on one dataset: which learners no other beats in both.

The cost is the seconds inside the learner, or the bytes that its model holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.site.axes import (
    Axis,
    Words,
    axis,
    banded,
    lower_end,
    mostly_wide,
    sized,
    tick_text,
    timed,
)
from okbench.reports.site.labels import label, places
from okbench.reports.site.markers import look, point
from okbench.reports.site.markup import Markup, tag
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
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report


@dataclass(frozen=True)
class Cost:
    """What a learner costs besides its mistakes. `clocked`: the machine decides it too.

    `of` gives the cost of a cell, `words` write it at an axis and `exact` beside a point.
    """

    name: str
    of: Callable[[Cell], float | None]
    words: Words
    exact: Words
    axis: str
    clocked: bool = False


SECONDS = Cost(
    "seconds",
    lambda cell: cell.seconds,
    timed,
    lambda value: f"{numbers.seconds(value)} s",
    "seconds inside the learner per trial, logarithmic",
    clocked=True,
)
BYTES = Cost(
    "bytes",
    lambda cell: cell.bytes,
    sized,
    lambda value: sized(float(f"{value:.3g}")),
    "bytes that the model holds, logarithmic",
)


@dataclass(frozen=True)
class Spot:
    """A learner on one dataset: its mean cost, its mean metric and the deviation of that."""

    learner: str
    cost: float
    mean: float
    std: float
    shortfall: str


@dataclass(frozen=True)
class Frontier:
    """The learners that have both numbers, and those that no other beats in both, cheapest first.

    `reason` is why no frontier can be drawn.
    """

    dataset: str
    spots: tuple[Spot, ...]
    best: tuple[Spot, ...]
    reason: str = ""


def frontier(report: Report, dataset: str, cost: Cost = SECONDS) -> Frontier:
    """The frontier over complete cells, where all seconds are of one machine."""
    known = [
        cell
        for learner in report.learners
        if cost.of(cell := report.cells[dataset, learner]) and cell.mean is not None
    ]
    spots = tuple(_spot(cell, cost) for cell in known)
    if cost.clocked and len({found for cell in known for found in cell.environments}) > 1:
        reason = "not drawn: its seconds are of several machines or versions"
        return Frontier(dataset, spots, (), reason)
    if cost.clocked and len({cell.timed for cell in known}) > 1:
        reason = "not drawn: some of its seconds were measured alone and some side by side"
        return Frontier(dataset, spots, (), reason)
    sign = 1.0 if report.lower_is_better else -1.0
    best: list[Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.cost, sign * spot.mean)):
        if not spot.shortfall and (not best or sign * spot.mean < sign * best[-1].mean):
            best.append(spot)
    return Frontier(dataset, spots, tuple(best))


def frontier_charts(report: Report, cost: Cost, name: str) -> list[Markup]:
    """The pictures of all datasets, on axes of one kind."""
    found = [frontier(report, dataset, cost) for dataset in report.datasets]
    drawn = [one for one in found if one.spots and not one.reason]
    logarithmic = mostly_wide([[spot.mean for spot in one.spots] for one in drawn])
    charts = (
        _chart(one, report, cost, logarithmic, f"{name}{number}")
        for number, one in enumerate(found)
    )
    return [chart for chart in charts if chart]


def _chart(
    found: Frontier, report: Report, cost: Cost, logarithmic: bool, name: str
) -> Markup | None:
    """The picture of a frontier, with its numbers behind it; a sentence where there is none."""
    if not found.spots:
        return None
    if found.reason:
        return tag("p", f"{found.dataset}: {found.reason}.", class_="quiet")
    x = axis((spot.cost for spot in found.spots), LEFT, RIGHT, logarithmic=True)
    y = banded(((spot.mean, spot.std) for spot in found.spots), BOTTOM, TOP, logarithmic)
    metric = METRICS[report.metric].heading
    words = f"{metric}, logarithmic" if y.logarithmic else metric
    drawn = (
        axes(x, y, cost.words, tick_text, cost.axis, words),
        plot(
            tag("path", class_="frontier", d=_stairs(found.best, x, y)) if found.best else None,
            _spots(found, report, cost, x, y),
        ),
    )
    names = ", ".join(spot.learner for spot in found.best)
    first = "quickest" if cost.clocked else "smallest"
    description = f"No other learner beats in both, {first} first: {names or 'none is complete'}."
    title = f"{found.dataset}: {metric} against {cost.name}"
    return figure(
        found.dataset,
        chart_image(name, title, description, *drawn),
        _numbers(found, report, cost),
    )


def _spot(cell: Cell, cost: Cost) -> Spot:
    costs = cost.of(cell)
    assert costs is not None
    assert cell.mean is not None
    return Spot(cell.learner, costs, cell.mean, cell.std or 0.0, cell.shortfall)


def _stairs(best: Sequence[Spot], x: Axis, y: Axis) -> str:
    """From the cheapest on, each as good as it gets until the next is better."""
    corners = [(x(best[0].cost), y(best[0].mean))]
    for spot in best[1:]:
        corners += [(x(spot.cost), corners[-1][1]), (x(spot.cost), y(spot.mean))]
    return path([*corners, (x.end, corners[-1][1])])


def _spots(found: Frontier, report: Report, cost: Cost, x: Axis, y: Axis) -> Iterator[Markup]:
    """Points with their deviation and their name; the frontier's names choose their place first."""
    at = {spot.learner: (x(spot.cost), y(spot.mean)) for spot in found.spots}
    order = [*found.best, *(spot for spot in found.spots if spot not in found.best)]
    named = places([(spot.learner, *at[spot.learner]) for spot in order])
    for spot in found.spots:
        name, (across, up) = spot.learner, at[spot.learner]
        low, high = y(lower_end((spot.mean, spot.std))), y(spot.mean + spot.std)
        class_ = "label on-frontier" if spot in found.best else "label"
        named_ = label(name, named[name], class_)
        yield tag(
            "g",
            tag("path", class_="spread", d=path([(across, low), (across, high)])),
            point(name, across, up, _described(spot, report, cost), named_, size=4.5),
            class_=look(name),
            data_learner=report.learners.index(name),
        )


def _described(spot: Spot, report: Report, cost: Cost) -> str:
    mean = numbers.mean_and_std(report.metric, spot.mean, spot.std)
    more = f", {spot.shortfall}" if spot.shortfall else ""
    return f"{spot.learner}: {mean}, {cost.exact(spot.cost)}{more}"


def _numbers(found: Frontier, report: Report, cost: Cost) -> Markup:
    on_it = {spot.learner for spot in found.best}
    head = [tag("th", word, scope="col") for word in ("learner", cost.name, "mean", "frontier")]
    rows = [
        tag(
            "tr",
            tag("th", spot.learner, scope="row"),
            tag("td", cost.exact(spot.cost)),
            tag("td", numbers.mean_and_std(report.metric, spot.mean, spot.std)),
            tag("td", "on it" if spot.learner in on_it else spot.shortfall or "beaten"),
            data_learner=report.learners.index(spot.learner),
        )
        for spot in sorted(found.spots, key=lambda spot: spot.cost)
    ]
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="plain")
    return tag("div", table, class_="frame", tabindex="0", role="region", aria_label="Numbers")
