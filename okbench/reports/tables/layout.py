"""How a report lies on a page beside the printed numbers, and what a page is made of.

A line per cell: the metric as printed and as measured, what came of the comparison, then the time
as printed and as measured. `paper_layout` sets a table as the papers do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.notes import (
    BALANCED,
    BLESSED,
    OURS,
    PAPER,
    differing,
    metric_notes,
    time_notes,
)
from okbench.reports.tables.report import Report
from okbench.reports.tables.times import TIME_WORDS, fastest, printed_time, time_words, unit_of
from okbench.reports.tables.verdicts import Judgement, count_words

_PERCENT = re.compile(r"\s*%")  # of a printed text: the head names the unit
GAP = 2  # columns between two columns of a table in a terminal
ARROWS = {True: "↓", False: "↑"}  # by whether lower is better


@dataclass(frozen=True)
class SheetText:
    """A text on a sheet, and whether it is the best or the runner-up of its dataset.

    `starred` says that it is significantly better than the runner-up, which is `underlined` in a
    table that asks for stars.
    """

    text: str
    place: int = 0  # 1, 2, or 0 for neither
    starred: bool = False
    underlined: bool = False

    @property
    def best(self) -> bool:
        return self.place == 1

    @property
    def width(self) -> int:
        """The letters it takes in a terminal, with its marks."""
        return len(self.text) + 2 * self.best + 2 * self.underlined + self.starred


Row = tuple[SheetText, ...]
Spell = Callable[[Cell, float], str]


@dataclass(frozen=True)
class Sheet:
    """A table on paper. A group of rows belongs together; the first `words` columns are names.

    `over` are the headings above the other columns, each over the number of columns that belong
    together, and none where the header is all. With `headed`, the first row of each group is its
    heading. `caption` is for print, and `label` what a text refers to the table by.
    """

    title: str
    header: tuple[str, ...]
    groups: tuple[tuple[Row, ...], ...]
    notes: tuple[str, ...]
    words: int
    over: tuple[tuple[str, int], ...] = ()
    headed: bool = False
    caption: str = ""
    label: str = ""

    @property
    def bundles(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The places of the columns that belong together, with their heading; those of the names
        are in none."""
        spans = self.over or tuple(("", 1) for _ in self.header[self.words :])
        found, start = [], self.words
        for heading, count in spans:
            found.append((heading, tuple(range(start, start + count))))
            start += count
        return tuple(found)

    def of_bundles(self, chosen: Sequence[tuple[str, tuple[int, ...]]]) -> Sheet:
        """The sheet with some of its columns, and the names beside them."""
        places = [*range(self.words), *(place for _, columns in chosen for place in columns)]
        return replace(
            self,
            header=tuple(self.header[place] for place in places),
            groups=tuple(
                tuple(tuple(row[place] for place in places) for row in group)
                for group in self.groups
            ),
            over=tuple((heading, len(columns)) for heading, columns in chosen) if self.over else (),
        )

    def fitted(self, width: float) -> Iterator[Sheet]:
        """The sheet in parts of columns that are no wider, each with the names; columns that belong
        together stay together, and a part has some even if they are wider."""
        widths = self.widths
        page: list[tuple[str, tuple[int, ...]]] = []
        for bundle in self.bundles:
            columns = [place for _, places in (*page, bundle) for place in places]
            if page and sum(widths[: self.words]) + sum(widths[p] for p in columns) - GAP > width:
                yield self.of_bundles(page)
                page = []
            page.append(bundle)
        yield self.of_bundles(page)

    @property
    def widths(self) -> list[int]:
        """The letters of each column, with its heading and the gap beside it."""
        rows = [row for group in self.groups for row in group]
        found = [
            GAP + max([len(heading), *(row[place].width for row in rows)])
            for place, heading in enumerate(self.header)
        ]
        for heading, columns in self.bundles:
            lacking = GAP + len(heading) - sum(found[place] for place in columns)
            found[columns[0]] += max(0, lacking)
        return found

    def in_ascii(self) -> Sheet:
        """The same sheet for a terminal that knows nothing else."""
        spell = numbers.in_ascii
        return replace(
            self,
            title=spell(self.title),
            header=tuple(map(spell, self.header)),
            groups=tuple(
                tuple(tuple(replace(e, text=spell(e.text)) for e in row) for row in group)
                for group in self.groups
            ),
            notes=tuple(map(spell, self.notes)),
            over=tuple((spell(heading), count) for heading, count in self.over),
        )


def compared(report: Report, like_paper: bool = False) -> Sheet:
    """Metric and time of every cell beside the printed ones. `like_paper` gives our numbers the
    digits the paper's have."""
    spell = numbers.like_paper if like_paper else numbers.of_cell
    metric = _metric_columns(report, spell)
    groups = []
    for name in report.datasets:
        unit, places = unit_of(report, name), fastest(report)
        heading = [name, *("" for _ in metric), unit or report.shown.unit, unit]
        rows: list[Row] = [tuple(map(SheetText, heading))]
        for learner in report.learners:
            cell = report.cells[name, learner]
            times = (
                SheetText(printed_time(cell, unit)),
                SheetText(time_words(cell, unit), places.get((name, learner), 0)),
            )
            rows.append((SheetText(learner), *(entry(cell) for _, entry in metric), *times))
        groups.append(tuple(rows))
    found = METRICS[report.metric]
    heading_of_metric = f"{unit_words(report.metric)} {ARROWS[report.lower_is_better]}"
    return Sheet(
        f"{report.table}: {report.title} ({found.heading}; {TIME_WORDS[report.shown.seconds]})",
        ("learner", *(name for name, _ in metric), PAPER, OURS),
        tuple(groups),
        (*metric_notes(report, bold=like_paper), *time_notes(report)),
        words=1,
        over=((heading_of_metric, len(metric)), (f"{TIME_WORDS[report.shown.seconds]} ↓", 2)),
        headed=True,
    )


def unit_words(metric: str) -> str:
    """`mistake rate, %`, for a head."""
    found = METRICS[metric]
    return f"{found.words}, {found.unit}" if found.unit else found.words


def _metric_columns(report: Report, spell: Spell) -> list[tuple[str, Callable[[Cell], SheetText]]]:
    """The columns of the metric; that of the baseline only where it says something else."""
    beside: list[tuple[str, Callable[[Cell], SheetText]]] = [
        (PAPER, lambda cell: SheetText(_printed(cell))),
        (BLESSED, lambda cell: SheetText(_blessed(report, cell, spell))),
        (OURS, lambda cell: ours(report, cell, spell)),
        (BALANCED, lambda cell: SheetText(balanced(cell))),
        ("outcome", lambda cell: SheetText(_outcome(report, cell))),
        ("rests on", lambda cell: SheetText(_rests_on(report, cell))),
    ]
    absent = set() if differing(report) else {BLESSED}
    absent |= set() if report.shown.classes else {BALANCED}
    return [column for column in beside if column[0] not in absent]


def _printed(cell: Cell) -> str:
    text = cell.printed.text if cell.printed else ""
    return _PERCENT.sub("", text) if METRICS[cell.metric].unit == "%" else text


def _outcome(report: Report, cell: Cell) -> str:
    return report.verdicts[cell.dataset, cell.learner].outcome if cell.printed else ""


def ours(report: Report, cell: Cell, spell: Spell) -> SheetText:
    """The metric as measured, with its marks."""
    place = report.best.get((cell.dataset, cell.learner), 0)
    star = report.stars.get(cell.dataset)
    starred = star is not None and star.is_set and star.best == cell.learner
    text = _measured(cell, spell)
    return SheetText(text, place, starred, place == 2 and bool(report.shown.stars))


def balanced(cell: Cell) -> str:
    """The mean of the accuracies of the classes."""
    if cell.balanced is None or cell.na:
        return ""
    return numbers.mean_and_std(cell.metric, cell.balanced, None)


def other_sheets(report: Report) -> tuple[Sheet, ...]:
    """The cells that were measured with other settings too, beside those of the table; none where
    there are none."""
    names = {name: found for name, found in report.other_verdicts.items() if found}
    keys = [key for key in report.cells if any(key in found for found in names.values())]
    if not keys:
        return ()
    groups = []
    for dataset in dict.fromkeys(key[0] for key in keys):
        rows: list[Row] = []
        for key in (key for key in keys if key[0] == dataset):
            cell, printed = report.cells[key], report.cells[key].printed
            own = _with_outcome(cell, report.verdicts[key])
            others = (
                _with_outcome(report.alternatives[name][key], found[key]) if key in found else ""
                for name, found in names.items()
            )
            words = ("" if rows else dataset, key[1], printed.text if printed else "", own, *others)
            rows.append(tuple(map(SheetText, words)))
        groups.append(tuple(rows))
    counts = [f"{name}: {count_words(list(found.values()))}." for name, found in names.items()]
    return (
        Sheet(
            f"{report.table}: {report.title} (the same cells with other settings)",
            ("dataset", "learner", PAPER, "the table's own", *names),
            tuple(groups),
            (*counts, "Each is a set of settings of its own: okbench report --settings NAME."),
            words=2,
        ),
    )


def _with_outcome(cell: Cell, verdict: Judgement) -> str:
    if cell.mean is None:
        return cell.shortfall
    outcome = f", {verdict.outcome}" if cell.printed else ""
    return f"{numbers.of_cell(cell, cell.mean)} ({verdict.rests_on}{outcome})"


def _rests_on(report: Report, cell: Cell) -> str:
    verdict = report.verdicts[cell.dataset, cell.learner]
    return verdict.rests_on if cell.printed and verdict.measured else ""


def _measured(cell: Cell, spell: Spell) -> str:
    if cell.mean is None or cell.na:
        return cell.shortfall
    words = spell(cell, cell.mean)
    marks = [mark for mark in (cell.shortfall, "outdated" if cell.outdated else "") if mark]
    return f"{words} ({', '.join(marks)})" if marks else words


def _blessed(report: Report, cell: Cell, spell: Spell) -> str:
    found = report.blessed.get((cell.dataset, cell.learner))
    return "" if found is None else _measured(replace(found, printed=cell.printed), spell)
