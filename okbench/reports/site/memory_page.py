"""What models hold, table by table: bytes of every cell, and mean ranks against them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from okbench.reports.compare.ranking import mean_ranks
from okbench.reports.site.axes import axis, sized, tick_text
from okbench.reports.site.cell_grids import memory
from okbench.reports.site.cell_links import CellLinks
from okbench.reports.site.frame import Section, contents, link, page, section
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.labels import label, places
from okbench.reports.site.markers import look, point
from okbench.reports.site.markup import Markup, tag
from okbench.reports.site.places import INDEX, MEMORY, anchor, page_of
from okbench.reports.site.plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    axes,
    chart_image,
    figure,
    plot,
)
from okbench.reports.tables.report import Report

Spot = tuple[str, float, float]  # a learner, its bytes, its mean rank


def memory_page(sections: Sequence[Section]) -> str:
    """The page of all tables whose outcomes say what models hold."""
    words = (
        "Bytes that the model of a learner holds at the end of a trial, as means over trials. The "
        "page of each table has a chart for every dataset."
    )
    return page(
        "Memory",
        MEMORY,
        tag("h1", "Memory of the models"),
        tag("p", words),
        contents(sections) if sections else tag("p", "No outcome says what a model holds."),
        *(one.body for one in sections),
        trail=(("Results", INDEX),),
        foot="Made by okbench from stored outcomes; nothing was run for it.",
    )


def memory_section(report: Report, links: CellLinks) -> Section | None:
    """Bytes of every cell; None where no outcome says them."""
    lines = [
        name
        for name in report.learners
        if any(_bytes(report, data, name) for data in report.datasets)
    ]
    columns = [
        name for name in report.datasets if any(_bytes(report, name, line) for line in lines)
    ]
    if not lines:
        return None
    header = [Heading("learner", numeric=False), *(Heading(name) for name in columns)]
    rows = [
        GridRow(
            (
                Field(links.learner(line), line),
                *(links.trials(cell, memory(cell)) for name in columns
                  for cell in [report.cells[name, line]]),
            )
        )
        for line in lines
    ]  # fmt: skip
    name = anchor("memory", report.table)
    chart = _chart(_spots(report), name)
    return section(
        name,
        f"{report.table}: {report.title}",
        tag("p", tag("a", "The table", href=link(MEMORY, page_of(report.table)))),
        tag("div", chart, class_="charts") if chart else None,
        grid(f"{name}-table", "Bytes of the model", header, rows, named=0),
    )


def _bytes(report: Report, dataset: str, learner: str) -> float | None:
    return report.cells[dataset, learner].bytes


def _spots(report: Report) -> list[Spot]:
    """Learners over the datasets on which all of them have complete cells with their bytes."""
    shared = [
        name
        for name in report.datasets
        if all(
            (cell := report.cells[name, learner]).complete and cell.bytes
            for learner in report.learners
        )
    ]
    if not shared or len(report.learners) < 2:
        return []
    ranks = mean_ranks(report, shared)
    return [
        (
            learner,
            geometric_mean(report.cells[name, learner].bytes or 1.0 for name in shared),
            rank,
        )
        for learner, rank in zip(report.learners, ranks, strict=True)
    ]


def _chart(spots: Sequence[Spot], name: str) -> Markup | None:
    """Mean ranks against memory, every point with its name."""
    if not spots:
        return None
    x = axis((size for _, size, _ in spots), LEFT, RIGHT, logarithmic=True)
    y = axis((rank for _, _, rank in spots), TOP, BOTTOM, logarithmic=False)
    at = [(learner, x(size), y(rank)) for learner, size, rank in spots]
    named = places(at)
    drawn = [
        _point(spot, across, up, named[spot[0]])
        for spot, (_, across, up) in zip(spots, at, strict=True)
    ]
    words = "bytes of the model, geometric mean over datasets, logarithmic"
    frame = axes(x, y, sized, tick_text, words, "mean rank, 1 the best")
    smallest = min(spots, key=lambda spot: spot[1])[0]
    best = min(spots, key=lambda spot: spot[2])[0]
    seen = f"Smallest {smallest}, best mean rank {best}."
    image = chart_image(name, "Mean rank against memory", seen, frame, plot(drawn))
    return figure("Mean rank against memory", image)


def _point(spot: Spot, across: float, up: float, place: tuple[float, float]) -> Markup:
    learner, size, rank = spot
    words = f"{learner}: mean rank {rank:.2f}, {sized(float(f'{size:.3g}'))}"
    named = label(learner, place, "label")
    return tag("g", point(learner, across, up, words, named, size=4.5), class_=look(learner))
