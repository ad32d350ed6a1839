"""Duels and rankings as text, data, and a picture."""

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


def rivals_text(duels: Sequence[PairedComparison], ranking: Ranking) -> str:
    """The duels dataset by dataset, then the ranks."""
    return "\n".join([_duel_lines(duels), "", *_ranking_lines(ranking)]) + "\n"


def rivals_json(duels: Sequence[PairedComparison], ranking: Ranking) -> str:
    """The same as data."""
    page = {
        "okbench": "compare",
        "schema": 1,
        "duels": [asdict(duel) for duel in duels],
        "ranking": asdict(ranking),
    }
    return json.dumps(page, indent=2, allow_nan=False) + "\n"


def _duel_lines(duels: Sequence[PairedComparison]) -> str:
    if not duels:
        return "No dataset has a complete cell to hold others against."
    rows = [
        [
            duel.dataset,
            duel.learner,
            duel.reference,
            *_figures(duel),
            duel.found if not duel.reason else f"{duel.found}: {duel.reason}",
        ]
        for duel in duels
    ]
    header = ["dataset", "learner", "against", "difference", "95 % interval", "t", "Wilcoxon", ""]
    sides = ["left", "left", "left", "right", "right", "right", "right", "left"]
    return tabulate(rows, headers=header, tablefmt="simple", colalign=sides, disable_numparse=True)


def _figures(duel: PairedComparison) -> list[str]:
    if duel.differences is None or duel.t_test is None or duel.wilcoxon is None:
        return ["", "", "", ""]
    found = duel.differences
    return [
        f"{found.mean:+.4g}",
        f"{found.low:+.4g} … {found.high:+.4g}",
        f"{duel.t_test:.2g}",
        f"{duel.wilcoxon:.2g}",
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
            f"Ranks nearer than {ranking.critical:.2f} cannot be told apart (Nemenyi, 5 %)."
        )
    elif ranking.ranks:
        lines.append("Too few datasets to say how far apart ranks must be.")
    if ranking.chance is not None:
        lines.append(f"Were all learners alike, such ranks would have p = {ranking.chance:.2g}.")
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
    that cannot be told apart. The ending of `path` picks the format.
    """
    ending = path.suffix.removeprefix(".").lower()
    if ending not in PICTURES:
        raise UsageError(f"{path}: no picture format '{ending}' ({', '.join(PICTURES)})")
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
    axes.set_title(f"a bar joins what cannot be told apart (CD = {ranking.critical:.2f})")
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
