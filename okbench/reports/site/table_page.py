"""The page of one results file: a table's cells and charts, a figure's panels, or fitted orders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from okbench.papers.table_names import file_of
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS
from okbench.reports.figures.figure_data import Picture
from okbench.reports.site.cell_grids import cell_by_cell, glance
from okbench.reports.site.charts import line_chart
from okbench.reports.site.frame import Section, contents, link, notes, page, section, several
from okbench.reports.site.frontier import frontier, frontier_chart
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.line_styles import look, style_sample
from okbench.reports.site.machines import machines
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.site.table_views import TableView
from okbench.reports.site.verdicts import judged, legend, tally
from okbench.reports.tables import complexity_text
from okbench.reports.tables.layout import Sheet, compared, other_sheets
from okbench.reports.tables.report import Report


def page_of(name: str) -> str:
    """Where the page of a table is in the site."""
    return file_of(Path("tables"), name, ".html").as_posix()


def raw_of(name: str) -> str:
    """Where the outcomes of a table are in the site."""
    return file_of(Path("raw"), name, ".jsonl").as_posix()


def table_page(exhibit: TableView, raw: str) -> str:
    """The page of an exhibit, whose outcomes lie at `raw`."""
    table = exhibit.table
    path = page_of(table.name)
    if exhibit.report:
        parts = _of_report(exhibit, exhibit.report)
        labels: Sequence[str] = exhibit.report.learners
    elif exhibit.picture:
        parts = _of_figure(exhibit, exhibit.picture)
        labels = exhibit.picture.labels
    else:
        parts = _of_orders(exhibit)
        labels = ()
    measured = section(
        "measured",
        "How it was measured",
        machines(exhibit.environments, exhibit.shares),
        _downloads(exhibit, path, raw),
    )
    parts.append(measured)
    return page(
        table.name,
        path,
        tag("h1", table.title),
        tag("p", _facts(exhibit), class_="facts"),
        [tag("p", note, class_="quiet") for note in exhibit.notes],
        contents(parts),
        _tally(exhibit.report) if exhibit.report and exhibit.report.has_printed else None,
        _learners(labels),
        *(part.body for part in parts),
        trail=(("Results", "index.html"),),
        foot=tag("p", "Made by okbench from stored outcomes; nothing was run for it."),
    )


def _tally(report: Report) -> Markup:
    return tally(judged(report), "tally-table")


def _facts(exhibit: TableView) -> str:
    protocol, table = exhibit.table.protocol, exhibit.table
    facts = [
        f"{protocol.kind.replace('-', ' ')}, {several(protocol.runs, 'permutation')}",
        METRICS[protocol.metric].heading,
    ]
    if exhibit.report:
        cells = exhibit.report.cells.values()
        complete = sum(cell.complete for cell in cells)
        facts += [
            several(len(exhibit.report.datasets), "dataset")
            + " × "
            + several(len(exhibit.report.learners), "learner"),
            f"{complete} of {len(cells) - len(table.left_out)} cells complete",
        ]
    return " · ".join([*facts, several(exhibit.counted, "trial")])


def _learners(labels: Sequence[str]) -> Markup:
    """What each line looks like; with JavaScript also a switch for each."""
    if not labels:
        return siblings()
    items = [
        tag(
            "li",
            tag("span", style_sample(number), label, class_=f"key {look(number)}"),
            data_key=number,
        )
        for number, label in enumerate(labels)
    ]
    return tag("nav", tag("ul", items), class_="learners", id="learners", aria_label="Learners")


def _of_report(exhibit: TableView, report: Report) -> list[Section]:
    parts = [
        section("glance", "At a glance", glance(report)),
        section(
            "cells",
            "Cell by cell",
            cell_by_cell(report),
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
    if exhibit.picture and exhibit.picture.panels:
        parts.append(_convergence(exhibit, exhibit.picture, report))
    charts = [
        frontier_chart(frontier(report, dataset), report, f"frontier{number}")
        for number, dataset in enumerate(report.datasets)
    ]
    if any(charts):
        caption = (
            "The dashed line joins learners that no other beats in both. Thin bars: one standard "
            "deviation."
        )
        parts.append(
            section(
                "frontier",
                "Seconds and " + METRICS[report.metric].words,
                tag("p", caption, class_="quiet"),
                tag("div", charts, class_="charts"),
            )
        )
    return parts


def _convergence(exhibit: TableView, shown: Picture, report: Report) -> Section:
    note = PROTOCOLS[exhibit.table.protocol.kind].curve_note
    sentences = [*shown.notes, *([note] if note else [])]
    return section(
        "convergence",
        "Convergence",
        _charts(shown, report.learners, exhibit),
        notes(sentences),
    )


def _of_figure(exhibit: TableView, shown: Picture) -> list[Section]:
    charts = _charts(shown, shown.labels, exhibit)
    return [section("figure", "As measured", charts, notes(shown.notes))]


def _charts(shown: Picture, labels: Sequence[str], exhibit: TableView) -> Markup:
    metric = exhibit.table.protocol.metric
    charts = [
        line_chart(panel, labels, metric, f"chart{number}")
        for number, panel in enumerate(shown.panels)
    ]
    return tag("div", charts, class_="charts")


def _of_orders(exhibit: TableView) -> list[Section]:
    assert exhibit.orders
    sheet = complexity_text.sheet_of(exhibit.orders)
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


def _downloads(exhibit: TableView, path: str, raw: str) -> Markup:
    stored = several(exhibit.stored, "outcome") + " as written, one JSON line each"
    command = f"okbench report {exhibit.table.name} --explain LEARNER DATASET"
    return tag(
        "p",
        tag("a", f"{exhibit.table.trials_of}.jsonl", href=link(path, raw), download=True),
        f" ({stored}). ",
        *(("The trials behind a cell: ", tag("code", command), ".") if exhibit.report else ()),
    )
