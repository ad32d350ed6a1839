"""The first page: what was measured, how it stands to what is printed, and on which machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from okbench.base.version import __version__
from okbench.reports.site.frame import link, page, section, several
from okbench.reports.site.grids import Field, GridRow, Heading, column, grid
from okbench.reports.site.machines import machines
from okbench.reports.site.markup import Child, Markup, tag
from okbench.reports.site.table_page import page_of, raw_of
from okbench.reports.site.table_views import TableView
from okbench.reports.site.verdicts import SHOWN, judged, legend, tally
from okbench.reports.tables.verdicts import AGREES, Judgement

PATH = "index.html"
_KINDS = {
    "table": "table", "curves": "figure", "sweep": "figure", "contours": "figure",
    "complexity": "orders",
}  # fmt: skip


def index_page(found: Sequence[TableView]) -> str:
    """The page that leads to all others."""
    verdicts = [one for exhibit in found for one in _verdicts(exhibit)]
    shares: Counter[str] = Counter()
    environments: dict[str, Any] = {}
    for exhibit in found:
        shares.update(exhibit.shares)
        environments |= exhibit.environments
    latest = max((exhibit.latest for exhibit in found), default="")
    return page(
        "Results",
        PATH,
        tag("h1", "Online kernel learning, measured again"),
        tag("p", _facts(found, len(environments), latest), class_="facts"),
        section("stand", "Which printed numbers stand", *_answer(verdicts)).body
        if verdicts
        else None,
        section("tables", "Tables", _tables(found)).body,
        section("verdicts", "Outcomes, and what they rest on", legend()).body if verdicts else None,
        section("machines", "Machines and versions", machines(environments, shares)).body,
        foot=tag(
            "p", f"Made by okbench {__version__} from stored outcomes; nothing was run for it."
        ),
    )


def _facts(found: Sequence[TableView], machines: int, latest: str) -> str:
    outcomes = sum(exhibit.counted for exhibit in found)
    facts = [several(len(found), "table"), several(outcomes, "trial")]
    facts.append(several(machines, "environment"))
    return " · ".join([*facts, f"latest {latest[:10]}"] if latest else facts)


def _answer(verdicts: Sequence[Judgement]) -> tuple[Child, ...]:
    """Sentences for a reader who knows no word of this site, and the counts on both axes."""
    measured = [one for one in verdicts if one.measured]
    agree = [one for one in measured if one.outcome in AGREES]
    fitted = sum(one.rests_on == "fitted" for one in agree)
    outcomes = Counter(one.outcome for one in measured)
    sentence = (
        f"The papers print {several(len(verdicts), 'number')} in these tables, and "
        f"{len(measured):,} of them were measured. {len(agree) - fitted:,} agree with our "
        f"measurement. {fitted:,} more agree, but only with a setting or with rows that were "
        "chosen by looking at the printed number, which is weak evidence. "
        f"{outcomes['better']:,} are better here than printed, and {outcomes['worse']:,} worse."
    )
    links = tag(
        "p",
        tag("a", "What the words mean", href="#verdicts"),
        " · ",
        tag("a", "The counts of each table", href="#tables"),
        " · each table's page gives the verdict on every cell, with the reason.",
        class_="quiet",
    )
    return tag("p", sentence, class_="answer"), tally(verdicts, "tally-table"), links


def _verdicts(exhibit: TableView) -> list[Judgement]:
    return judged(exhibit.report) if exhibit.report else []


def _tables(found: Sequence[TableView]) -> Markup:
    """A line per table: where its page is, how complete it is, and its outcomes."""
    header = [
        *(Heading(name, numeric=False) for name in ("table", "title", "paper", "kind")),
        *(Heading(name) for name in ("cells", "trials")),
        *(Heading(outcome) for outcome in SHOWN),
        Heading("agree without a fit"),
        Heading("agree by a fit"),
        Heading("raw", numeric=False, sortable=False),
    ]
    counts = [Counter(one.outcome for one in _verdicts(exhibit)) for exhibit in found]
    tallies = [
        column(
            [f"{count[outcome]}" if count else "" for count in counts],
            [count[outcome] if count else None for count in counts],
        )
        for outcome in SHOWN
    ]
    agreeing = [[one for one in _verdicts(e) if one.outcome in AGREES] for e in found]
    by_fit = [sum(one.rests_on == "fitted" for one in each) for each in agreeing]
    unfitted = [len(each) - fits for each, fits in zip(agreeing, by_fit, strict=True)]
    tallies += [column([f"{n or ''}" for n in each], list(each)) for each in (unfitted, by_fit)]
    trials = column([f"{e.counted}" for e in found], [e.counted for e in found])
    rows = [
        GridRow(
            (
                Field(_link(exhibit), exhibit.table.name),
                Field(exhibit.table.title, exhibit.table.title, "title"),
                Field(exhibit.table.paper, exhibit.table.paper or None),
                Field(_KINDS[exhibit.table.kind], _KINDS[exhibit.table.kind]),
                _complete(exhibit),
                trials[place],
                *(fields[place] for fields in tallies),
                Field(_raw(exhibit), None),
            )
        )
        for place, exhibit in enumerate(found)
    ]
    return grid("tables-table", "Measured so far", header, rows, named=0)


def _link(exhibit: TableView) -> Markup:
    return tag("a", exhibit.table.name, href=link(PATH, page_of(exhibit.table.name)))


def _raw(exhibit: TableView) -> Markup:
    return tag("a", "jsonl", href=link(PATH, raw_of(exhibit.table.trials_of)), download=True)


def _complete(exhibit: TableView) -> Field:
    if not exhibit.report:
        return Field("", None)
    cells = exhibit.report.cells.values()
    wanted = len(cells) - len(exhibit.table.left_out)
    complete = sum(cell.complete for cell in cells)
    words: Child = f"{complete} of {wanted}"
    return Field(words, complete / wanted if wanted else None, "short" if complete < wanted else "")
