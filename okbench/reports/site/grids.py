"""Tables a reader can sort, with numbers aligned at their decimal points."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from okbench.reports.site.markup import Child, Markup, siblings, tag

_FIGURES = re.compile(r"[+−-]?\d+(?:\.\d+)?")
_ALIGNABLE = re.compile(r"[+−-]?\d+(?:\.\d+)?(?: %)?(?: ± \d+(?:\.\d+)?(?: %)?)?")


@dataclass(frozen=True)
class Field:
    """What stands in a column of a row: its markup, and the key to sort it by.

    A number or a text; None sorts last, whichever way round.
    """

    shown: Child
    key: float | str | None
    class_: str = ""


@dataclass(frozen=True)
class GridRow:
    """A line of a table. `learner` is the place of the learner it is about, to hide it by."""

    fields: tuple[Field, ...]
    learner: int | None = None
    first: bool = False  # of its group


@dataclass(frozen=True)
class Heading:
    """A column's name, `numeric` if numbers stand in it, and the learner it is about. `group` says
    that it groups the rows: a narrow screen leaves it out."""

    name: str
    numeric: bool = True
    learner: int | None = None
    sortable: bool = True
    group: bool = False


def grid(
    name: str, caption: str, header: Sequence[Heading], rows: Sequence[GridRow], named: int
) -> Markup:
    """A table in a frame that scrolls by itself; column number `named` names its rows."""
    head = tag(
        "tr",
        [
            tag(
                "th",
                heading.name,
                scope="col",
                class_=_classes(
                    "num" if heading.numeric else "word", "group" if heading.group else ""
                ),
                data_learner=heading.learner,
                data_sortable=heading.sortable,
            )
            for heading in header
        ],
    )
    table = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", head),
        tag("tbody", (_row(row, header, named) for row in rows)),
        class_="grid",
        id=name,
    )
    return tag("div", table, class_="frame", tabindex="0", role="region", aria_label=caption)


def align_numbers(texts: Sequence[str]) -> list[Markup]:
    """The texts of a column, each number with room for the digits others have and it lacks.

    The room is made by the style sheet from `data-` attributes: copied text has none of it.
    """
    parts = [_FIGURES.findall(text) if _ALIGNABLE.fullmatch(text) else None for text in texts]
    widths: dict[int, list[int]] = {}
    for found in parts:
        for place, figures in enumerate(found or ()):
            whole, _, part = figures.partition(".")
            known = widths.setdefault(place, [0, 0])
            known[0], known[1] = max(known[0], len(whole)), max(known[1], len(part))
    return [
        Markup(tag("span", text)) if found is None else _padded(text, found, widths)
        for text, found in zip(texts, parts, strict=True)
    ]


def column(
    texts: Sequence[str], keys: Sequence[float | None], classes: Sequence[str] = ()
) -> list[Field]:
    """The fields of a column of numbers."""
    known = [None if key is None or not math.isfinite(key) else key for key in keys]
    names = classes or [""] * len(texts)
    return [
        Field(shown, key, class_)
        for shown, key, class_ in zip(align_numbers(texts), known, names, strict=True)
    ]


def _padded(text: str, figures: Sequence[str], widths: dict[int, list[int]]) -> Markup:
    pieces: list[Child] = []
    rest = text
    for place, number in enumerate(figures):
        before, _, rest = rest.partition(number)
        whole, _, part = number.partition(".")
        lacks = "0" * (widths[place][1] - len(part))
        after = ("" if part or not lacks else ".") + lacks
        room = "0" * (widths[place][0] - len(whole)) if place else ""
        pieces += [before, tag("b", number, data_before=room or None, data_after=after or None)]
    return siblings(*pieces, rest)


def _row(row: GridRow, header: Sequence[Heading], named: int) -> Markup:
    cells: list[Markup] = []
    for place, (field, heading) in enumerate(zip(row.fields, header, strict=True)):
        attributes: dict[str, Any] = {
            "class_": _classes("num" if heading.numeric else "word", field.class_),
            "data_key": "" if field.key is None else field.key,
            "data_learner": heading.learner,
        }
        if place == named:
            cells.append(tag("th", field.shown, scope="row", **attributes))
        else:
            cells.append(tag("td", field.shown, **attributes))
    return tag("tr", cells, class_="first" if row.first else None, data_learner=row.learner)


def _classes(*names: str) -> str:
    return " ".join(name for name in names if name)
