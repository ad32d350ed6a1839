"""The learners of a table compared: in pairs on each dataset, and by their ranks over datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from okbench.base.errors import UsageError, did_you_mean
from okbench.reports.compare.rank_tests import (
    average_ranks,
    critical_difference,
    friedman,
    kendall,
)
from okbench.reports.statistics import FEWEST_PAIRS, Paired, holm, paired
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report

SIGNIFICANT = 0.05
Outcome = str  # "better", "worse" or "cannot decide"


@dataclass(frozen=True)
class PairedComparison:
    """A learner compared with the reference on one dataset.

    The differences are learner − reference on the permutations that both have. `t_test` and
    `wilcoxon` are p values, corrected for all the comparisons on the dataset (Holm). `found` says
    whether the learner is better or worse.
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
    """Average ranks over datasets, 1 the best; ranks closer than `critical` may differ by chance.

    `agreement` is Kendall's τ with the ranks of the paper's printed numbers, averaged over the
    datasets in `agreement_on`.
    """

    datasets: tuple[str, ...]
    ranks: tuple[tuple[str, float], ...]  # best first
    critical: float | None
    chance: float | None  # Friedman's p value: of such ranks, if all learners were alike
    agreement: float | None
    agreement_on: int
    left_out: tuple[str, ...]  # datasets without a complete cell for every learner


def comparisons(report: Report, reference: str | None = None) -> list[PairedComparison]:
    """Every learner compared with `reference`, or with the best learner of each dataset."""
    if reference is not None and reference not in report.learners:
        hint = did_you_mean(reference, report.learners)
        raise UsageError(f"{report.table} has no learner '{reference}'.{hint}")
    return [
        comparison
        for name in report.datasets
        for comparison in _comparisons_on(report, name, reference)
    ]


def _comparisons_on(report: Report, dataset: str, reference: str | None) -> list[PairedComparison]:
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
        _comparison(
            cell, against, one, *((None, None) if one is None else (next(t_tests), next(wilcoxons)))
        )
        for cell, one in zip(others, found, strict=True)
    ]


def _best(report: Report, row: Sequence[Cell]) -> Cell | None:
    """The best complete cell of a dataset, the first of those that tie."""
    return next((cell for cell in row if report.best.get((cell.dataset, cell.learner)) == 1), None)


def _differences(cell: Cell, against: Cell) -> Paired | None:
    return paired(cell.by_repetition, against.by_repetition)


def _comparison(
    cell: Cell,
    against: Cell,
    differences: Paired | None,
    t_test: float | None,
    wilcoxon: float | None,
) -> PairedComparison:
    names = cell.dataset, cell.learner, against.learner
    if differences is None or t_test is None or wilcoxon is None:
        shared = len(cell.by_repetition.keys() & against.by_repetition.keys())
        reason = f"{shared} permutations in common, and {FEWEST_PAIRS} are needed"
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
