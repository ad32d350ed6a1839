"""How a report lies on a page: one sheet of the metric, one of the seconds.

Where the paper prints the table, its numbers stand in a column of their own beside ours, a line a
cell; else learners go down and datasets across.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.tables.cells import Cell, CellKey, outdated_notes
from okbench.reports.tables.report import MACHINE_UNKNOWN, Report
from okbench.reports.tables.verdicts import Judgement, count_words

PAPER = "paper prints"
BLESSED = "blessed"
OURS = "okbench"


@dataclass(frozen=True)
class SheetText:
    """A text on a sheet, and whether it is the best or the runner-up of its dataset."""

    text: str
    place: int = 0  # 1, 2, or 0 for neither

    @property
    def best(self) -> bool:
        return self.place == 1


Column = tuple[str, Callable[[Cell], SheetText]]
Row = tuple[SheetText, ...]


@dataclass(frozen=True)
class Sheet:
    """A table on paper. A group of rows belongs together; the first `words` columns are names."""

    title: str
    header: tuple[str, ...]
    groups: tuple[tuple[Row, ...], ...]
    notes: tuple[str, ...]
    words: int

    def in_ascii(self) -> Sheet:
        """The same sheet for a terminal that knows nothing else."""
        spell = numbers.in_ascii
        return Sheet(
            spell(self.title),
            tuple(map(spell, self.header)),
            tuple(
                tuple(tuple(SheetText(spell(e.text), e.place) for e in row) for row in group)
                for group in self.groups
            ),
            tuple(map(spell, self.notes)),
            self.words,
        )


def sheets(report: Report, like_paper: bool = False) -> tuple[Sheet, Sheet]:
    """The sheet of the metric and the sheet of the seconds. `like_paper` gives our numbers the
    digits the paper's have.
    """
    places = report.best
    fastest = report.places(lambda cell: cell.seconds, lower_is_better=True)
    spell = numbers.like_paper if like_paper else numbers.of_cell
    ours: Column = (OURS, lambda cell: SheetText(_measured(cell, spell), places.get(_key(cell), 0)))
    clock: Column = (OURS, lambda cell: SheetText(_seconds(cell), fastest.get(_key(cell), 0)))
    beside: list[Column] = [
        (PAPER, lambda cell: SheetText(cell.printed.text if cell.printed else "")),
        (BLESSED, lambda cell: SheetText(_blessed(report, cell, spell))),
        ours,
        ("difference", lambda cell: SheetText(_difference(cell))),
        (
            "outcome",
            lambda cell: SheetText(report.verdicts[_key(cell)].outcome if cell.printed else ""),
        ),
        ("rests on", lambda cell: SheetText(_rests_on(report, cell))),
    ]
    columns = [column for column in beside if column[0] != BLESSED or report.blessed]
    seconds: list[Column] = [
        (PAPER, lambda cell: SheetText(cell.printed.seconds_text if cell.printed else "")),
        clock,
    ]
    metric_words = METRICS[report.metric].heading
    return (
        _lay_out(
            report, metric_words, ours, columns, _metric_notes(report, bool(places), like_paper)
        ),
        _lay_out(report, "seconds", clock, seconds, _seconds_notes(report)),
    )


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
    verdict = report.verdicts[_key(cell)]
    return verdict.rests_on if cell.printed and verdict.measured else ""


def _lay_out(
    report: Report, quantity: str, alone: Column, beside: list[Column], notes: tuple[str, ...]
) -> Sheet:
    """Columns beside the paper's, a line per cell; or one column alone, with datasets across."""
    title = f"{report.table}: {report.title} ({quantity})"
    if not report.has_printed:
        _, ours = alone
        grid = tuple(
            (SheetText(learner), *(ours(report.cells[name, learner]) for name in report.datasets))
            for learner in report.learners
        )
        return Sheet(title, ("learner", *report.datasets), (grid,), notes, words=1)
    groups = []
    for name in report.datasets:
        rows: list[Row] = []
        for learner in report.learners:
            entries = (entry(report.cells[name, learner]) for _, entry in beside)
            rows.append((SheetText("" if rows else name), SheetText(learner), *entries))
        groups.append(tuple(rows))
    header = ("dataset", "learner", *(name for name, _ in beside))
    return Sheet(title, header, tuple(groups), notes, words=2)


def _key(cell: Cell) -> CellKey:
    return cell.dataset, cell.learner


def _measured(cell: Cell, spell: Callable[[Cell, float], str]) -> str:
    if cell.mean is None:
        return cell.shortfall
    words = spell(cell, cell.mean)
    marks = [mark for mark in (cell.shortfall, "outdated" if cell.outdated else "") if mark]
    return f"{words} ({', '.join(marks)})" if marks else words


def _blessed(report: Report, cell: Cell, spell: Callable[[Cell, float], str]) -> str:
    found = report.blessed.get(_key(cell))
    return "" if found is None else _measured(replace(found, printed=cell.printed), spell)


def _difference(cell: Cell) -> str:
    if cell.difference is None or cell.mean is None:
        return ""
    return numbers.signed(cell.metric, cell.difference, cell.mean)


def _seconds(cell: Cell) -> str:
    if cell.seconds is None:
        return "not recorded" if cell.values else cell.shortfall
    words = numbers.seconds(cell.seconds)
    return f"{words} ({cell.shortfall})" if cell.shortfall else words


def _metric_notes(report: Report, any_best: bool, like_paper: bool) -> tuple[str, ...]:
    measured = report.cells.values()
    notes = ["Mean ± standard deviation (n − 1) over trials."]
    if report.has_printed:
        notes.append(f"{PAPER}: copied from the paper; difference: {OURS} minus paper.")
        notes.append(
            f"outcome: {OURS} beside the paper; rests on: the weakest source of settings and rows "
            "(docs/verdicts.md)."
        )
        counted = count_words(list(report.verdicts.values()))
        notes += [f"Outcomes: {counted}."] if counted else []
    if report.blessed:
        notes.append(f"{BLESSED}: the baseline kept in results/.")
    if any_best:
        marked = "Bold: the best, italic: the runner-up" if like_paper else "Marked: the best"
        notes.append(f"{marked} of {OURS}'s complete cells, dataset by dataset.")
    if any(cell.values and not cell.complete for cell in measured):
        notes.append("(n/N): only n of N trials are done, and the mean is of these alone.")
    if any(cell.shortfall == "not run" for cell in measured):
        notes.append("not run: left out by the paper.")
    for words in sorted({cell.over_limit for cell in measured if cell.over_limit}):
        notes.append(f"{words}: every trial outran the paper's own limit, and was ended there.")
    notes += [*report.settings, *report.warnings]
    if report.disputed:
        notes.append(
            f"Measured more than once, with different scores: {report.disputed} trials; "
            "the later counts."
        )
    if report.others:
        notes.append(
            f"Not counted: stored outcomes of other settings, versions or seeds ({report.others})."
        )
    if report.absent:
        notes.append(f"Not here: {', '.join(report.absent)}.")
    return (*notes, *outdated_notes(measured))


def _seconds_notes(report: Report) -> tuple[str, ...]:
    clocked = [cell for cell in report.cells.values() if cell.seconds is not None]
    notes = [f"Machine of {OURS}: {machine}." for machine in report.machines or (MACHINE_UNKNOWN,)]
    notes.append("Mean seconds inside the learner per trial.")
    if len(report.machines) > 1:
        notes.append("Seconds of several machines: do not compare them with each other.")
    if any(not cell.timed for cell in clocked):
        notes.append("Trials may have run side by side; okbench run --timing measures each alone.")
    if report.has_printed:
        notes.append(f"{PAPER}: on its authors' machine; compare ratios only.")
    return tuple(notes)
