"""The charts of a cost against the metric, a dataset each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.frontiers import Cost, Frontier, Spot, frontier
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
from okbench.reports.tables.report import Report


@dataclass(frozen=True)
class CostWords:
    """How a cost is written: at an axis in `words`, and beside a point `exact`; `least` is what the
    first learner of the frontier is."""

    name: Cost
    words: Words
    exact: Words
    axis: str
    least: str


SECONDS = CostWords(
    "seconds",
    timed,
    lambda value: f"{numbers.seconds(value)} s",
    "seconds inside the learner per trial, logarithmic",
    "quickest",
)
BYTES = CostWords(
    "bytes",
    sized,
    lambda value: sized(float(f"{value:.3g}")),
    "bytes that the model holds, logarithmic",
    "smallest",
)


def frontier_charts(report: Report, cost: CostWords, name: str) -> list[Markup]:
    """The pictures of all datasets, on axes of one kind."""
    found = [frontier(report, dataset, cost.name) for dataset in report.datasets]
    drawn = [one for one in found if one.spots and not one.reason]
    logarithmic = mostly_wide([[spot.mean for spot in one.spots] for one in drawn])
    charts = (
        _chart(one, report, cost, logarithmic, f"{name}{number}")
        for number, one in enumerate(found)
    )
    return [chart for chart in charts if chart]


def _chart(
    found: Frontier, report: Report, cost: CostWords, logarithmic: bool, name: str
) -> Markup | None:
    """The picture of a frontier, with its numbers behind it; a sentence where there is none."""
    if not found.spots:
        return None
    if found.reason:
        return tag("p", f"{found.dataset} is not drawn: {found.reason}.", class_="quiet")
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
    description = (
        f"No other learner beats in both, {cost.least} first: {names or 'none is complete'}."
    )
    title = f"{found.dataset}: {metric} against {cost.name}"
    return figure(
        found.dataset,
        chart_image(name, title, description, *drawn),
        _numbers(found, report, cost),
    )


def _stairs(best: Sequence[Spot], x: Axis, y: Axis) -> str:
    """From the cheapest on, each as good as it gets until the next is better."""
    corners = [(x(best[0].cost), y(best[0].mean))]
    for spot in best[1:]:
        corners += [(x(spot.cost), corners[-1][1]), (x(spot.cost), y(spot.mean))]
    return path([*corners, (x.end, corners[-1][1])])


def _spots(found: Frontier, report: Report, cost: CostWords, x: Axis, y: Axis) -> Iterator[Markup]:
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


def _described(spot: Spot, report: Report, cost: CostWords) -> str:
    mean = numbers.mean_and_std(report.metric, spot.mean, spot.std)
    more = f", {spot.shortfall}" if spot.shortfall else ""
    return f"{spot.learner}: {mean}, {cost.exact(spot.cost)}{more}"


def _numbers(found: Frontier, report: Report, cost: CostWords) -> Markup:
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
