"""The learners of a table compared by their ranks and differences over datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from okbench.base.errors import UsageError
from okbench.protocols.metrics import METRICS
from okbench.reports.compare.pairs import SIGNIFICANT
from okbench.reports.compare.rank_tests import (
    FEWEST_DATASETS,
    Posterior,
    average_ranks,
    bayesian_signed_rank,
    critical_difference,
    far_apart,
    friedman,
    iman_davenport,
    kendall,
    mean_interval,
    rank_intervals,
    tied_groups,
)
from okbench.reports.statistics import Interval, fewest_pairs, holm, signed_rank
from okbench.reports.tables.report import Report

Scores = list[list[float]]  # one row per dataset, one column per learner, lower is better


@dataclass(frozen=True)
class Ranked:
    """A learner's average rank, 1 the best. `interval` is its bootstrap interval over datasets.

    `posterior` holds the probabilities that the learner is typically better than the reference,
    practically equal to it, and worse (below, within, above).
    """

    learner: str
    rank: float
    interval: Interval | None
    posterior: Posterior | None


@dataclass(frozen=True)
class OverDatasets:
    """Wilcoxon's test of two learners over datasets: its p value, corrected for all pairs."""

    learner: str
    other: str
    p: float


@dataclass(frozen=True)
class Ranking:
    """Average ranks over datasets; ranks closer than `critical` may differ by chance.

    `nemenyi` and `wilcoxon_groups` are the groups of learners that do not differ significantly, by
    `critical` and by the tests in `wilcoxon`, which need `enough` datasets to find anything.
    `friedman` and `iman_davenport` are the p values of such ranks, if all learners were alike.
    Posteriors compare with `reference`, where differences below `region` (in `unit`) are
    practically none. `agreement` is Kendall's τ with the ranks of the paper's printed numbers,
    averaged over `agreement_on` datasets. `over` says what the ranks are averaged over, which may
    also be the permutations of one dataset.
    """

    datasets: tuple[str, ...]
    ranks: tuple[Ranked, ...]  # best first
    critical: float | None
    nemenyi: tuple[tuple[str, ...], ...]
    friedman: float | None
    iman_davenport: float | None
    wilcoxon: tuple[OverDatasets, ...]
    wilcoxon_groups: tuple[tuple[str, ...], ...]
    enough: int
    reference: str | None
    region: float
    unit: str
    agreement: float | None
    agreement_interval: Interval | None
    agreement_on: int
    left_out: tuple[str, ...]  # datasets without a complete cell for every learner
    over: str


def ranking(report: Report, against: str | None = None, region: float = 1.0) -> Ranking:
    """The learners over the datasets on which every learner's cell is complete. Posteriors compare
    with `against`, or with the learner of the best average rank.
    """
    if not (math.isfinite(region) and region >= 0):
        raise UsageError(f"--rope must be a number of at least 0, not {region}")
    complete = [
        name
        for name in report.datasets
        if all(report.cells[name, learner].complete for learner in report.learners)
    ]
    scores = [_scores(report, name) for name in complete]
    return _ranking(report, complete, scores, f"{len(scores)} datasets", against, region)


def mean_ranks(report: Report, datasets: Sequence[str]) -> list[float]:
    """The average rank of each learner over datasets on which every learner's cell is complete;
    equal means share the mean of their ranks."""
    return average_ranks([_scores(report, name) for name in datasets])


def ranking_on(report: Report, dataset: str, region: float = 1.0) -> Ranking:
    """The learners over the permutations of one dataset. Its ranks say how sure their order is on
    these rows, and nothing about other data."""
    cells = [report.cells[dataset, learner] for learner in report.learners]
    common = set.intersection(*(set(cell.by_repetition) for cell in cells))
    sign = 1.0 if report.lower_is_better else -1.0
    scores = [[sign * cell.by_repetition[r] for cell in cells] for r in sorted(common)]
    over = f"{len(scores)} permutations of {dataset}"
    return _ranking(report, [dataset], scores, over, None, region)


def _ranking(
    report: Report,
    complete: Sequence[str],
    scores: Scores,
    over: str,
    against: str | None,
    region: float,
) -> Ranking:
    ranks = average_ranks(scores) if scores else []
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    learners = [report.learners[i] for i in order]
    scores = [[row[i] for i in order] for row in scores]
    ranks = [ranks[i] for i in order]
    critical = critical_difference(len(report.learners), len(scores))
    tests = _wilcoxon(learners, scores)
    enough_rows = len(scores) >= FEWEST_DATASETS
    reference = (against or learners[0]) if enough_rows and learners else None
    taus = [tau for name in report.datasets if (tau := _agreement(report, name)) is not None]
    places = {learner: place for place, learner in enumerate(learners)}
    separate = {(places[one.learner], places[one.other]) for one in tests if one.p < SIGNIFICANT}
    return Ranking(
        datasets=tuple(complete),
        ranks=_ranked(learners, ranks, scores, reference, region),
        critical=critical,
        nemenyi=() if critical is None else _groups(learners, far_apart(ranks, critical)),
        friedman=friedman(scores),
        iman_davenport=iman_davenport(scores),
        wilcoxon=tests,
        wilcoxon_groups=_groups(learners, separate) if tests else (),
        enough=fewest_pairs(max(len(tests), 1), SIGNIFICANT),
        reference=reference,
        region=region,
        unit="points" if METRICS[report.metric].unit else "%",
        agreement=fmean(taus) if taus else None,
        agreement_interval=mean_interval(taus),
        agreement_on=len(taus),
        left_out=tuple(name for name in report.datasets if name not in complete),
        over=over,
    )


def _scores(report: Report, dataset: str) -> list[float]:
    """The means of a dataset on a scale that datasets share, lower the better: percentages as they
    are; other values as 100 times their logarithm, so that differences are relative, in percent.
    """
    sign = 1.0 if report.lower_is_better else -1.0
    means = [report.cells[dataset, learner].mean or 0.0 for learner in report.learners]
    if METRICS[report.metric].unit:
        return [sign * mean for mean in means]
    return [sign * 100 * math.log(max(mean, 1e-300)) for mean in means]


def _wilcoxon(learners: Sequence[str], scores: Scores) -> tuple[OverDatasets, ...]:
    """Every pair of learners over datasets, corrected by Holm (Benavoli et al. 2016)."""
    if len(scores) < 2:
        return ()
    pairs = list(combinations(range(len(learners)), 2))
    found = holm([signed_rank([row[i] - row[j] for row in scores]) for i, j in pairs])
    return tuple(
        OverDatasets(learners[i], learners[j], p) for (i, j), p in zip(pairs, found, strict=True)
    )


def _ranked(
    learners: Sequence[str],
    ranks: Sequence[float],
    scores: Scores,
    reference: str | None,
    region: float,
) -> tuple[Ranked, ...]:
    intervals: Sequence[Interval | None] = rank_intervals(scores) or [None] * len(learners)
    base = None if reference is None else learners.index(reference)
    posteriors = [
        None
        if base is None or i == base
        else bayesian_signed_rank([row[i] - row[base] for row in scores], region)
        for i in range(len(learners))
    ]
    return tuple(map(Ranked, learners, ranks, intervals, posteriors))


def _groups(
    learners: Sequence[str], different: set[tuple[int, int]]
) -> tuple[tuple[str, ...], ...]:
    groups = tied_groups(len(learners), different)
    return tuple(tuple(learners[i] for i in group) for group in groups)


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
