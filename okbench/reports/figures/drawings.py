"""The drawings of a table or figure: its own, or of a table its curves, ranks and trade-offs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from okbench.reports.compare.ranking import ranking, ranking_on
from okbench.reports.compare.ranking_picture import ranking_csv, ranking_images, ranking_note
from okbench.reports.figures.draw import images
from okbench.reports.figures.figure_data import Picture, picture_of
from okbench.reports.figures.page_look import PageLook
from okbench.reports.figures.text import csv_of
from okbench.reports.figures.tradeoff import tradeoff, tradeoff_csv, tradeoff_images
from okbench.reports.frontiers import Cost
from okbench.reports.load import LoadedTable
from okbench.reports.tables.report import Report

Kind = Literal["curves", "ranks", "frontier", "memory"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Drawing:
    """A picture as files by ending, the plotted numbers (csv) among them. `suffix` follows the name
    of the table in theirs; `notes` are the caption. Without files, `lack` says why."""

    kind: Kind
    suffix: str = ""
    files: Mapping[str, bytes] | None = None
    notes: tuple[str, ...] = ()
    lack: str = ""
    absent: tuple[str, ...] = ()


def drawings(loaded: LoadedTable, look: PageLook, kinds: Sequence[Kind] = KINDS) -> list[Drawing]:
    """The drawing of a figure, or those of a table."""
    if loaded.table.figure is not None:
        return [_curves(loaded, look)]
    makers: Mapping[Kind, Callable[[LoadedTable, PageLook], Drawing]] = {
        "curves": _curves,
        "ranks": _ranks,
        "frontier": lambda loaded, look: _tradeoff(loaded, look, "frontier", "seconds"),
        "memory": lambda loaded, look: _tradeoff(loaded, look, "memory", "bytes"),
    }
    return [makers[kind](loaded, look) for kind in KINDS if kind in kinds]


def _curves(loaded: LoadedTable, look: PageLook) -> Drawing:
    table = loaded.table
    found: Picture = picture_of(loaded, converging=table.figure is None)
    if not found.panels:
        quantities = " and ".join(table.figure.quantities if table.figure else ["metric"])
        lack = f"no curves of the {quantities}" if loaded.counted else "no outcomes"
        return Drawing("curves", lack=lack)
    files = {**images(found, look), "csv": csv_of(found).encode("utf-8")}
    return Drawing("curves", "", files, found.notes, absent=found.absent)


def _ranks(loaded: LoadedTable, look: PageLook) -> Drawing:
    """The ranks over datasets; where a single one is complete, over its permutations."""
    report = loaded.report
    found = ranking(report)
    if found.critical is None:
        found = next((ranking_on(report, name) for name in _complete(report)), found)
    if found.critical is None:
        lack = "no dataset with a complete cell for every learner"
        return Drawing("ranks", lack=lack)
    files = {
        **ranking_images(found, f"{loaded.table.name}-ranks", look),
        "csv": ranking_csv(found).encode("utf-8"),
    }
    return Drawing("ranks", "-ranks", files, (ranking_note(found),))


def _complete(report: Report) -> Iterator[str]:
    for name in report.datasets:
        if all(report.cells[name, learner].complete for learner in report.learners):
            yield name


def _tradeoff(loaded: LoadedTable, look: PageLook, kind: Kind, cost: Cost) -> Drawing:
    found = tradeoff(loaded.report, cost)
    if not found.frontiers:
        reasons = " ".join(found.notes[:-1])
        return Drawing(kind, lack=f"no complete cells with {cost}. {reasons}".strip())
    files = {**tradeoff_images(found, look), "csv": tradeoff_csv(found).encode("utf-8")}
    return Drawing(kind, f"-{kind}", files, found.notes)
