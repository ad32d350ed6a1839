"""Paired comparisons and rankings as text, data, and a picture."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from okbench.base.errors import UsageError
from okbench.base.whole_files import write_whole
from okbench.reports.compare.ranking import PairedComparison, Ranking

PICTURES = ("svg", "png", "pdf")


def ranking_text(comparisons: Sequence[PairedComparison], ranking: Ranking) -> str:
    """The comparisons dataset by dataset, then the ranks."""
    return "\n".join([_comparison_lines(comparisons), "", *_ranking_lines(ranking)]) + "\n"


def ranking_json(comparisons: Sequence[PairedComparison], ranking: Ranking) -> str:
    """The same as data."""
    page = {
        "okbench": "compare",
        "schema": 1,
        "comparisons": [asdict(comparison) for comparison in comparisons],
        "ranking": asdict(ranking),
    }
    return json.dumps(page, indent=2, allow_nan=False) + "\n"


def _comparison_lines(comparisons: Sequence[PairedComparison]) -> str:
    if not comparisons:
        return "No dataset has a complete cell to compare others with."
    rows = [
        [
            comparison.dataset,
            comparison.learner,
            comparison.reference,
            *_figures(comparison),
            comparison.found
            if not comparison.reason
            else f"{comparison.found}: {comparison.reason}",
        ]
        for comparison in comparisons
    ]
    header = ["dataset", "learner", "against", "difference", "95 % interval", "t", "Wilcoxon", ""]
    sides = ["left", "left", "left", "right", "right", "right", "right", "left"]
    return tabulate(rows, headers=header, tablefmt="simple", colalign=sides, disable_numparse=True)


def _figures(comparison: PairedComparison) -> list[str]:
    if comparison.differences is None or comparison.t_test is None or comparison.wilcoxon is None:
        return ["", "", "", ""]
    found = comparison.differences
    return [
        f"{found.mean:+.4g}",
        f"{found.low:+.4g} … {found.high:+.4g}",
        f"{comparison.t_test:.2g}",
        f"{comparison.wilcoxon:.2g}",
    ]


def _ranking_lines(ranking: Ranking) -> list[str]:
    lines = []
    if ranking.ranks:
        lines.append(f"Average ranks over {len(ranking.datasets)} datasets, 1 the best:")
        width = max(len(name) for name, _ in ranking.ranks)
        lines += [f"  {name:<{width}}  {rank:.2f}" for name, rank in ranking.ranks]
    else:
        lines.append("No average ranks: no dataset has a complete cell for every learner.")
    if ranking.critical is not None:
        lines.append(
            f"Ranks closer than {ranking.critical:.2f} may differ by chance (Nemenyi, 5 %)."
        )
    elif ranking.ranks:
        lines.append("There are too few datasets to say how far apart ranks must be.")
    if ranking.chance is not None:
        lines.append(
            f"If all learners were alike: p = {ranking.chance:.2g} for such ranks (Friedman)."
        )
    if ranking.agreement is not None:
        lines.append(
            f"Agreement with the paper's order: Kendall's τ = {ranking.agreement:.2f} "
            f"(mean over datasets: {ranking.agreement_on})."
        )
    if ranking.left_out:
        lines.append(f"Without a complete cell for every learner: {', '.join(ranking.left_out)}.")
    return lines


def draw_ranking(ranking: Ranking, path: Path) -> None:
    """The critical-difference picture (Demšar 2006): learners on a line of ranks, bars over those
    that may differ by chance. The ending of `path` chooses the format.
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
    names = [name for name, _ in ranking.ranks]
    ranks = [rank for _, rank in ranking.ranks]
    figure = Figure(figsize=(6.4, 1.2 + 0.25 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    axes.hlines(range(len(names)), 1, ranks, color="0.85")
    axes.plot(ranks, range(len(names)), "o", color="black")
    groups = _groups(ranks, ranking.critical)
    for place, (start, end) in enumerate(groups):
        right = len(names) + 0.2 * (place + 1)
        axes.plot([right, right], [start - 0.25, end + 0.25], color="black", linewidth=3)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0.8, len(names) + 0.2 * (len(groups) + 1))
    axes.set_xlabel(f"average rank over {len(ranking.datasets)} datasets")
    axes.set_title(f"a bar joins ranks that may differ by chance (CD = {ranking.critical:.2f})")
    page = io.BytesIO()
    figure.savefig(page, format=ending)
    write_whole(path, page.getvalue())


def _groups(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """The longest runs of neighbours that lie within the critical difference: first and last."""
    found: list[tuple[int, int]] = []
    for start in range(len(ranks)):
        end = max(i for i, rank in enumerate(ranks) if rank - ranks[start] <= critical)
        if end > start and (not found or end > found[-1][1]):
            found.append((start, end))
    return found
