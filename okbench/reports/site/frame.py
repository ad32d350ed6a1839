"""What every page has around its own: head, the way back, theme switch and foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from okbench.reports.site.markup import Child, Markup, siblings, tag
from okbench.reports.site.places import CLAIMS, DATASETS, INDEX, LEARNERS, MEMORY, RANKS

NAME = "okbench"
SEARCH = "assets/search.js"
_PAGES = (
    ("Tables", INDEX),
    ("Claims", CLAIMS),
    ("Ranks", RANKS),
    ("Memory", MEMORY),
    ("Learners", LEARNERS),
    ("Datasets", DATASETS),
)
# A page loads its own style sheet and script, and nothing else: no text in it can load or run
# anything, even if it were taken for markup. Some browsers do not count a file beside a page that
# was opened from a disk as 'self', hence `file:`, which pages from a server cannot load.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self' file:",
        "script-src 'self' file:",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
)


def page(
    title: str, path: str, *body: Child, trail: tuple[tuple[str, str], ...] = (), foot: Child = None
) -> str:
    """A whole page at `path` in the site; `trail` are the pages above it, by name and path."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=NAME),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("link", rel="stylesheet", href=link(path, "assets/site.css")),
        tag("script", src=link(path, "assets/site.js")),
    )
    crumbs = [tag("li", tag("a", name, href=link(path, target))) for name, target in trail] + [
        tag("li", tag("span", title, aria_current="page"))
    ]
    switch = tag("button", "Theme", type="button", id="theme", hidden=True)
    top = tag("nav", tag("ol", crumbs), switch, class_="top", aria_label="You are here")
    pages = [
        tag("li", tag("a", name, href=link(path, to), aria_current="page" if to == path else None))
        for name, to in _PAGES
    ]
    site = tag("nav", tag("ul", pages), _search(path), class_="site", aria_label="Site")
    whole = tag(
        "html",
        head,
        tag(
            "body",
            tag("a", "Skip to the content", href="#content", class_="skip"),
            tag("header", top, site),
            tag("main", *body, id="content"),
            tag("footer", foot),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{whole}\n"


def link(path: str, target: str, place: str = "") -> str:
    """The way from a page to a file of the site, or to a place in it."""
    return "../" * path.count("/") + quote(target) + (f"#{quote(place)}" if place else "")


def _search(path: str) -> Markup:
    """A field that the script shows; the list that it searches is loaded when it is used."""
    field = tag(
        "input",
        type="search",
        placeholder="Learner, dataset or table",
        aria_label="Search",
        autocomplete="off",
    )
    return tag(
        "div",
        field,
        tag("ul", hidden=True, aria_label="Found"),
        id="search",
        hidden=True,
        data_list=link(path, SEARCH),
        data_root=link(path, ""),
    )


@dataclass(frozen=True)
class Section:
    """A part of a page, and the name that links lead to it by."""

    name: str
    title: str
    body: Markup


def section(name: str, title: str, *body: Child) -> Section:
    """A part of a page under a heading."""
    heading = tag("h2", title, id=name)
    return Section(name, title, tag("section", heading, *body, aria_labelledby=name))


def contents(sections: Sequence[Section]) -> Markup:
    """Links to the parts of a page."""
    links = [tag("li", tag("a", one.title, href=f"#{one.name}")) for one in sections]
    return tag("nav", tag("ul", links), class_="contents", aria_label="On this page")


def notes(lines: Sequence[str]) -> Markup:
    """What a reader must know, a line each."""
    return tag("ul", [tag("li", line) for line in lines], class_="notes") if lines else siblings()


def several(count: int, what: str) -> str:
    """`1 table`, `2 tables`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
