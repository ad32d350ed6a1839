"""What a learner costs against how well it does, dataset by dataset: its time or its memory, and
the learners that no other beats in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report

Cost = Literal["seconds", "bytes"]
_AXES: Mapping[Cost, tuple[str, str]] = {  # in words, and the unit
    "seconds": ("time per trial", "s"),
    "bytes": ("memory of the model", "B"),
}
_CSV = ("table", "dataset", "learner", "cost_name", "cost", "metric", "mean", "std", "unbeaten")


@dataclass(frozen=True)
class Spot:
    """A learner on one dataset: what it costs, and its metric with the deviation."""

    learner: str
    cost: float
    mean: float
    std: float


@dataclass(frozen=True)
class Tradeoff:
    """The learners of each dataset by cost and metric, as far as their costs are comparable;
    `notes` say what is not drawn and why."""

    name: str
    title: str
    metric: str
    cost: Cost
    learners: tuple[str, ...]
    spots: Mapping[str, tuple[Spot, ...]]
    notes: tuple[str, ...]

    def unbeaten(self, dataset: str) -> tuple[Spot, ...]:
        """The learners that no other beats in both, the cheapest first."""
        sign = 1.0 if METRICS[self.metric].lower_is_better else -1.0
        found: list[Spot] = []
        for spot in sorted(self.spots[dataset], key=lambda spot: (spot.cost, sign * spot.mean)):
            if not found or sign * spot.mean < sign * found[-1].mean:
                found.append(spot)
        return tuple(found)


def tradeoff(report: Report, cost: Cost) -> Tradeoff:
    """The complete cells of a table. Seconds of a dataset are comparable if they were measured on
    one machine, and all of them alone or none."""
    spots, notes = {}, []
    for dataset in report.datasets:
        cells = [report.cells[dataset, learner] for learner in report.learners]
        known = [cell for cell in cells if cell.complete and _cost(cell, cost)]
        if cost == "seconds" and (reason := _not_comparable(known)):
            notes.append(f"{dataset} is not drawn: {reason}.")
        elif known:
            spots[dataset] = tuple(_spot(cell, cost) for cell in known)
    notes.append("The dashed line joins the learners that no other beats in both.")
    name = {"seconds": "frontier", "bytes": "memory"}[cost]
    return Tradeoff(
        f"{report.table}-{name}", report.title, report.metric, cost, report.learners, spots,
        tuple(notes),
    )  # fmt: skip


def _not_comparable(cells: Sequence[Cell]) -> str:
    if len({found for cell in cells for found in cell.environments}) > 1:
        return "its seconds are of several machines or versions"
    if len({cell.timed for cell in cells}) > 1:
        return "some of its seconds were measured alone and some side by side"
    return ""


def _cost(cell: Cell, cost: Cost) -> float | None:
    return cell.seconds if cost == "seconds" else cell.bytes


def _spot(cell: Cell, cost: Cost) -> Spot:
    return Spot(cell.learner, _cost(cell, cost) or 0.0, cell.mean or 0.0, cell.std or 0.0)


def tradeoff_csv(found: Tradeoff) -> str:
    """What is drawn, one row per learner on a dataset."""
    rows: list[tuple[Any, ...]] = [_CSV]
    table = found.name.rpartition("-")[0]
    for dataset, spots in found.spots.items():
        best = found.unbeaten(dataset)
        rows += [
            (table, dataset, spot.learner, found.cost, spot.cost, found.metric, spot.mean, spot.std,
             spot in best)
            for spot in spots
        ]  # fmt: skip
    return csv_text(rows)


def tradeoff_images(found: Tradeoff, look: PageLook) -> Mapping[str, bytes]:
    """The picture as files, by ending: a panel for each dataset."""
    return saved(look, found.name, lambda: _drawn(found, look))


def _drawn(found: Tradeoff, look: PageLook) -> Any:
    shown = {spot.learner for spots in found.spots.values() for spot in spots}
    labels = [learner for learner in found.learners if learner in shown]
    across = min(balanced(len(found.spots)), look.across)
    title = f"{found.name}: {found.title}" if look.titled else ""
    notes = found.notes if look.titled else ()
    figure, axes, bottom = panels_of(len(found.spots), across, labels, look, title, notes)
    handles: dict[str, Any] = {}
    for number, (dataset, ax) in enumerate(zip(found.spots, axes, strict=True)):
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
    costs = [spot.cost for spot in found.spots[dataset]]
    ax.xaxis.set_major_locator(LogLocator(subs=_ticks(max(costs) / min(costs))))
    ax.xaxis.set_major_formatter(EngFormatter(unit=unit))
    ax.minorticks_off()
    ax.set_xlabel(words)
    ax.set_ylabel(METRICS[found.metric].heading)
    handles = {}
    for spot in found.spots[dataset]:
        style = {**look_of(spot.learner), "linestyle": "none"}
        handles[spot.learner] = ax.errorbar(
            spot.cost, spot.mean, yerr=spot.std, elinewidth=0.6, **style
        )
    best = found.unbeaten(dataset)
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
