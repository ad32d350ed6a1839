"""The times of a table: in one unit per dataset, which its head names."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Literal

from okbench.reports import numbers
from okbench.reports.tables.cells import Cell, CellKey
from okbench.reports.tables.report import Report

NOT_SEARCHED, CUT = "not searched", "cut"
TIME_WORDS = {
    "all": "time",
    "training": "time of training",
    "search + training": "total time",
    "without map": "time without map",
}
Unit = Literal["ms", "s", ""]  # nothing where every time names its own
_LONG = 10  # seconds, from which a printed time stays one of seconds
_PLACES = {"ms": 3, "s": 0}


def unit_of(report: Report, dataset: str) -> Unit:
    """Milliseconds for a dataset on which no learner took a second, and none of the paper's long.
    Totals with a search, and times beside printed minutes or hours, are so far apart that each has
    a unit of its own."""
    if report.shown.seconds == "search + training" or report.shown.unit != "seconds":
        return ""
    cells = [cell for cell in report.cells.values() if cell.dataset == dataset]
    times = [cell.time for cell in cells if cell.time is not None]
    words = [cell.printed.seconds_text for cell in cells if cell.printed]
    printed = [_decimal(text) for text in words if text]
    small = bool(times) and max(times) < 1.0
    return "ms" if small and all(one is not None and one < _LONG for one in printed) else "s"


def time_words(cell: Cell, unit: Unit) -> str:
    """The time of a cell in a unit, or why there is none. How many trials are done stands beside
    it, at the metric."""
    if cell.na:
        return cell.na
    if cell.time is None:
        return "not recorded" if cell.values else cell.shortfall
    if unit:
        words = numbers.seconds(cell.time * 10 ** _PLACES[unit])
    else:
        parts = (cell.search, cell.training) if cell.time != cell.training else ()
        words = numbers.duration(cell.time, [part for part in parts if part is not None])
    mark = NOT_SEARCHED if cell.awaits_search else CUT if cell.cut_time else ""
    return f"{words} ({mark})" if mark else words


def printed_time(cell: Cell, unit: Unit) -> str:
    """The printed time with the digits it is printed with: `0.086` are 86 ms."""
    text = cell.printed.seconds_text if cell.printed else ""
    number = _decimal(text)
    if unit != "ms" or number is None:
        return text
    return f"{number.scaleb(_PLACES[unit]):f}"


def fastest(report: Report) -> dict[CellKey, int]:
    """The places by time, on the datasets whose every trial was measured alone and in one
    environment, after searches as the table asks for them: other seconds do not show who is faster.
    """
    comparable = set()
    for dataset in report.datasets:
        timed = [c for c in report.cells.values() if c.dataset == dataset and c.time is not None]
        environments = {found for cell in timed for found in cell.environments}
        whole = not any(cell.awaits_search or cell.cut_time for cell in timed)
        if whole and all(cell.timed for cell in timed) and len(environments) <= 1:
            comparable.add(dataset)
    places = report.places(lambda cell: cell.time, lower_is_better=True)
    return {key: place for key, place in places.items() if key[0] in comparable}


def _decimal(text: str) -> Decimal | None:
    try:
        found = Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
