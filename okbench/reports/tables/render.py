"""A report as text: sheets for people, raw numbers for programs."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from textwrap import fill
from typing import Any, Literal

from tabulate import tabulate

from okbench.base.errors import UsageError, did_you_mean
from okbench.base.plain_text import escaped
from okbench.papers.table_types import Shown
from okbench.reports.csv_text import csv_text
from okbench.reports.numbers import encodable, in_ascii
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.latex import latex
from okbench.reports.tables.layout import GAP, Sheet, SheetText, compared, other_sheets
from okbench.reports.tables.paper_layout import paper_sheet
from okbench.reports.tables.recovery_text import change_sheets
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import count_outcomes

CSV_COLUMNS = (
    "table", "dataset", "learner", "metric", "mean", "std", "n", "seconds", "status",
    "printed", "outcome", "rests_on", "printed_mean", "printed_std", "printed_seconds",
    "difference", "baseline", "timed", "bytes",
)  # fmt: skip
SHOWN_COLUMNS = (
    "search_seconds", "training_seconds", "time_seconds", "balanced", "majority", "place", "p",
    "star", "underlined",
)  # fmt: skip
Layout = Literal["compare", "paper"]
_MARKDOWN = re.compile(r"([\\|*_`~\[\]])")
_BREAKS = re.compile(r"[\x00-\x1f\x7f]+")


def render(
    report: Report,
    form: str,
    encoding: str | None = None,
    layout: Layout | None = None,
    width: float = math.inf,
) -> str:
    """A report in one of FORMATS. `encoding` is that of where it will be written: ASCII stands in
    for what it lacks. Rates are in percent; csv and json hold numbers as measured. Text has at most
    `width` columns, where one of a table's columns is not wider.

    Without a layout, LaTeX is set like the paper, and so is a table of which nothing is printed.
    """
    check_format(form)
    if form in _DATA:
        return written(_DATA[form](report), encoding)
    for_print = form == "latex"
    if layout is None:
        layout = "paper" if for_print or not report.has_printed else "compare"
    if layout == "paper":
        pages = [paper_sheet(report, for_print), *(() if for_print else change_sheets(report))]
    else:
        pages = [compared(report, for_print), *change_sheets(report), *other_sheets(report)]
    return render_sheets(pages, form, encoding, width)


def check_format(form: str) -> None:
    """Refuse a format that is not one of FORMATS."""
    if form not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"no format '{form}' ({known}).{did_you_mean(form, FORMATS)}")


def written(text: str, encoding: str | None) -> str:
    """The text without control characters, in ASCII where an encoding lacks some of its own."""
    text = escaped(text)
    return text if encodable(text, encoding) else in_ascii(text)


def render_sheets(
    pages: Sequence[Sheet], form: str, encoding: str | None = None, width: float = math.inf
) -> str:
    """Sheets in one of the formats for people."""
    text = "\n\n".join(_PAGES[form](page, width) for page in pages)
    if not encodable(text, encoding):
        text = "\n\n".join(_PAGES[form](page.in_ascii(), width) for page in pages)
    return text + "\n"


def _terminal(sheet: Sheet, width: float) -> str:
    """The table, its columns continued below where they are too many, and the notes."""
    tables = []
    for part in sheet.fitted(width):
        groups = ["\n".join(_aligned(part, map(_in_terminal, row)) for row in group)
                  for group in part.groups]  # fmt: skip
        rule = (" " * GAP).join("-" * (wide - GAP) for wide in part.widths)
        heads = [*_over(part), _aligned(part, part.header), rule]
        tables.append("\n".join([*heads, f"\n{rule}\n".join(groups)]))
    notes = [_folded(note, width, "  ") for note in sheet.notes]
    return "\n".join([_folded(sheet.title, width), "", "\n\n".join(tables), "", *notes])


def _over(sheet: Sheet) -> Iterator[str]:
    """The headings above the columns that belong together, each in the middle of these."""
    if sheet.over:
        line = " " * sum(sheet.widths[: sheet.words])
        for heading, columns in sheet.bundles:
            line += heading.center(sum(sheet.widths[place] for place in columns) - GAP) + " " * GAP
        yield line.rstrip()


def _aligned(sheet: Sheet, words: Iterable[str]) -> str:
    """The words of a row: names at the left of their columns, all others at the right."""
    sides = [str.ljust] * sheet.words + [str.rjust] * (len(sheet.header) - sheet.words)
    entries = zip(words, sides, sheet.widths, strict=True)
    return (" " * GAP).join(side(word, wide - GAP) for word, side, wide in entries).rstrip()


def _folded(text: str, width: float, indent: str = "") -> str:
    if len(text) <= width:
        return text
    return fill(
        text, int(width), subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def _in_terminal(entry: SheetText) -> str:
    words = f"_{entry.text}_" if entry.underlined else entry.text
    words += "*" if entry.starred else ""
    return f"* {words}" if entry.best else words


def _markdown(sheet: Sheet, width: float) -> str:
    """The same with Markdown's one line of heads, in which each column names what it is of."""

    def spelled(entry: SheetText) -> str:
        words = in_markdown(entry.text + ("*" if entry.starred else ""))
        words = f"<u>{words}</u>" if entry.underlined else words
        return f"**{words}**" if entry.best else words

    tables = []
    for part in sheet.fitted(width):
        rows = [list(map(spelled, row)) for group in part.groups for row in group]
        header = list(part.header)
        for heading, columns in part.bundles if part.over else ():
            for place in columns:
                header[place] = f"{heading}: {header[place]}"
        sides = ["left"] * part.words + ["right"] * (len(header) - part.words)
        tables.append(
            tabulate(
                rows,
                headers=list(map(in_markdown, header)),
                tablefmt="pipe",
                colalign=sides,
                disable_numparse=True,
            )
        )
    notes = [f"- {in_markdown(note)}" for note in sheet.notes]
    title = f"### {in_markdown(sheet.title)}"
    return "\n".join([title, "", "\n\n".join(tables), "", *notes])


def in_markdown(text: str) -> str:
    """The text as Markdown shows it letter by letter, in one line and without any markup.

    Not every reader of Markdown knows `\\<`, and all know `&lt;`.
    """
    line = _BREAKS.sub(" ", text)
    return _MARKDOWN.sub(r"\\\1", html.escape(line, quote=False))


def _csv(report: Report) -> str:
    """One row per cell; with more columns where the table asks its reports for more."""
    asks = report.shown != Shown()
    rows = [
        [
            report.table,
            cell.dataset,
            cell.learner,
            cell.metric,
            *("" if number is None else number for number in (cell.mean, cell.std)),
            cell.n,
            "" if cell.seconds is None else cell.seconds,
            cell.shortfall or "done",
            cell.printed.text if cell.printed else "",
            verdict.outcome if cell.printed else "",
            verdict.rests_on if cell.printed and verdict.measured else "",
            *(_plain(number) for number in _beside(report, cell)),
            *(_shown_values(report, cell) if asks else ()),
        ]
        for cell, verdict in zip(report.cells.values(), report.verdicts.values(), strict=True)
    ]
    return csv_text([(*CSV_COLUMNS, *(SHOWN_COLUMNS if asks else ())), *rows])


def _beside(report: Report, cell: Cell) -> list[Any]:
    """What stands beside the measured number: the printed one as numbers, the baseline, memory."""
    printed = cell.printed
    baseline = report.blessed.get((cell.dataset, cell.learner))
    return [
        printed and printed.mean, printed and printed.std, printed and printed.seconds,
        cell.difference, baseline and baseline.mean, cell.timed, cell.bytes,
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    return "" if value is None else value


def _shown_values(report: Report, cell: Cell) -> list[Any]:
    marks = _marks(report, cell)
    values = [cell.search, cell.training, cell.time, cell.balanced, cell.majority, *marks.values()]
    return list(map(_plain, values))


def _marks(report: Report, cell: Cell) -> dict[str, Any]:
    """The place of a cell on its dataset, and what the test of the best against the runner-up says:
    its p value at both, the star at the best."""
    place = report.best.get((cell.dataset, cell.learner))
    star = report.stars.get(cell.dataset)
    best = star is not None and star.best == cell.learner
    takes_part = star is not None and (best or star.runner_up == cell.learner)
    return {
        "place": place,
        "p": star.p if star is not None and takes_part else None,
        "star": best and star is not None and star.is_set,
        "underlined": place == 2 and bool(report.shown.stars),
    }


def _json(report: Report) -> str:
    """Everything the report knows; non-ASCII characters are escaped."""
    everything = {
        "okbench": "report",
        "schema": 1,
        **{
            field.name: getattr(report, field.name)
            for field in fields(report)
            if field.name not in ("family", "shown", "na_after", "recoveries")
        },
        "shown": asdict(report.shown),
        "na_after": report.na_after if math.isfinite(report.na_after) else None,
        "blessed": [_json_cell(cell) for cell in report.blessed.values()],
        "cells": [
            {
                **_json_cell(cell),
                "verdict": asdict(report.verdicts[key]),
                "marks": _marks(report, cell),
            }
            for key, cell in report.cells.items()
        ],
        "alternatives": {
            name: [
                {**_json_cell(report.alternatives[name][key]), "verdict": asdict(verdict)}
                for key, verdict in verdicts.items()
            ]
            for name, verdicts in report.other_verdicts.items()
        },
        "recoveries": [asdict(one) for one in report.recoveries.values()],
        "counts": count_outcomes(report.verdicts.values()) if report.has_printed else {},
    }
    return json.dumps(everything, indent=2, allow_nan=False) + "\n"


def _json_cell(cell: Cell) -> dict[str, Any]:
    return {
        **vars(cell),
        "ingredients": [asdict(one) for one in cell.ingredients],
        "rests_on": cell.rests_on,
        "n": cell.n,
        "mean": cell.mean,
        "std": cell.std,
        "difference": cell.difference,
        "time": cell.time,
        "status": cell.shortfall or "done",
        "printed": asdict(cell.printed) if cell.printed else None,
    }


_PAGES: Mapping[str, Callable[[Sheet, float], str]] = {
    "terminal": _terminal,
    "md": _markdown,
    "latex": latex,
}
_DATA: Mapping[str, Callable[[Report], str]] = {"csv": _csv, "json": _json}
FORMATS = (*_PAGES, *_DATA)
