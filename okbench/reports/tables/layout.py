"""How a report lies on a page: one sheet of the metric, one of the seconds.

Where the paper prints the table, its numbers stand in a column of their own beside ours, a line a
cell; else learners go down and datasets across.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from okbench.base.quantities import spoken_time
from okbench.protocols.metrics import ACCURACY, METRICS
from okbench.reports import numbers
from okbench.reports.tables.cells import Cell, CellKey, outdated_notes
from okbench.reports.tables.report import MACHINE_UNKNOWN, Report
from okbench.reports.tables.verdicts import Judgement, count_words

PAPER = "paper prints"
BLESSED = "blessed"
OURS = "okbench"
BALANCED = "balanced"
NOT_SEARCHED = "not searched"
_TIME_WORDS = {
    "all": "seconds",
    "training": "time of training",
    "search + training": "total time (search + training)",
}
_CLOCK_NOTES = {
    "all": "Mean seconds inside the learner per trial.",
    "training": "Mean time inside the learner while training; predicting test rows is not counted.",
    "search + training": "Time inside the learner: total (search + one training at the settings it "
    "chose), or training alone where nothing was searched. The search is all of its trials, with "
    "the scoring of what was held out; predicting test rows is not counted.",
}


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
                tuple(tuple(replace(e, text=spell(e.text)) for e in row) for row in group)
                for group in self.groups
            ),
            tuple(map(spell, self.notes)),
            self.words,
        )


def sheets(report: Report, like_paper: bool = False) -> tuple[Sheet, ...]:
    """The sheet of the metric and the sheet of the seconds, or one of both where the table asks for
    that. `like_paper` gives our numbers the digits the paper's have.
    """
    ours, beside = _metric_columns(report, numbers.like_paper if like_paper else numbers.of_cell)
    clock, seconds = _time_columns(report)
    words, time_words = METRICS[report.metric].heading, _TIME_WORDS[report.shown.seconds]
    metric_notes = _metric_notes(report, bool(report.best), like_paper)
    time_notes = _seconds_notes(report)
    if not report.shown.together:
        return (
            _lay_out(report, words, ours, beside, metric_notes),
            _lay_out(report, time_words, clock, seconds, time_notes),
        )
    if not report.has_printed:
        beside = [column for column in beside if column[0] in (OURS, BALANCED)]
        seconds = [clock]
    timed = [(f"{time_words}, {name}", entry) for name, entry in seconds]
    quantities = f"{words}; {time_words}"
    return (_lines(report, quantities, [*beside, *timed], (*metric_notes, *time_notes)),)


def _metric_columns(
    report: Report, spell: Callable[[Cell, float], str]
) -> tuple[Column, list[Column]]:
    """Our column of the metric, and all that stand beside the paper's."""
    ours: Column = (OURS, lambda cell: _ours(report, cell, spell))
    beside: list[Column] = [
        (PAPER, lambda cell: SheetText(cell.printed.text if cell.printed else "")),
        (BLESSED, lambda cell: SheetText(_blessed(report, cell, spell))),
        ours,
        (BALANCED, lambda cell: SheetText(_balanced(cell))),
        ("difference", lambda cell: SheetText(_difference(cell))),
        (
            "outcome",
            lambda cell: SheetText(report.verdicts[_key(cell)].outcome if cell.printed else ""),
        ),
        ("rests on", lambda cell: SheetText(_rests_on(report, cell))),
    ]
    absent = {BLESSED} if not report.blessed else set()
    absent |= {BALANCED} if not report.shown.classes else set()
    return ours, [column for column in beside if column[0] not in absent]


def _time_columns(report: Report) -> tuple[Column, list[Column]]:
    """Our column of the times, and the paper's beside it."""
    fastest = report.places(lambda cell: cell.time, lower_is_better=True)
    clock: Column = (OURS, lambda cell: SheetText(_seconds(cell), fastest.get(_key(cell), 0)))
    unit = report.shown.unit
    paper = PAPER if unit == "seconds" else f"{PAPER} ({unit})"
    printed: Column = (
        paper,
        lambda cell: SheetText(cell.printed.seconds_text if cell.printed else ""),
    )
    return clock, [printed, clock]


def _ours(report: Report, cell: Cell, spell: Callable[[Cell, float], str]) -> SheetText:
    place = report.best.get(_key(cell), 0)
    star = report.stars.get(cell.dataset)
    starred = star is not None and star.is_set and star.best == cell.learner
    text = _measured(cell, spell)
    return SheetText(text, place, starred, place == 2 and bool(report.shown.stars))


def _balanced(cell: Cell) -> str:
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
    verdict = report.verdicts[_key(cell)]
    return verdict.rests_on if cell.printed and verdict.measured else ""


def _lay_out(
    report: Report, quantity: str, alone: Column, beside: list[Column], notes: tuple[str, ...]
) -> Sheet:
    """Columns beside the paper's, a line per cell; or one column alone, with datasets across."""
    if not report.has_printed:
        title = f"{report.table}: {report.title} ({quantity})"
        _, ours = alone
        grid = tuple(
            (SheetText(learner), *(ours(report.cells[name, learner]) for name in report.datasets))
            for learner in report.learners
        )
        return Sheet(title, ("learner", *report.datasets), (grid,), notes, words=1)
    return _lines(report, quantity, beside, notes)


def _lines(report: Report, quantity: str, columns: list[Column], notes: tuple[str, ...]) -> Sheet:
    """A line a cell."""
    groups = []
    for name in report.datasets:
        rows: list[Row] = []
        for learner in report.learners:
            entries = (entry(report.cells[name, learner]) for _, entry in columns)
            rows.append((SheetText("" if rows else name), SheetText(learner), *entries))
        groups.append(tuple(rows))
    header = ("dataset", "learner", *(name for name, _ in columns))
    title = f"{report.table}: {report.title} ({quantity})"
    return Sheet(title, header, tuple(groups), notes, words=2)


def _key(cell: Cell) -> CellKey:
    return cell.dataset, cell.learner


def _measured(cell: Cell, spell: Callable[[Cell, float], str]) -> str:
    if cell.mean is None or cell.na:
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
    if cell.na:
        return cell.na
    if cell.time is None:
        return "not recorded" if cell.values else cell.shortfall
    if cell.clock == "all":
        words = numbers.seconds(cell.time)
    else:
        parts = (cell.search, cell.training) if cell.time != cell.training else ()
        words = numbers.duration(cell.time, [part for part in parts if part is not None])
    marks = [mark for mark in (NOT_SEARCHED if cell.awaits_search else "", cell.shortfall) if mark]
    return f"{words} ({', '.join(marks)})" if marks else words


def _metric_notes(report: Report, any_best: bool, like_paper: bool) -> tuple[str, ...]:
    measured = report.cells.values()
    notes = ["Mean ± standard deviation (n − 1) over trials."]
    notes += [report.order_note] if report.order_note else []
    if report.has_printed:
        notes.append(f"{PAPER}: copied from the paper; difference: {OURS} minus paper.")
        notes.append(
            f"outcome: {OURS} beside the paper; rests on: the weakest source of settings and rows "
            "(docs/verdicts.md)."
        )
        counted = count_words(list(report.verdicts.values()))
        notes += [f"Outcomes: {counted}."] if counted else []
        notes += _remarks(report)
    if report.blessed:
        notes.append(f"{BLESSED}: the baseline kept in results/.")
    if any_best:
        marked = "Bold: the best, italic: the runner-up" if like_paper else "Marked: the best"
        notes.append(f"{marked} of {OURS}'s complete cells, dataset by dataset.")
    if any(cell.values and not cell.complete for cell in measured):
        notes.append("(n/N): only n of N trials are done, and the mean is of these alone.")
    if any(cell.shortfall == "not run" for cell in measured):
        notes.append("not run: left out by the paper.")
    if report.shown.stars:
        level = f"{report.shown.stars:g}"
        notes.append(
            "A star: the best differs from the runner-up, which is underlined (paired t test over "
            f"the repetitions, two-sided, p < {level}; one-sample where one of them is run once)."
        )
    notes += _class_notes(report) if report.shown.classes else []
    if any(cell.na for cell in measured):
        notes.append(
            f"NA: search and training take longer than {spoken_time(report.na_after)} (with the "
            "time, or its estimate), or the learner did not converge."
        )
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


def _remarks(report: Report) -> list[str]:
    """What is odd about printed numbers, once for all cells of a dataset that share it."""
    about: dict[tuple[str, str], list[str]] = {}
    for cell in report.cells.values():
        if cell.printed and cell.printed.text and cell.printed.note:
            about.setdefault((cell.dataset, cell.printed.note), []).append(cell.learner)
    return [f"{name}, {', '.join(who)}: {note}." for (name, note), who in about.items()]


def _class_notes(report: Report) -> list[str]:
    """What accuracies are worth where one class has most of the test rows."""
    notes = []
    if report.has_printed or report.shown.together:  # the column is there
        notes.append(f"{BALANCED}: the mean of the accuracies of the classes.")
    for dataset in report.datasets:
        cells = [cell for cell in report.cells.values() if cell.dataset == dataset]
        known = [cell.majority for cell in cells if cell.majority is not None]
        if not known:
            continue
        words = numbers.mean_and_std(ACCURACY.name, known[0], None)
        right = {
            cell.learner: 100.0 - cell.mean if cell.lower_is_better else cell.mean
            for cell in cells
            if cell.mean is not None
        }
        no_more = [name for name, share in right.items() if round(share, 2) <= round(known[0], 2)]
        equal = f"; no more than that: {', '.join(no_more)}" if no_more else ""
        notes.append(
            f"{dataset}: always answering its most frequent class is right on {words} % of the "
            f"test rows{equal}."
        )
    return notes


def _seconds_notes(report: Report) -> tuple[str, ...]:
    clocked = [cell for cell in report.cells.values() if cell.time is not None]
    notes = [f"Machine of {OURS}: {machine}." for machine in report.machines or (MACHINE_UNKNOWN,)]
    notes.append(_CLOCK_NOTES[report.shown.seconds])
    if len(report.machines) > 1:
        notes.append("Seconds of several machines: do not compare them with each other.")
    if any(not cell.timed for cell in clocked):
        notes.append("Trials may have run side by side; okbench run --timing measures each alone.")
    if report.has_printed:
        notes.append(f"{PAPER}: on its authors' machine; compare ratios only.")
    return tuple(notes)
