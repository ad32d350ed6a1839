"""The ranks of learners as a picture."""

from __future__ import annotations

import io
from pathlib import Path

from okbench.base.errors import UsageError
from okbench.base.whole_files import write_whole
from okbench.reports.compare.ranking import Ranking

PICTURES = ("svg", "png", "pdf")


def draw_ranking(ranking: Ranking, path: Path) -> None:
    """The critical-difference picture (Demšar 2006): learners on a line of mean ranks with their
    bootstrap intervals, and bars over those that may differ by chance. The ending of `path` chooses
    the format.
    """
    ending = path.suffix.removeprefix(".").lower()
    if ending not in PICTURES:
        raise UsageError(f"{path}: there is no picture format '{ending}' ({', '.join(PICTURES)})")
    if ranking.critical is None:
        raise UsageError("no picture: too few datasets have a complete cell for every learner")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("pictures need matplotlib: pip install 'okbench[plot]'") from error
    names = [ranked.learner for ranked in ranking.ranks]
    figure = Figure(figsize=(6.4, 1.2 + 0.25 * len(names)), layout="constrained")
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
    axes.set_xlabel(f"mean rank over {len(ranking.datasets)} datasets")
    axes.set_title(f"a bar joins ranks that may differ by chance (CD = {ranking.critical:.2f})")
    page = io.BytesIO()
    figure.savefig(page, format=ending)
    write_whole(path, page.getvalue())
