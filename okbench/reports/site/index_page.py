"""The first page: what was measured, how it stands to what is printed, and on which machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from okbench.base.version import __version__
from okbench.papers.paper_list import Paper
from okbench.reports.site.frame import link, page, section, several
from okbench.reports.site.grids import Field, GridRow, Heading, column, grid
from okbench.reports.site.machines import machines
from okbench.reports.site.markup import Child, Markup, siblings, tag
from okbench.reports.site.places import INDEX, anchor, page_of
from okbench.reports.site.small_charts import small_chart
from okbench.reports.site.table_page import citation, paper_title
from okbench.reports.site.table_views import TableView
from okbench.reports.site.verdicts import SHOWN, judged, legend, tally
from okbench.reports.tables.verdicts import AGREES, RESULTS, Judgement, Result

OWN = "Tables of no paper"


@dataclass(frozen=True)
class Entry:
    """What the first page shows of a table, and nothing that grows with its trials."""

    name: str
    title: str
    paper: str
    complete: int
    wanted: int  # cells; 0 for a figure
    trials: int
    latest: str
    verdicts: Sequence[Judgement]
    chart: Markup | None
    environments: Mapping[str, Mapping[str, Any]]
    shares: Mapping[str, int]


def entry_of(view: TableView) -> Entry:
    """The entry of a table."""
    cells = view.report.cells.values() if view.report else ()
    return Entry(
        view.table.name,
        view.table.title,
        view.table.paper,
        complete=sum(cell.complete for cell in cells),
        wanted=len(cells) - len(view.table.left_out) if cells else 0,
        trials=view.counted,
        latest=view.latest,
        verdicts=judged(view.report) if view.report else (),
        chart=small_chart(view.report, view.picture),
        environments=view.environments,
        shares=view.shares,
    )


def index_page(found: Sequence[Entry], papers: Mapping[str, Paper]) -> str:
    """The page that leads to all others."""
    verdicts = [one for entry in found for one in entry.verdicts]
    shares: Counter[str] = Counter()
    environments: dict[str, Any] = {}
    for entry in found:
        shares.update(entry.shares)
        environments |= entry.environments
    latest = max((entry.latest for entry in found), default="")
    return page(
        "Results",
        INDEX,
        tag("h1", "Online kernel learning, measured again"),
        tag("p", _facts(found, len(environments), latest), class_="facts"),
        section("stand", "Which printed numbers stand", *_answer(verdicts)).body
        if verdicts
        else None,
        section("tables", "Tables and figures", *_tables(found, papers)).body,
        section("verdicts", "Outcomes, and what they rest on", legend()).body if verdicts else None,
        section("machines", "Machines and versions", machines(environments, shares)).body,
        foot=tag(
            "p", f"Made by okbench {__version__} from stored outcomes; nothing was run for it."
        ),
    )


def _facts(found: Sequence[Entry], machines: int, latest: str) -> str:
    trials = sum(entry.trials for entry in found)
    facts = [several(len(found), "table"), several(trials, "trial")]
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
    if unsaid := outcomes["cannot say"]:
        sentence += f" {unsaid:,} cannot be judged, because a single trial has no deviation."
    links = tag(
        "p",
        tag("a", "What the words mean", href="#verdicts"),
        " · ",
        tag("a", "The counts of each table", href="#tables"),
        " · each table's page gives the verdict on every cell, with the reason.",
        class_="quiet",
    )
    return tag("p", sentence, class_="answer"), tally(verdicts, "tally-table"), links


def _tables(found: Sequence[Entry], papers: Mapping[str, Paper]) -> list[Markup]:
    """Paper by paper: how it is cited, and a line per table."""
    groups: dict[str, list[Entry]] = {}
    for entry in sorted(found, key=lambda entry: list(papers).index(entry.paper)
                        if entry.paper in papers else len(papers)):  # fmt: skip
        groups.setdefault(entry.paper, []).append(entry)
    return [
        tag(
            "div",
            tag("h3", _paper(papers.get(key)) or key or OWN, id=anchor("paper", key or "none")),
            citation(papers[key], titled=True) if key in papers else None,
            _table(
                entries,
                f"Tables and figures of {key}" if key else OWN,
                anchor("tables", key or "none"),
            ),
        )
        for key, entries in groups.items()
    ]


def _paper(paper: Paper | None) -> Markup | None:
    return paper_title(paper) if paper else None


def _table(found: Sequence[Entry], caption: str, name: str) -> Markup:
    """A line per table: where its page is, how complete it is, and its outcomes."""
    header = [Heading("table", numeric=False), Heading("", numeric=False, sortable=False)]
    header += [Heading("cells"), Heading("trials")]
    judged_at_all = any(entry.verdicts for entry in found)
    if judged_at_all:
        header += [Heading(outcome) for outcome in _outcomes(found)]
        header += [Heading("agree without a fit"), Heading("agree by a fit")]
    counts = _counts(found) if judged_at_all else []
    trials = column([f"{entry.trials:,}" for entry in found], [entry.trials for entry in found])
    rows = [
        GridRow(
            (
                Field(_title(entry), entry.name, "title"),
                Field(entry.chart, None),
                _complete(entry),
                trials[place],
                *(fields[place] for fields in counts),
            )
        )
        for place, entry in enumerate(found)
    ]
    return grid(name, caption, header, rows, named=0)


def _outcomes(found: Sequence[Entry]) -> list[Result]:
    """The outcomes that have a column: the usual ones, and those that occur."""
    occurring = {one.outcome for entry in found for one in entry.verdicts}
    return [one for one in RESULTS if one in SHOWN or one in occurring]


def _counts(found: Sequence[Entry]) -> list[list[Field]]:
    """The columns of outcomes, and how many numbers agree without and with a fit."""
    counts = [Counter(one.outcome for one in entry.verdicts) for entry in found]
    tallies = [
        column(
            [f"{count[outcome]}" if count else "" for count in counts],
            [count[outcome] if count else None for count in counts],
        )
        for outcome in _outcomes(found)
    ]
    agreeing = [[one for one in entry.verdicts if one.outcome in AGREES] for entry in found]
    by_fit = [sum(one.rests_on == "fitted" for one in each) for each in agreeing]
    unfitted = [len(each) - fits for each, fits in zip(agreeing, by_fit, strict=True)]
    return tallies + [
        column([f"{n or ''}" for n in each], list(each)) for each in (unfitted, by_fit)
    ]


def _title(entry: Entry) -> Markup:
    name = tag("a", entry.name, href=link(INDEX, page_of(entry.name)))
    return siblings(name, " ", tag("span", entry.title, class_="under"))


def _complete(entry: Entry) -> Field:
    if not entry.wanted:
        return Field("", None)
    words = f"{entry.complete} of {entry.wanted}"
    short = "short" if entry.complete < entry.wanted else ""
    return Field(words, entry.complete / entry.wanted, short)
