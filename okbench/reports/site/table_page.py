"""The page of one results file: a table's cells and charts, a figure's panels, or fitted orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from okbench.papers.commands import run_command
from okbench.papers.paper_list import Paper
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS
from okbench.reports.figures.figure_data import Picture
from okbench.reports.site.cell_grids import cell_by_cell, glance
from okbench.reports.site.cell_links import CellLinks
from okbench.reports.site.charts import line_chart, shared_scales
from okbench.reports.site.frame import Section, contents, link, notes, page, section, several
from okbench.reports.site.frontier import BYTES, SECONDS, frontier_charts
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.machines import machines
from okbench.reports.site.markers import look, style_sample
from okbench.reports.site.markup import Child, Markup, siblings, tag
from okbench.reports.site.places import INDEX, Place, config_of, page_of, raw_of
from okbench.reports.site.table_views import TableView
from okbench.reports.site.verdicts import judged, legend, tally
from okbench.reports.tables import complexity_text
from okbench.reports.tables.cells import CellKey
from okbench.reports.tables.layout import Sheet, compared, other_sheets
from okbench.reports.tables.report import Report

_FRONTIER = (
    "The dashed line joins learners that no other beats in both. Thin bars: one standard deviation."
)


def table_page(view: TableView, trials: Mapping[CellKey, Place], paper: Paper | None) -> str:
    """The page of a table, whose trials are listed at `trials`."""
    table = view.table
    path = page_of(table.name)
    links = CellLinks(path, table, trials)
    if view.report:
        parts = _of_report(view, view.report, links)
        labels: Sequence[str] = view.report.learners
    elif view.picture:
        parts = _of_figure(view, view.picture)
        labels = view.picture.labels
    else:
        parts = _of_orders(view)
        labels = ()
    measured = section(
        "measured",
        "How it was measured",
        _downloads(view, path, trials),
        machines(view.environments, view.shares),
    )
    parts.append(measured)
    return page(
        table.name,
        path,
        tag("h1", table.title),
        citation(paper) if paper else None,
        tag("p", _facts(view), class_="facts"),
        [tag("p", note, class_="quiet") for note in view.notes],
        contents(parts),
        _tally(view.report) if view.report and view.report.has_printed else None,
        _learners(labels),
        *(part.body for part in parts),
        trail=(("Results", INDEX),),
        foot=tag("p", "Made by okbench from stored outcomes; nothing was run for it."),
    )


def citation(paper: Paper, titled: bool = False) -> Markup:
    """Who wrote a paper and where it appeared; its title, unless that stands above, with the way to
    the paper."""
    words = f"{', '.join(paper.authors)}. {paper.venue}, {paper.year}."
    title = siblings() if titled else siblings(paper_title(paper), ". ")
    return tag("p", title, words, class_="citation")


def paper_title(paper: Paper) -> Markup:
    """The title of a paper, which leads to it where its address is known."""
    title = tag("cite", paper.title)
    return tag("a", title, href=paper.link, rel="noreferrer") if paper.link else title


def _tally(report: Report) -> Markup:
    return tally(judged(report), "tally-table")


def _facts(view: TableView) -> str:
    protocol, table = view.table.protocol, view.table
    facts = [
        f"{protocol.kind.replace('-', ' ')}, {several(protocol.runs, 'permutation')}",
        METRICS[protocol.metric].heading,
    ]
    if view.report:
        cells = view.report.cells.values()
        complete = sum(cell.complete for cell in cells)
        facts += [
            several(len(view.report.datasets), "dataset")
            + " × "
            + several(len(view.report.learners), "learner"),
            f"{complete} of {len(cells) - len(table.left_out)} cells complete",
        ]
    return " · ".join([*facts, several(view.counted, "trial")])


def _learners(labels: Sequence[str]) -> Markup:
    """What each line looks like; with JavaScript also a switch for each."""
    if not labels:
        return siblings()
    items = [
        tag(
            "li",
            tag("span", style_sample(label), label, class_=f"key {look(label)}"),
            data_key=number,
        )
        for number, label in enumerate(labels)
    ]
    return tag("nav", tag("ul", items), class_="learners", id="learners", aria_label="Learners")


def _of_report(view: TableView, report: Report, links: CellLinks) -> list[Section]:
    parts = [
        section("glance", "At a glance", glance(report, links)),
        section(
            "cells",
            "Cell by cell",
            cell_by_cell(report, links),
            tag(
                "details",
                tag("summary", "What the outcomes mean, and what they rest on"),
                legend(),
                open=True,
            )
            if report.has_printed
            else None,
            notes(compared(report).notes),
        ),
    ]
    for sheet in other_sheets(report):
        others = _sheet(sheet, "others-table", "The same cells with other settings")
        parts.append(section("others", "With other settings", others, notes(sheet.notes)))
    if view.picture and view.picture.panels:
        parts.append(_convergence(view, view.picture, report))
    for cost, name, title in (
        (SECONDS, "frontier", f"Seconds and {METRICS[report.metric].words}"),
        (BYTES, "memory", f"Memory and {METRICS[report.metric].words}"),
    ):
        charts = frontier_charts(report, cost, name)
        if charts:
            body = tag("p", _FRONTIER, class_="quiet"), tag("div", charts, class_="charts")
            parts.append(section(name, title, *body))
    return parts


def _convergence(view: TableView, shown: Picture, report: Report) -> Section:
    note = PROTOCOLS[view.table.protocol.kind].curve_note
    sentences = [*shown.notes, *([note] if note else [])]
    return section(
        "convergence",
        "Convergence",
        _charts(shown, report.learners, view),
        notes(sentences),
    )


def _of_figure(view: TableView, shown: Picture) -> list[Section]:
    charts = _charts(shown, shown.labels, view)
    return [section("figure", "As measured", charts, notes(shown.notes))]


def _charts(shown: Picture, labels: Sequence[str], view: TableView) -> Markup:
    metric = view.table.protocol.metric
    scales = shared_scales(shown.panels)
    charts = [
        line_chart(panel, labels, metric, f"chart{number}", scales)
        for number, panel in enumerate(shown.panels)
    ]
    return tag("div", charts, class_="charts")


def _of_orders(view: TableView) -> list[Section]:
    assert view.orders
    sheet = complexity_text.sheet_of(view.orders)
    return [
        section(
            "orders",
            "Stated and fitted",
            _sheet(sheet, "orders-table", "Orders of growth"),
            notes(sheet.notes),
        )
    ]


def _sheet(sheet: Sheet, name: str, caption: str) -> Markup:
    header = [Heading(name, numeric=False) for name in sheet.header]
    rows = [
        GridRow(tuple(Field(entry.text, entry.text) for entry in row))
        for group in sheet.groups
        for row in group
    ]
    return grid(name, caption, header, rows, named=sheet.words - 1)


def _downloads(view: TableView, path: str, trials: Mapping[CellKey, Place]) -> Markup:
    """The outcomes and the configuration as files, the trials as a list, and the command."""
    name, raw = view.table.name, link(path, raw_of(view.table.trials_of))
    stored = several(view.stored, "outcome") + " as written, one JSON line each"
    lines: list[Child] = [
        (tag("a", f"{view.table.trials_of}.jsonl", href=raw, download=True), f": {stored}.")
    ]
    lines += [
        (
            tag("a", place.removeprefix("config/"), href=link(path, place), download=True),
            ": settings of this table that can be chosen instead."
            if variant
            else ": the configuration of this table.",
        )
        for variant in view.configs
        for place in [config_of(name, variant)]
    ]
    if view.configs:
        lines.append((tag("code", run_command(view.table)), " measures the table."))
    if trials:
        first = next(iter(trials.values()))[0]
        every = tag("a", "All trials", href=link(path, first))
        lines.append((every, ", cell by cell, with the command that measures each cell anew."))
    return tag("ul", [tag("li", line) for line in lines], class_="downloads")
