"""What a learner costs against how well it does, dataset by dataset: its time or its memory, and
the learners that no other beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from okbench.protocols.metrics import METRICS
from okbench.reports.csv_text import csv_text
from okbench.reports.figures.draw import (
    balanced,
    legend_columns,
    lettered,
    look_of,
    panels_of,
)
from okbench.reports.figures.page_look import PageLook, saved
from okbench.reports.frontiers import Cost, Frontier, frontier
from okbench.reports.tables.report import Report

_AXES: Mapping[Cost, tuple[str, str]] = {  # in words, and the unit
    "seconds": ("time per trial", "s"),
    "bytes": ("memory of the model", "B"),
}
_CSV = ("table", "dataset", "learner", "cost_name", "cost", "metric", "mean", "std", "unbeaten")


@dataclass(frozen=True)
class Tradeoff:
    """The learners of each dataset by cost and metric, as far as their costs are comparable;
    `notes` say what is not drawn and why."""

    name: str
    title: str
    metric: str
    cost: Cost
    learners: tuple[str, ...]
    frontiers: Mapping[str, Frontier]
    notes: tuple[str, ...]


def tradeoff(report: Report, cost: Cost) -> Tradeoff:
    """The complete cells of a table."""
    drawn, notes = {}, []
    for dataset in report.datasets:
        found = frontier(report, dataset, cost)
        complete = tuple(spot for spot in found.spots if not spot.shortfall)
        if complete and found.reason:
            notes.append(f"{dataset} is not drawn: {found.reason}.")
        elif complete:
            drawn[dataset] = replace(found, spots=complete)
    notes.append("The dashed line joins the learners that no other beats in both.")
    name = {"seconds": "frontier", "bytes": "memory"}[cost]
    return Tradeoff(
        f"{report.table}-{name}", report.title, report.metric, cost, report.learners, drawn,
        tuple(notes),
    )  # fmt: skip


def tradeoff_csv(found: Tradeoff) -> str:
    """What is drawn, one row per learner on a dataset."""
    rows: list[tuple[Any, ...]] = [_CSV]
    table = found.name.rpartition("-")[0]
    for dataset, one in found.frontiers.items():
        rows += [
            (table, dataset, spot.learner, found.cost, spot.cost, found.metric, spot.mean, spot.std,
             spot in one.best)
            for spot in one.spots
        ]  # fmt: skip
    return csv_text(rows)


def tradeoff_images(found: Tradeoff, look: PageLook) -> Mapping[str, bytes]:
    """The picture as files, by ending: a panel for each dataset."""
    return saved(look, found.name, lambda: _drawn(found, look))


def _drawn(found: Tradeoff, look: PageLook) -> Any:
    shown = {spot.learner for one in found.frontiers.values() for spot in one.spots}
    labels = [learner for learner in found.learners if learner in shown]
    across = min(balanced(len(found.frontiers)), look.across)
    title = f"{found.name}: {found.title}" if look.titled else ""
    notes = found.notes if look.titled else ()
    figure, axes, bottom = panels_of(len(found.frontiers), across, labels, look, title, notes)
    handles: dict[str, Any] = {}
    for number, (dataset, ax) in enumerate(zip(found.frontiers, axes, strict=True)):
        ax.set_title(lettered(number, dataset, len(axes)))
        handles |= _panel(ax, found, dataset)
    columns = legend_columns(look, labels)
    figure.legend(
        [handles[label] for label in labels], labels, loc="lower center",
        bbox_to_anchor=(0.5, bottom), ncols=columns, frameon=False,
    )  # fmt: skip
    return figure


def _panel(ax: Any, found: Tradeoff, dataset: str) -> dict[str, Any]:
    """The points of a dataset with their deviations, and the line through the unbeaten."""
    from matplotlib.ticker import EngFormatter, LogLocator

    words, unit = _AXES[found.cost]
    ax.set_xscale("log")
    spots, best = found.frontiers[dataset].spots, found.frontiers[dataset].best
    costs = [spot.cost for spot in spots]
    if min(costs) == max(costs):  # Matplotlib may find no room around a single value
        ax.set_xlim(costs[0] / 2, costs[0] * 2)
    ax.xaxis.set_major_locator(LogLocator(subs=_ticks(max(costs) / min(costs))))
    ax.xaxis.set_major_formatter(EngFormatter(unit=unit))
    ax.minorticks_off()
    ax.set_xlabel(words)
    ax.set_ylabel(METRICS[found.metric].heading)
    handles = {}
    for spot in spots:
        style = {**look_of(spot.learner), "linestyle": "none"}
        handles[spot.learner] = ax.errorbar(
            spot.cost, spot.mean, yerr=spot.std, elinewidth=0.6, **style
        )
    ax.plot(
        [spot.cost for spot in best], [spot.mean for spot in best],
        color="#555555", linestyle="--", linewidth=0.8, drawstyle="steps-post", zorder=0,
    )  # fmt: skip
    return handles


def _ticks(span: float) -> tuple[float, ...]:
    """The multiples of powers of ten that have a tick on an axis over so many times its least."""
    if span > 100:
        return (1.0,)
    return (1.0, 3.0) if span > 10 else (1.0, 2.0, 4.0, 7.0)
