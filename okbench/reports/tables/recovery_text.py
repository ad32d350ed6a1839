"""What followed the changes of a stream, as sheets: learners down, datasets across."""

from __future__ import annotations

from collections.abc import Mapping

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.tables.cells import CellKey
from okbench.reports.tables.layout import Sheet, SheetText
from okbench.reports.tables.report import Report

_Entries = Mapping[CellKey, tuple[float, str]]  # a value, and how it is written


def change_sheets(report: Report) -> tuple[Sheet, ...]:
    """The errors that trials wrote down besides, and the rows until a learner recovered; nothing
    where the table does not ask for it, or no trial says where its concept changes."""
    if not report.recoveries:
        return ()
    metric = METRICS[report.metric]
    others = [
        _sheet(report, METRICS[name].heading, _entries_of(report, name), ())
        for name in metric.beside
    ]
    times = {
        key: (one.rows, f"{one.rows:,.0f} ({one.recovered}/{one.changes})")
        for key, one in report.recoveries.items()
    }
    notes = (
        f"A learner has recovered where its {metric.words} is at most {report.shown.margin:g} "
        "times the lowest that any learner of the table has at the end of the concept.",
        "Mean rows from the beginning of a change on; (n/N): it recovered from n of N changes, and "
        "of the others the rows up to the next change count.",
    )
    return (*others, _sheet(report, "rows to recover", times, notes))


def _entries_of(report: Report, name: str) -> _Entries:
    return {
        key: (one.others[name], numbers.mean_and_std(name, one.others[name], None))
        for key, one in report.recoveries.items()
        if name in one.others
    }


def _sheet(report: Report, quantity: str, entries: _Entries, notes: tuple[str, ...]) -> Sheet:
    """A sheet of one quantity, of which less is better."""
    lowest = {
        dataset: min((value for (name, _), (value, _) in entries.items() if name == dataset),
                     default=None)
        for dataset in report.datasets
    }  # fmt: skip

    def entry(key: CellKey) -> SheetText:
        value, words = entries.get(key, (None, report.cells[key].shortfall or "no curve"))
        return SheetText(words, int(value is not None and value == lowest[key[0]]))

    rows = tuple(
        (SheetText(learner), *(entry((dataset, learner)) for dataset in report.datasets))
        for learner in report.learners
    )
    title = f"{report.table}: {report.title} ({quantity})"
    return Sheet(title, ("learner", *report.datasets), (rows,), notes, words=1)
