"""The ranks of learners as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from okbench.base.errors import UsageError
from okbench.base.whole_files import write_whole
from okbench.reports.compare.ranking import Ranking
from okbench.reports.csv_text import csv_text
from okbench.reports.figures.page_look import FORMATS, PageLook, saved

_PAGE = PageLook()
_LINE = 0.2  # inches of a learner
_CSV = ("learner", "rank", "low", "high", "over", "critical_difference")


def draw_ranking(ranking: Ranking, path: Path, look: PageLook = _PAGE) -> None:
    """The picture as a file; the ending of `path` chooses the format."""
    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise UsageError(f"{path}: there is no picture format '{ending}' ({', '.join(FORMATS)})")
    write_whole(path, ranking_images(ranking, path.stem, look)[ending])


def ranking_images(ranking: Ranking, name: str, look: PageLook) -> Mapping[str, bytes]:
    """The critical-difference picture (Demšar 2006): learners on a line of mean ranks with their
    bootstrap intervals, and bars over those that may differ by chance."""
    if ranking.critical is None:
        raise UsageError("no picture: too few datasets have a complete cell for every learner")
    return saved(look, name, lambda: _drawn(ranking, look))


def ranking_note(ranking: Ranking) -> str:
    """The caption."""
    return (
        f"Mean ranks over {ranking.over}, 1 the best, with bootstrap intervals; a bar joins ranks "
        f"that may differ by chance (Nemenyi, CD = {ranking.critical:.2f})."
    )


def ranking_csv(ranking: Ranking) -> str:
    """What is drawn, one row per learner, the best first."""
    rows = [
        (one.learner, one.rank, *(one.interval or ("", "")), ranking.over, ranking.critical)
        for one in ranking.ranks
    ]
    return csv_text([_CSV, *rows])


def _drawn(ranking: Ranking, look: PageLook) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [ranked.learner for ranked in ranking.ranks]
    height = 0.6 + _LINE * len(names) + (0.3 if look.titled else 0.0)
    figure = Figure(figsize=(look.width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, ranked in enumerate(ranking.ranks):
        axes.plot([1, ranked.rank], [place, place], color="0.85")
        axes.plot(ranked.rank, place, "o", color="black")
        if ranked.interval:
            axes.plot(ranked.interval, [place, place], color="black", linewidth=1)
    for column, group in enumerate(ranking.nemenyi):
        right = len(names) + 0.2 * (column + 1)
        start, end = names.index(group[0]), names.index(group[-1])
        axes.plot([right, right], [start - 0.25, end + 0.25], color="black", linewidth=3)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0.8, len(names) + 0.2 * (len(ranking.nemenyi) + 1))
    axes.set_xlabel(f"mean rank over {ranking.over}")
    if look.titled:
        axes.set_title(f"a bar joins ranks that may differ by chance (CD = {ranking.critical:.2f})")
    return figure
