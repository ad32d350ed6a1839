"""Verdicts as a reader sees them: a sign and the words, and a colour that adds nothing to them."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import get_args

from okbench.reports.site.markup import Markup, tag
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import Verdict

SIGNS: dict[Verdict, str] = {
    "as printed": "=",
    "within": "≈",
    "better": "▲",
    "worse": "▼",
    "cannot say": "?",
}
MEANINGS: dict[Verdict, str] = {
    "as printed": "our mean, rounded or cut off to the printed digits, is the printed number",
    "within": "the paper's number lies inside the 95 % interval of the difference",
    "better": "it lies outside, and ours is the better one",
    "worse": "it lies outside, and ours is the worse one",
    "cannot say": "too few trials, nothing printed, or a setting the paper does not give",
}
ORDER: tuple[Verdict, ...] = get_args(Verdict)


def counted(report: Report) -> Counter[Verdict]:
    """How often each verdict was given to a cell for which the paper prints a number."""
    return Counter(
        report.verdicts[key].verdict for key, cell in report.cells.items() if cell.printed
    )


def chip(verdict: Verdict) -> Markup:
    """A verdict in a table."""
    return tag("span", sign(verdict), " ", verdict, class_=f"chip {_class(verdict)}")


def sign(verdict: Verdict) -> Markup:
    """The sign alone; the words stand beside it, or where a reader finds them."""
    return tag("span", SIGNS[verdict], class_="sign", aria_hidden="true")


def bare(verdict: Verdict) -> Markup:
    """The sign for the eye, the words for those who listen."""
    return tag(
        "span",
        sign(verdict),
        tag("span", f" {verdict}", class_="unseen"),
        class_=f"bare {_class(verdict)}",
        title=verdict,
    )


def tally(counts: Counter[Verdict]) -> Markup:
    """All verdicts of a table as a bar with its numbers under it."""
    given = [verdict for verdict in ORDER if counts[verdict]]
    # rectangles, because the policy of the pages refuses styles that stand in attributes
    widths = [max(counts[verdict], counts.total() / 100) for verdict in given]
    starts = accumulate(widths, initial=0.0)
    bar = tag(
        "svg",
        [
            tag("rect", class_=_class(v), x=f"{x:g}", y="0", width=f"{width:g}", height="1")
            for v, x, width in zip(given, starts, widths, strict=False)
        ],
        class_="bar",
        viewBox=f"0 0 {sum(widths):g} 1",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    listed = tag("ul", [tag("li", chip(v), " ", tag("b", counts[v])) for v in given])
    return tag("div", bar, listed, class_="tally")


def legend() -> Markup:
    """What each verdict means."""
    return tag(
        "dl",
        [tag("div", tag("dt", chip(v)), tag("dd", MEANINGS[v], ".")) for v in ORDER],
        class_="meanings",
    )


def _class(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")
