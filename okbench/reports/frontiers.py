"""A cost against the metric on one dataset: which learners no other beats in both.

The cost is the seconds inside the learner, or the bytes that its model holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report

Cost = Literal["seconds", "bytes"]


@dataclass(frozen=True)
class Spot:
    """A learner on one dataset: its mean cost, its mean metric and the deviation of that;
    `shortfall` says why its cell is not complete."""

    learner: str
    cost: float
    mean: float
    std: float
    shortfall: str = ""


@dataclass(frozen=True)
class Frontier:
    """The learners that have both numbers, and those of complete cells that no other beats in both,
    the cheapest first. `reason` is why they cannot be compared.
    """

    dataset: str
    spots: tuple[Spot, ...]
    best: tuple[Spot, ...]
    reason: str = ""


def frontier(report: Report, dataset: str, cost: Cost = "seconds") -> Frontier:
    """The frontier of a dataset. Its seconds are comparable if they were measured on one machine,
    and all of them alone or none."""
    cells = [report.cells[dataset, learner] for learner in report.learners]
    known = [cell for cell in cells if cell.mean is not None and _cost_of(cell, cost)]
    spots = tuple(
        Spot(cell.learner, _cost_of(cell, cost) or 0.0, cell.mean or 0.0, cell.std or 0.0,
             cell.shortfall)
        for cell in known
    )  # fmt: skip
    reason = _not_comparable(known) if cost == "seconds" else ""
    return Frontier(dataset, spots, () if reason else _best(report, spots), reason)


def _best(report: Report, spots: Sequence[Spot]) -> tuple[Spot, ...]:
    sign = 1.0 if report.lower_is_better else -1.0
    best: list[Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.cost, sign * spot.mean)):
        if not spot.shortfall and (not best or sign * spot.mean < sign * best[-1].mean):
            best.append(spot)
    return tuple(best)


def _not_comparable(cells: Sequence[Cell]) -> str:
    if len({found for cell in cells for found in cell.environments}) > 1:
        return "its seconds are of several machines or versions"
    if len({cell.timed for cell in cells}) > 1:
        return "some of its seconds were measured alone and some side by side"
    return ""


def _cost_of(cell: Cell, cost: Cost) -> float | None:
    return cell.seconds if cost == "seconds" else cell.bytes
