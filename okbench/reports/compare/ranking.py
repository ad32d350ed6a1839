"""The learners of a table against each other: on each dataset in pairs, over datasets by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from okbench.base.errors import UsageError, did_you_mean
from okbench.reports.statistics import (
    Paired,
    average_ranks,
    critical_difference,
    friedman,
    holm,
    kendall,
    paired,
)
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report

SIGNIFICANT = 0.05
Outcome = str  # "better", "worse" or "cannot decide"


@dataclass(frozen=True)
class PairedComparison:
    """A learner against the one that all are compared with, on one dataset.

    The differences are learner − reference on shared row orders. `t_test` and `wilcoxon` are
    corrected for all the duels of the dataset (Holm). `found` is how the learner came off.
    """

    dataset: str
    learner: str
    reference: str
    differences: Paired | None
    t_test: float | None
    wilcoxon: float | None
    found: Outcome
    reason: str = ""


@dataclass(frozen=True)
class Ranking:
    """Average ranks over datasets, 1 the best; those nearer than `critical` cannot be told apart.

    `agreement` is Kendall's τ with the ranks of the paper's printed numbers, averaged over the
    datasets in `agreement_on`.
    """

    datasets: tuple[str, ...]
    ranks: tuple[tuple[str, float], ...]  # best first
    critical: float | None
    chance: float | None  # Friedman: of such ranks if all learners were alike
    agreement: float | None
    agreement_on: int
    left_out: tuple[str, ...]  # datasets without a complete cell for every learner


def duels(report: Report, reference: str | None = None) -> list[PairedComparison]:
    """Every learner against `reference`; if none is named, against the best of each dataset."""
    if reference is not None and reference not in report.learners:
        hint = did_you_mean(reference, report.learners)
        raise UsageError(f"{report.table} has no learner '{reference}'.{hint}")
    return [duel for name in report.datasets for duel in _duels_on(report, name, reference)]


def _duels_on(report: Report, dataset: str, reference: str | None) -> list[PairedComparison]:
    row = [report.cells[dataset, learner] for learner in report.learners]
    against = report.cells[dataset, reference] if reference else _best(report, row)
    if against is None:
        return []
    others = [cell for cell in row if cell is not against and (cell.values or cell.statuses)]
    found = [_differences(cell, against) for cell in others]
    decidable = [one for one in found if one is not None]
    t_tests = iter(holm([one.t_test for one in decidable]))
    wilcoxons = iter(holm([one.wilcoxon for one in decidable]))
    return [
        _duel(
            cell, against, one, *((None, None) if one is None else (next(t_tests), next(wilcoxons)))
        )
        for cell, one in zip(others, found, strict=True)
    ]


def _best(report: Report, row: Sequence[Cell]) -> Cell | None:
    """The best complete cell of a dataset, the first of those that tie."""
    return next((cell for cell in row if report.best.get((cell.dataset, cell.learner)) == 1), None)


def _differences(cell: Cell, against: Cell) -> Paired | None:
    return paired(cell.by_repetition, against.by_repetition)


def _duel(
    cell: Cell,
    against: Cell,
    differences: Paired | None,
    t_test: float | None,
    wilcoxon: float | None,
) -> PairedComparison:
    names = cell.dataset, cell.learner, against.learner
    if differences is None or t_test is None or wilcoxon is None:
        reason = f"fewer row orders in common than needed ({cell.n} and {against.n} trials)"
        return PairedComparison(*names, None, None, None, "cannot decide", reason)
    if not (cell.complete and against.complete):
        reason = f"trials are missing ({cell.shortfall or against.shortfall})"
        return PairedComparison(*names, differences, t_test, wilcoxon, "cannot decide", reason)
    if max(t_test, wilcoxon) >= SIGNIFICANT:
        reason = f"p = {max(t_test, wilcoxon):.2g}"
        return PairedComparison(*names, differences, t_test, wilcoxon, "cannot decide", reason)
    better = (differences.mean < 0) == cell.lower_is_better
    return PairedComparison(*names, differences, t_test, wilcoxon, "better" if better else "worse")


def ranking(report: Report) -> Ranking:
    """Average ranks over the datasets on which every learner's cell is complete."""
    complete = [
        name
        for name in report.datasets
        if all(report.cells[name, learner].complete for learner in report.learners)
    ]
    sign = 1.0 if report.lower_is_better else -1.0
    scores = [
        [sign * (report.cells[name, learner].mean or 0.0) for learner in report.learners]
        for name in complete
    ]
    ranks = zip(report.learners, average_ranks(scores), strict=True) if scores else ()
    taus = [tau for name in report.datasets if (tau := _agreement(report, name)) is not None]
    return Ranking(
        datasets=tuple(complete),
        ranks=tuple(sorted(ranks, key=lambda pair: pair[1])),
        critical=critical_difference(len(report.learners), len(complete)),
        chance=friedman(scores),
        agreement=fmean(taus) if taus else None,
        agreement_on=len(taus),
        left_out=tuple(name for name in report.datasets if name not in complete),
    )


def _agreement(report: Report, dataset: str) -> float | None:
    """Kendall's τ between our means and the printed ones on a dataset."""
    row = [report.cells[dataset, learner] for learner in report.learners]
    known = [
        (cell.mean, cell.printed.mean)
        for cell in row
        if cell.complete and cell.mean is not None
        if cell.printed is not None and cell.printed.mean is not None
    ]
    return kendall([ours for ours, _ in known], [theirs for _, theirs in known])
