"""A report's two tables: every learner on every dataset at a glance, and cell by cell."""

from __future__ import annotations

from collections.abc import Sequence, Set

from okbench.papers.provenance import BASES
from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.site.axes import sized
from okbench.reports.site.cell_links import CellLinks
from okbench.reports.site.grids import Field, GridRow, Heading, align_numbers, column, grid
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.site.verdicts import bare, chip
from okbench.reports.tables.cells import Cell, CellKey
from okbench.reports.tables.notes import BLESSED, OURS, PAPER
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import RESULTS

NOTHING = "—"


def glance(report: Report, links: CellLinks) -> Markup:
    """Means with the sign of their outcome; the longer of datasets and learners goes down."""
    best = _best_cells(report)
    across = len(report.datasets) > max(len(report.learners), 10)
    lines, columns = report.datasets, report.learners
    if not across:
        lines, columns = columns, lines
    stand = {
        name: _means(
            [report.cells[_key(line, name, across)] for line in lines], report, best, links
        )
        for name in columns
    }
    header = [Heading("dataset" if across else "learner", numeric=False)]
    header += [
        Heading(name, learner=report.learners.index(name) if across else None) for name in columns
    ]
    rows = [
        GridRow(
            (
                Field(links.dataset(line) if across else links.learner(line), line),
                *(stand[name][place] for name in columns),
            ),
            learner=None if across else place,
        )
        for place, line in enumerate(lines)
    ]
    caption = f"{METRICS[report.metric].heading}, means; the best of a dataset in bold"
    return grid("glance-table", caption, header, rows, named=0)


def cell_by_cell(report: Report, links: CellLinks) -> Markup:
    """A line per cell: ours and its outcome first, so that a narrow screen shows them; then what is
    printed, the baseline, the difference and its reasons, trials, seconds and memory."""
    best, cells = _best_cells(report), list(report.cells.values())
    fields = [[_dataset(cell, links) for cell in cells], [_learner(cell, links) for cell in cells]]
    header = [Heading("dataset", numeric=False, group=True), Heading("learner", numeric=False)]

    def add(name: str, found: list[Field], numeric: bool = True) -> None:
        header.append(Heading(name, numeric))
        fields.append(found)

    add(
        OURS,
        [links.trials(c, field) for c, field in zip(cells, _measured(cells, best), strict=True)],
    )
    if report.has_printed:
        add("outcome", _outcomes(report, cells), numeric=False)
        add(PAPER, _printed(cells))
    if report.blessed:
        add(BLESSED, _measured([report.blessed.get((c.dataset, c.learner)) for c in cells]))
    if report.has_printed:
        add("difference", _differences(cells))
        add("rests on", _bases(report, cells), numeric=False)
        add("interval or reason", _reasons(report, cells), numeric=False)
    add("trials", [links.trials(cell, _trials(cell)) for cell in cells])
    if report.has_printed:
        add(f"{report.shown.unit}, {PAPER}", _printed_seconds(cells))
    add(f"seconds, {OURS}", _seconds(cells))
    if any(cell.bytes is not None for cell in cells):
        add("memory", [memory(cell) for cell in cells])
    rows = [
        GridRow(
            tuple(found[place] for found in fields),
            learner=report.learners.index(cell.learner),
            first=cell.learner == report.learners[0],
        )
        for place, cell in enumerate(cells)
    ]
    return grid("cell-table", _caption(report), header, rows, named=1)


def memory(cell: Cell) -> Field:
    """What the model held, to three digits."""
    if cell.bytes is None or cell.na:
        return Field(NOTHING, None)
    return Field(sized(float(f"{cell.bytes:.3g}")), cell.bytes)


def _best_cells(report: Report) -> set[CellKey]:
    return {key for key, place in report.best.items() if place == 1}


def _key(line: str, name: str, across: bool) -> CellKey:
    return (line, name) if across else (name, line)


def _caption(report: Report) -> str:
    return f"{METRICS[report.metric].heading}: mean ± standard deviation over trials"


def _means(
    cells: Sequence[Cell], report: Report, best: Set[CellKey], links: CellLinks
) -> list[Field]:
    texts = [_mean_words(cell) for cell in cells]
    found = []
    for cell, words in zip(cells, align_numbers(texts), strict=True):
        key = cell.dataset, cell.learner
        shown = links.to_trials(key, tag("strong", words) if key in best else words)
        if cell.printed and cell.mean is not None:
            shown = siblings(shown, " ", bare(report.verdicts[key].outcome))
        elif report.has_printed:
            shown = siblings(shown, " ", tag("span", class_="bare"))
        found.append(Field(shown, cell.mean, "" if cell.complete else "short"))
    return found


def _mean_words(cell: Cell) -> str:
    if cell.mean is None or cell.na:
        return NOTHING
    return numbers.mean_and_std(cell.metric, cell.mean, None)


def _dataset(cell: Cell, links: CellLinks) -> Field:
    return Field(links.dataset(cell.dataset), cell.dataset, "group")


def _learner(cell: Cell, links: CellLinks) -> Field:
    """The name; where there is no room for the column of datasets, the dataset stands above it."""
    name = tag("span", links.learner(cell.learner), data_above=cell.dataset)
    return Field(name, cell.learner)


def _printed(cells: Sequence[Cell]) -> list[Field]:
    return column(
        [cell.printed.text if cell.printed else "" for cell in cells],
        [cell.printed.mean if cell.printed else None for cell in cells],
    )


def _measured(cells: Sequence[Cell | None], best: Set[CellKey] = frozenset()) -> list[Field]:
    texts = [
        numbers.of_cell(cell, cell.mean)
        if cell and cell.mean is not None and not cell.na
        else NOTHING
        for cell in cells
    ]
    found = column(texts, [cell.mean if cell else None for cell in cells])
    return [
        Field(tag("strong", field.shown), field.key, "best")
        if cell and (cell.dataset, cell.learner) in best
        else field
        for field, cell in zip(found, cells, strict=True)
    ]


def _differences(cells: Sequence[Cell]) -> list[Field]:
    texts = [
        numbers.signed(cell.metric, cell.difference, cell.mean)
        if cell.difference is not None and cell.mean is not None
        else ""
        for cell in cells
    ]
    return column(texts, [cell.difference for cell in cells])


def _outcomes(report: Report, cells: Sequence[Cell]) -> list[Field]:
    found = (report.verdicts[cell.dataset, cell.learner].outcome for cell in cells)
    return [
        Field(chip(outcome), RESULTS.index(outcome)) if cell.printed else Field("", None)
        for cell, outcome in zip(cells, found, strict=True)
    ]


def _bases(report: Report, cells: Sequence[Cell]) -> list[Field]:
    """The weakest source of each cell, and on request the settings or rows behind it."""
    fields = []
    for cell in cells:
        verdict = report.verdicts[cell.dataset, cell.learner]
        if not cell.printed or not verdict.measured:
            fields.append(Field("", None))
            continue
        words = tag("span", verdict.rests_on, title="; ".join(verdict.because) or None)
        fields.append(Field(words, BASES.index(verdict.rests_on)))
    return fields


def _reasons(report: Report, cells: Sequence[Cell]) -> list[Field]:
    """The interval of the difference where there is one, else what the verdict rests on."""
    found = []
    for cell in cells:
        judged = report.verdicts[cell.dataset, cell.learner]
        if not cell.printed or judged.outcome == "as printed":
            found.append(Field("", None, "why"))
        elif judged.interval and cell.mean is not None:
            low, high = (_signed(cell, end) for end in judged.interval)
            seen = (
                f", {_signed(cell, judged.smallest).lstrip('+')} would be seen"
                if judged.outcome == "within" and judged.smallest is not None
                else ""
            )
            found.append(Field(f"{low} … {high}{seen}", judged.interval[0], "why"))
        else:
            found.append(Field(judged.reason, judged.reason, "why"))
    return found


def _signed(cell: Cell, value: float) -> str:
    return numbers.signed(cell.metric, value, cell.mean or 0.0)


def _trials(cell: Cell) -> Field:
    words = cell.shortfall or f"{cell.n}"
    return Field(words, cell.n, "short" if cell.shortfall else "")


def _printed_seconds(cells: Sequence[Cell]) -> list[Field]:
    return column(
        [cell.printed.seconds_text if cell.printed else "" for cell in cells],
        [cell.printed.seconds if cell.printed else None for cell in cells],
    )


def _seconds(cells: Sequence[Cell]) -> list[Field]:
    times = [None if cell.na else cell.time for cell in cells]
    texts = [NOTHING if time is None else numbers.seconds(time) for time in times]
    return column(texts, times)
