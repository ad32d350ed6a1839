"""Mean ranks over datasets, table by table, as diagrams of critical differences (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Sequence

from okbench.reports.compare.ranking import Ranking
from okbench.reports.site.axes import Axis, tick_text
from okbench.reports.site.frame import Section, contents, link, page, section
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.markers import look, point, px, style_sample
from okbench.reports.site.markup import Markup, siblings, tag
from okbench.reports.site.places import INDEX, RANKS, anchor, page_of
from okbench.reports.site.plot import chart_image, figure, path

_LINE, _TOP, _LEFT, _RIGHT = 20.0, 34.0, 110.0, 430.0
_BAR = 7.0  # between the bars of two groups


def ranks_page(sections: Sequence[Section]) -> str:
    """The page of all diagrams."""
    words = (
        "Ranks are averaged over the datasets on which every learner has all of its trials; 1 is "
        "the best. Thin bars are bootstrap intervals over datasets. A thick bar joins learners "
        "whose mean ranks may differ by chance (Nemenyi, 5 %)."
    )
    nothing = tag("p", "No table has two datasets on which every learner has all of its trials.")
    return page(
        "Ranks",
        RANKS,
        tag("h1", "Ranks over datasets"),
        tag("p", words),
        contents(sections) if sections else nothing,
        *(one.body for one in sections),
        trail=(("Results", INDEX),),
        foot="Made by okbench from stored outcomes; nothing was run for it.",
    )


def ranks_section(table: str, title: str, ranking: Ranking) -> Section | None:
    """The diagram and the numbers of a table; None where there is nothing to rank."""
    if len(ranking.datasets) < 2 or len(ranking.ranks) < 2:
        return None
    name = anchor("ranks", table)
    return section(
        name,
        f"{table}: {title}",
        tag(
            "p", _about(ranking), " ", tag("a", "The table", href=link(RANKS, page_of(table))), "."
        ),
        tag("div", _diagram(ranking, name), _numbers(ranking, name), class_="beside"),
    )


def _about(ranking: Ranking) -> str:
    count = len(ranking.datasets)
    words = f"Over {count} datasets ({', '.join(ranking.datasets)})."
    if ranking.critical is not None:
        words += f" Mean ranks must lie {ranking.critical:.2f} apart to differ significantly."
    if ranking.friedman is not None:
        words += f" If all learners were alike, such ranks would have p = {ranking.friedman:.2g}."
    return words


def _diagram(ranking: Ranking, name: str) -> Markup:
    """Learners from the best down, each at its mean rank."""
    count = len(ranking.ranks)
    bottom = _TOP + _LINE * count
    x = Axis(1.0, float(count), _LEFT, _RIGHT)
    rows = {ranked.learner: _TOP + _LINE * (n + 0.5) for n, ranked in enumerate(ranking.ranks)}
    bars = [
        tag(
            "path",
            class_="group-bar",
            d=path([(at, rows[group[0]] - 6), (at, rows[group[-1]] + 6)]),
        )
        for number, group in enumerate(ranking.nemenyi)
        for at in [_RIGHT + 10 + _BAR * (number % 3)]
    ]
    best, worst = ranking.ranks[0], ranking.ranks[-1]
    words = f"Best {best.learner} ({best.rank:.2f}), worst {worst.learner} ({worst.rank:.2f})."
    drawn = (
        [
            tag(
                "g",
                tag("path", class_="rule", d=f"M0 0V{px(bottom - _TOP)}"),
                tag("text", tick_text(at), y="-6", class_="below"),
                transform=f"translate({px(x(at))} {px(_TOP)})",
            )
            for at in range(1, count + 1)
        ],
        tag("text", "mean rank", x=px(_LEFT), y="12", class_="name"),
        [_line(ranked.learner, ranked.rank, ranked.interval, x, rows) for ranked in ranking.ranks],
        bars,
    )
    image = chart_image(name, "Mean ranks", words, *drawn, height=bottom + 10)
    return figure(siblings("Mean ranks"), image)


def _line(
    learner: str, rank: float, interval: tuple[float, float] | None, x: Axis, rows: dict[str, float]
) -> Markup:
    y = rows[learner]
    spread = interval and tag("path", class_="spread", d=path([(x(end), y) for end in interval]))
    words = f"{learner}: {rank:.2f}" + (
        f", from {interval[0]:.2f} to {interval[1]:.2f}" if interval else ""
    )
    return tag(
        "g",
        tag("path", class_="rule", d=path([(x.start, y), (x(rank), y)])),
        spread or None,
        point(learner, x(rank), y, words, size=4.5),
        tag("text", learner, x=px(_LEFT - 10), y=px(y), class_="at-left label on-frontier"),
        class_=look(learner),
    )


def _numbers(ranking: Ranking, name: str) -> Markup:
    header = [Heading("learner", numeric=False), Heading("mean rank"), Heading("95 % interval")]
    rows = [
        GridRow(
            (
                Field(
                    tag("span", style_sample(one.learner), one.learner, class_="key"), one.learner
                ),
                Field(f"{one.rank:.2f}", one.rank),
                Field(
                    f"{one.interval[0]:.2f} … {one.interval[1]:.2f}" if one.interval else "", None
                ),
            )
        )
        for one in ranking.ranks
    ]
    return grid(f"{name}-table", "Mean ranks, 1 the best", header, rows, named=0)
