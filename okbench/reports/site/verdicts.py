"""Verdicts as a reader sees them: a sign and the words, and a colour that adds nothing to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from okbench.papers.provenance import BASES, Basis
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.markup import Markup, tag
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import RESULTS, Judgement, Result, count_outcomes, count_words

SIGNS: dict[Result, str] = {
    "as printed": "=",
    "within": "≈",
    "better": "▲",
    "worse": "▼",
    "not measured": "·",
    "too few trials": "…",
    "nothing printed": " ",
    "cannot say": "?",
}
MEANINGS: dict[Result, str] = {
    "as printed": "our mean, rounded or cut off to the printed digits, is the printed number",
    "within": "no difference is seen; the smallest one that would have been is given",
    "better": "the numbers differ, and ours is the better one",
    "worse": "the numbers differ, and ours is the worse one",
    "not measured": "no trial is done",
    "too few trials": "some trials are done, too few to compare",
    "nothing printed": "the paper prints no number there",
    "cannot say": "one trial and no deviation: nothing can be computed",
}
SOURCES: dict[Basis, str] = {
    "printed": "the paper gives every setting and describes the rows",
    "found": "the authors' files hold what the paper does not give",
    "searched": "a setting was searched by the paper's own protocol",
    "default": "a setting is a program's default, or the rows are prepared in the usual way",
    "fitted": "a setting or the rows were chosen by looking at the printed result",
}
SHOWN: tuple[Result, ...] = ("as printed", "within", "better", "worse", "not measured")


def judged(report: Report) -> list[Judgement]:
    """The verdicts on the cells for which the paper prints a number."""
    found = report.verdicts.values()
    return [one for one in found if one.outcome != "nothing printed"]


def chip(outcome: Result) -> Markup:
    """An outcome in a table."""
    return tag("span", sign(outcome), " ", outcome, class_=f"chip {_class(outcome)}")


def sign(outcome: Result) -> Markup:
    """The sign alone; the words stand beside it, or where a reader finds them."""
    return tag("span", SIGNS[outcome], class_="sign", aria_hidden="true")


def bare(outcome: Result) -> Markup:
    """The sign for the eye, the words for those who listen."""
    return tag(
        "span",
        sign(outcome),
        tag("span", f" {outcome}", class_="unseen"),
        class_=f"bare {_class(outcome)}",
        title=outcome,
    )


def tally(found: Sequence[Judgement], name: str) -> Markup:
    """All outcomes as a bar, and both axes as a table: which numbers stand, and on what."""
    counts = count_outcomes(found)
    waiting = Counter(one.outcome for one in found if not one.measured)
    totals = sum(counts.values(), Counter[Result]()) + waiting
    given = [one for one in RESULTS if totals[one]]
    # rectangles, because the policy of the pages refuses styles that stand in attributes
    widths = [max(totals[one], totals.total() / 100) for one in given]
    starts = accumulate(widths, initial=0.0)
    bar = tag(
        "svg",
        [
            tag("rect", class_=_class(one), x=f"{x:g}", y="0", width=f"{width:g}", height="1")
            for one, x, width in zip(given, starts, widths, strict=False)
        ],
        class_="bar",
        viewBox=f"0 0 {sum(widths):g} 1",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    outcomes = [one for one in RESULTS if one in SHOWN[:-1] or (totals.get(one))]
    header = [Heading("rests on", numeric=False), *(Heading(one) for one in outcomes)]
    rows = [_line(one, BASES.index(one), count, outcomes) for one, count in counts.items()]
    if waiting:
        rows.append(_line("—", len(BASES), waiting, outcomes))
    matrix = grid(name, "Printed cells by outcome and by what they rest on", header, rows, named=0)
    return tag(
        "div", bar, matrix, tag("p", f"{count_words(found)}.", class_="quiet"), class_="tally"
    )


def _line(name: str, key: int, count: Counter[Result], outcomes: Sequence[Result]) -> GridRow:
    numbers = (Field(f"{count[one] or ''}", count[one] or None) for one in outcomes)
    return GridRow((Field(name, key), *numbers))


def legend() -> Markup:
    """What each outcome means, and each word for what it rests on."""
    return tag(
        "dl",
        [
            tag("div", tag("dt", chip(one)), tag("dd", MEANINGS[one], "."))
            for one in RESULTS
            if one != "nothing printed"
        ],
        [tag("div", tag("dt", basis), tag("dd", SOURCES[basis], ".")) for basis in BASES],
        class_="meanings",
    )


def _class(outcome: Result) -> str:
    return outcome.replace(" ", "-")
