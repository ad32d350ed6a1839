"""Any table or figure as text, from a results folder: what `okbench run` and `report` print."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from okbench.papers.table_types import Table
from okbench.reports.figures import text
from okbench.reports.figures.figure_data import picture_of
from okbench.reports.load import load_table
from okbench.reports.results_paths import baselines_of
from okbench.reports.tables import complexity_text, envelopes_text
from okbench.reports.tables.complexity import growth_of
from okbench.reports.tables.envelopes import envelopes_of
from okbench.reports.tables.layout import Sheet
from okbench.reports.tables.render import Layout, check_format, render, render_sheets, written
from okbench.trials.plan.options import Options
from okbench.trials.store.match_outcomes import Versions

Data = Mapping[str, Callable[[], str]]


def stored_text(
    table: Table,
    results: Path,
    options: Options,
    form: str,
    encoding: str | None = None,
    versions: Versions | None = None,
    layout: Layout | None = None,
    width: float = math.inf,
) -> str:
    """A table, a figure's sweep or curves, or a table of orders, in one of the report formats; text
    in at most so many columns."""
    of_table = not table.figure and table.kind != "complexity"
    baselines = baselines_of(table.trials_of) if of_table else None
    loaded = load_table(table, results, options, baselines, versions)
    if table.kind == "complexity":
        found = growth_of(loaded)
        data: Data = {
            "csv": lambda: complexity_text.csv_of(found),
            "json": lambda: complexity_text.json_of(found),
        }
        return _written([complexity_text.sheet_of(found)], data, form, encoding, width)
    if table.figure:
        picture = picture_of(loaded)
        data = {
            "csv": lambda: text.csv_of(picture),
            "json": lambda: text.json_of(picture),
        }
        pages = text.sheets_of(picture, table.protocol.metric)
        return _written(pages, data, form, encoding, width)
    return render(loaded.report, form, encoding, layout, width)


def varied_text(
    table: Table,
    results: Path,
    options: Options,
    form: str,
    encoding: str | None = None,
    versions: Versions | None = None,
    width: float = math.inf,
) -> str:
    """What the ranges of a table's settings give, beside the paper, in one of the formats."""
    found = envelopes_of(load_table(table, results, options, versions=versions))
    data: Data = {
        "csv": lambda: envelopes_text.csv_of(found),
        "json": lambda: envelopes_text.json_of(found),
    }
    return _written([envelopes_text.sheet_of(found)], data, form, encoding, width)


def _written(
    pages: Sequence[Sheet], data: Data, form: str, encoding: str | None, width: float
) -> str:
    check_format(form)
    if form in data:
        return written(data[form](), encoding)
    return render_sheets(pages, form, encoding, width)
