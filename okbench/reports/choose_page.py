"""The standings of a race as a web page, made of the pieces of the site."""

from __future__ import annotations

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
from okbench.reports.site.build import shared_files
from okbench.reports.site.charts import BOTTOM, LEFT, RIGHT, TOP, axes, chart_image
from okbench.reports.site.frame import notes, page, section
from okbench.reports.site.line_styles import hollow, look, marker, px
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.trials.choose.standings import Standings


def write_page(found: Standings, file: RowsFile, to: Path) -> None:
    """Write the page, and beside it the style sheet and the script of the site."""
    for name, content in shared_files():
        write_whole(to.parent / name, content)
    write_whole(to, _page(found, file, to.name).encode("utf-8"))


def _page(found: Standings, file: RowsFile, name: str) -> str:
    table = section("frontier", "Frontier", _chart(found), _table(found), notes([*notes_of(found)]))
    use = section(
        "use",
        "Use",
        tag("p", conclusion(found)),
        tag("pre", command_of(found, file)),
        tag("pre", "\n".join(python_of(found))),
    )
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
        (number, course, value)
        for number, course in enumerate(found.started)
        if (value := found.value(course)) is not None and course.marks[-1].seconds > 0
    ]
    if not spots:
        return siblings()
    speeds = [course.rows_per_second for _, course, _ in spots]
    x = axis(speeds, LEFT, RIGHT, logarithmic=True)
    y = axis([value for *_, value in spots], BOTTOM, TOP)
    drawn = siblings(
        axes(x, y, counted, tick_text, "rows per second, logarithmic", found.metric.heading),
        [
            tag(
                "g",
                tag("title", f"{course.label}: {value:.4g} on {course.rows:,} rows"),
                tag("path", class_=hollow(number),
                    d=marker(number, x(course.rows_per_second), y(value), 4.5)),
                tag("text", course.label, x=px(x(course.rows_per_second) + 8),
                    y=px(y(value) + 4), class_="label") if course in found.frontier else None,
                class_=look(number),
            )
            for number, course, value in spots
        ],
    )  # fmt: skip
    names = ", ".join(course.label for course in found.frontier)
    title = f"{found.name}: {found.metric.heading} against rows per second"
    image = chart_image("frontier-chart", title, f"On the frontier: {names}.", drawn)
    return tag("figure", image, class_="chart")
