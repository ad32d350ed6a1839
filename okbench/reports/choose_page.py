"""The standings of a race as a web page, made of the pieces of the site."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from okbench.base.whole_files import write_whole
from okbench.papers.table_types import RowsFile
from okbench.reports.choose_text import (
    HEADER,
    command_of,
    conclusion,
    heading,
    notes_of,
    python_of,
    rows_of,
)
from okbench.reports.site.axes import axis, counted, tick_text
from okbench.reports.site.frame import notes, page, section
from okbench.reports.site.labels import Place, label, places
from okbench.reports.site.markers import look, point
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.site.plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    axes,
    chart_image,
    figure,
    plot,
)
from okbench.reports.site.site_files import shared_files
from okbench.trials.choose.standings import Standings


def write_page(found: Standings, file: RowsFile, to: Path) -> None:
    """Write the page, and beside it the style sheet and the script of the site."""
    for name, content in shared_files():
        write_whole(to.parent / name, content.encode("utf-8"))
    write_whole(to, _page(found, file, to.name).encode("utf-8"))


def _page(found: Standings, file: RowsFile, name: str) -> str:
    table = section("frontier", "Frontier", _chart(found), _table(found), notes([*notes_of(found)]))
    how: list[Markup] = []
    if winner := found.winner:
        commands = command_of(found, winner, file), "\n".join(python_of(found, winner))
        how = [tag("pre", words) for words in commands]
    use = section("use", "Use", tag("p", conclusion(found)), *how)
    title = f"Learners for {found.name}"
    return page(title, name, tag("h1", title), tag("p", heading(found)), table.body, use.body)


def _table(found: Standings) -> Markup:
    words = [found.metric.heading if word == "metric" else word for word in HEADER]
    head = [tag("th", word, scope="col") for word in words]
    body = [
        tag("tr", tag("th", label, scope="row"), [tag("td", cell) for cell in cells])
        for label, *cells in rows_of(found)
    ]
    table = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="plain")
    return tag("div", table, class_="frame", tabindex="0", role="region", aria_label="Learners")


def _chart(found: Standings) -> Markup:
    """Rows per second against the metric; learners that stopped earlier are measured on fewer."""
    spots = [
        (course, value)
        for course in found.started
        if (value := found.value(course)) is not None and course.marks[-1].seconds > 0
    ]
    if not spots:
        return siblings()
    x = axis([course.rows_per_second for course, _ in spots], LEFT, RIGHT, logarithmic=True)
    y = axis([value for _, value in spots], BOTTOM, TOP)
    at = {course.label: (x(course.rows_per_second), y(value)) for course, value in spots}
    best = [course.label for course in found.frontier if course.label in at]
    named = places([(name, *at[name]) for name in best])
    points = [
        tag(
            "g",
            point(
                course.label,
                *at[course.label],
                f"{course.label}: {value:.4g} on {course.rows:,} rows",
                _name(course.label, named),
                size=4.5,
            ),
            class_=look(course.label),
        )
        for course, value in spots
    ]
    drawn = (
        axes(x, y, counted, tick_text, "rows per second, logarithmic", found.metric.heading),
        plot(points),
    )
    names = ", ".join(course.label for course in found.frontier)
    title = f"{found.name}: {found.metric.heading} against rows per second"
    return figure(title, chart_image("frontier-chart", title, f"On the frontier: {names}.", *drawn))


def _name(name: str, places_of: Mapping[str, Place]) -> Markup:
    """The name of a learner on the frontier, nothing for the others."""
    return label(name, places_of[name], "label on-frontier") if name in places_of else siblings()
