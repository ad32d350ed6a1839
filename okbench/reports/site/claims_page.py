"""What the papers claim, and how each claim stands, with the evidence of every dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from okbench.papers.paper_list import Paper
from okbench.reports.claims.claims_file import ClaimTest
from okbench.reports.claims.judge import Settled, Standing, Tested
from okbench.reports.site.frame import link, page, section, several
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.markup import Child, Markup, siblings, tag
from okbench.reports.site.places import CLAIMS, INDEX, anchor, page_of
from okbench.reports.site.table_page import citation

_LOOKS: Mapping[Standing, tuple[str, str]] = {
    "holds": ("=", "as-printed"),
    "holds partly": ("≈", "within"),
    "refuted": ("▼", "worse"),
    "not tested": ("·", "cannot-say"),
}
_SIGNS = {True: "yes", False: "no", None: "not decided"}


def claims_page(
    settled: Sequence[Settled], papers: Mapping[str, Paper], tables: frozenset[str]
) -> str:
    """The page of all claims; `tables` are those that have a page."""
    sections = []
    for key, group in groupby(settled, lambda one: one.claim.id.partition("/")[0]):
        found = list(group)
        sections.append(
            section(
                anchor("paper", key),
                papers[key].title if key in papers else key,
                citation(papers[key]) if key in papers else None,
                tag("p", _counts(found), class_="answer"),
                (_claim(one, tables) for one in found),
            ).body
        )
    nothing = tag("p", "The tables of this site belong to no claim that is written down.")
    return page(
        "Claims",
        CLAIMS,
        tag("h1", "What the papers claim"),
        tag("p", "Each sentence is judged by the stored outcomes alone. A claim holds if every one "
            "of its parts holds on as many datasets as it says."),
        sections or nothing,
        trail=(("Results", INDEX),),
        foot="Made by okbench from stored outcomes; nothing was run for it.",
    )  # fmt: skip


def _counts(found: Sequence[Settled]) -> str:
    counts = Counter(one.standing for one in found)
    words = ", ".join(f"{name}: {counts[name]}" for name in _LOOKS if counts[name])
    return f"{several(len(found), 'claim')}. Of these, {words}."


def standing_chip(standing: Standing) -> Markup:
    """How a claim stands: a sign and the words."""
    sign, look = _LOOKS[standing]
    shown = tag("span", sign, class_="sign", aria_hidden="true")
    return tag("span", shown, " ", standing, class_=f"chip {look}")


def _claim(settled: Settled, tables: frozenset[str]) -> Markup:
    claim = settled.claim
    readings: list[ClaimTest | None] = [*claim.tests, *(None for _ in claim.configured)]
    commands = dict.fromkeys([claim.command, *(tested.command for tested in settled.tests)])
    return tag(
        "article",
        tag("h3", standing_chip(settled.standing), " ", claim.id, id=anchor(claim.id)),
        tag("p", claim.says, tag("span", f" ({claim.where})", class_="quiet")),
        tag("p", f"No table can decide it: {claim.undecidable}.") if claim.undecidable else None,
        [
            _part(tested, reading, f"{anchor(claim.id)}-{number}", tables)
            for number, (tested, reading) in enumerate(zip(settled.tests, readings, strict=True))
        ],
        [
            tag("p", "To decide the rest: ", tag("code", command), class_="quiet")
            for command in commands
            if command
        ],
        class_="claim",
    )


def _part(tested: Tested, reading: ClaimTest | None, name: str, tables: frozenset[str]) -> Markup:
    """A part of a claim: how it stands, and behind it what every dataset says."""
    counted = (
        f"{tested.yes} yes and {tested.no} no of {len(tested.evidence)} datasets, "
        f"{tested.needed} needed"
    )
    reason = f"{tested.reason[:1].upper()}{tested.reason[1:]}"
    words = f"{counted}. {reason}".rstrip(". ") if tested.evidence else reason
    line = siblings(standing_chip(tested.standing), f": {words}.")
    where: Child = reading.table if reading else "configuration"
    if reading and reading.table in tables:
        where = tag("a", reading.table, href=link(CLAIMS, page_of(reading.table)))
    if not tested.evidence:
        return tag("p", line)
    header = [Heading(word, numeric=False) for word in ("dataset", "says", "figures")]
    rows = [
        GridRow(
            (
                Field(one.dataset, one.dataset),
                Field(_SIGNS[one.holds], _SIGNS[one.holds]),
                Field(one.figures, None, "why"),
            )
        )
        for one in tested.evidence
    ]
    ours = tag("p", f"Our reading: {reading.reading}.") if reading and reading.reading else None
    evidence = grid(name, "What every dataset says", header, rows, named=0)
    return tag("details", tag("summary", line), tag("p", "Table: ", where), ours, evidence)
