"""The trials behind every cell, as lists: so many to a page, each page made when its turn comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from okbench.papers.commands import run_command
from okbench.papers.table_types import Table
from okbench.reports import numbers
from okbench.reports.load import LoadedTable
from okbench.reports.site.frame import link, page
from okbench.reports.site.markup import Child, Markup, escape, tag
from okbench.reports.site.places import INDEX, Place, page_of, trials_of
from okbench.reports.tables.cells import CellKey, value_of
from okbench.trials.trial_types import Outcome

PER_PAGE = 1000  # trials
_HEAD = ("permutation", "trial", "status", "total of rows", "value", "seconds", "bytes", "finished")


@dataclass(frozen=True)
class Piece:
    """Some trials of a cell, by their ids; `number` is that of the cell, `first` of the trials."""

    key: CellKey
    number: int
    first: int
    ids: Sequence[str]


def pieces(loaded: LoadedTable) -> list[list[Piece]]:
    """The trials of a table cut into pages."""
    pages: list[list[Piece]] = [[]]
    room = PER_PAGE
    for number, (key, ids) in enumerate(loaded.asked.items()):
        for first in range(0, len(ids), PER_PAGE):
            some = ids[first : first + PER_PAGE]
            if len(some) > room and pages[-1]:
                pages.append([])
                room = PER_PAGE
            pages[-1].append(Piece(key, number, first, some))
            room -= len(some)
    return pages if pages[0] else []


def trial_places(table: str, cut: Sequence[Sequence[Piece]]) -> dict[CellKey, Place]:
    """Where the trials of every cell begin."""
    found: dict[CellKey, Place] = {}
    for number, of_page in enumerate(cut, start=1):
        for piece in of_page:
            found.setdefault(piece.key, (trials_of(table, number), _anchor(piece)))
    return found


def trial_pages(
    loaded: LoadedTable, cut: Sequence[Sequence[Piece]], known: bool
) -> Iterator[tuple[str, str]]:
    """Every page with its place. `known` says that `okbench run` knows the table."""
    table = loaded.table
    for number, of_page in enumerate(cut, start=1):
        path = trials_of(table.name, number)
        title = f"Trials of {table.name}" + (f", {number} of {len(cut)}" if len(cut) > 1 else "")
        others = _others(table.name, path, number, len(cut))
        yield (
            path,
            page(
                title,
                path,
                tag("h1", title),
                _introduction(table, known),
                others,
                (_section(piece, loaded, known) for piece in of_page),
                others,
                trail=(("Results", INDEX), (table.name, page_of(table.name))),
            ),
        )


def cell_command(table: Table, key: CellKey) -> str:
    """The command that measures a cell anew, in another folder."""
    return run_command(table, (), key[:1], key[1:], again=True, results="again")


def _introduction(table: Table, known: bool) -> Markup:
    words: list[Child] = [
        "Every trial whose outcome counts in a cell. ", tag("code", "okbench show TRIAL"),
        " prints all that is stored of one, with its settings and its curve.",
    ]  # fmt: skip
    if known:
        words += [
            " The command below a cell measures it anew; with ",
            tag("code", "--repetition NUMBER"),
            " it measures one permutation.",
        ]
    return tag("p", *words)


def _others(table: str, path: str, number: int, count: int) -> Markup | None:
    """Links to the pages before and after."""
    if count == 1:
        return None
    near = [n for n in (1, number - 1, number + 1, count) if 1 <= n <= count and n != number]
    links = [
        tag("li", tag("a", f"page {n}", href=link(path, trials_of(table, n))))
        for n in dict.fromkeys(near)
    ]
    return tag("nav", tag("ul", links), class_="contents", aria_label="Pages")


def _section(piece: Piece, loaded: LoadedTable, known: bool) -> Markup:
    dataset, learner = piece.key
    heading = f"{learner} on {dataset}" + (", continued" if piece.first else "")
    found = [loaded.outcomes.get(id_) for id_ in piece.ids]
    settings = next((one.trial.settings for one in found if one), ())
    # a page of these is joined here and not by `tag`, which would take half the time of a site
    rows = Markup("".join(map(_row, piece.ids, found, count(piece.first))))
    head = tag("tr", [tag("th", name, scope="col") for name in _HEAD])
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="plain")
    return tag(
        "section",
        tag("h2", heading, id=_anchor(piece)),
        tag("p", _settings(settings), class_="quiet") if settings else None,
        tag("p", tag("code", cell_command(loaded.table, piece.key))) if known else None,
        tag("div", table, class_="frame", tabindex="0", role="region", aria_label=heading),
    )


def _anchor(piece: Piece) -> str:
    return f"cell-{piece.number}" + (f"-{piece.first}" if piece.first else "")


def _settings(settings: Sequence[tuple[str, object]]) -> str:
    return "Settings: " + ", ".join(f"{name} = {value}" for name, value in settings) + "."


def _row(id_: str, one: Outcome | None, place: int) -> str:
    if one is None:
        return tag("tr", tag("td", place), tag("td", tag("code", id_)), tag("td", "missing"))
    value = value_of(one, one.trial.metric)
    alone = ", alone" if one.timed else ""
    texts = (
        str(one.trial.repetition),
        f"<code>{id_}</code>",
        escape(f"{one.status}: {one.reason}") if one.reason else one.status,
        "" if one.total is None else f"{one.total:.10g} of {one.rows:,}",
        "" if value is None else f"{value:.6g}",
        "" if one.seconds is None else numbers.seconds(one.seconds) + alone,
        "" if one.bytes is None else f"{one.bytes:,}",
        escape(one.finished[:19]) if one.finished else "",
    )
    return f"<tr><td>{'</td><td>'.join(texts)}</td></tr>"
