"""Any table or figure as text, from a results folder: what `okbench run` and `report` print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from okbench.errors import UsageError, did_you_mean
from okbench.papers.nouns import Table
from okbench.reports import complexity_text, figures_text
from okbench.reports.complexity import stored_complexity
from okbench.reports.figures import stored_picture
from okbench.reports.numbers import encodable, in_ascii
from okbench.reports.render import _PAGES, FORMATS, render
from okbench.reports.sheets import Sheet
from okbench.reports.stored import stored
from okbench.trials.options import Options

Data = Mapping[str, Callable[[], str]]


def stored_text(
    table: Table, results: Path, options: Options, form: str, encoding: str | None = None
) -> str:
    """A table, a figure's sweep or curves, or a table of orders, in one of the report formats."""
    if table.kind == "complexity":
        found = stored_complexity(table, results, options)
        data: Data = {
            "csv": lambda: complexity_text.csv_of(found),
            "json": lambda: complexity_text.json_of(found),
        }
        return _written([complexity_text.sheet_of(found)], data, form, encoding)
    if table.figure:
        picture = stored_picture(table, results, options)
        data = {
            "csv": lambda: figures_text.csv_of(picture),
            "json": lambda: figures_text.json_of(picture),
        }
        pages = figures_text.sheets_of(picture, table.protocol.metric)
        return _written(pages, data, form, encoding)
    return render(stored(table, results, options), form, encoding)


def _written(pages: Sequence[Sheet], data: Data, form: str, encoding: str | None) -> str:
    if form not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"no format '{form}' ({known}).{did_you_mean(form, FORMATS)}")
    if form in data:
        text = data[form]()
        return text if encodable(text, encoding) else in_ascii(text)
    text = "\n\n".join(map(_PAGES[form], pages))
    if not encodable(text, encoding):
        text = "\n\n".join(_PAGES[form](page.in_ascii()) for page in pages)
    return text + "\n"
