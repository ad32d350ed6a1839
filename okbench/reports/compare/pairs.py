"""The learners of a table compared in pairs, on each dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Literal

from okbench.base.errors import UsageError, did_you_mean
from okbench.reports.statistics import (
    FEWEST_PAIRS,
    Paired,
    far_out,
    fewest_pairs,
    holm,
    paired,
)
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report

SIGNIFICANT = 0.05
Finding = Literal["better", "worse", "cannot decide"]
UNDECIDED: Finding = "cannot decide"
TOO_FEW = "too few permutations"


@dataclass(frozen=True)
class Comparison:
    """A learner compared with a reference on one dataset.

    The differences are learner − reference on the permutations that both have. `t_test` and
    `wilcoxon` are p values, corrected for the whole family (Holm); both must be significant for the
    learner to be `found` better or worse. `reason` says why nothing could be tested.
    """

    dataset: str
    learner: str
    reference: str
    differences: Paired | None
    t_test: float | None
    wilcoxon: float | None
    found: Finding
    reason: str = ""

    @property
    def turned(self) -> Comparison:
        """The same comparison with learner and reference exchanged."""
        opposite: dict[str, Finding] = {"better": "worse", "worse": "better"}
        return replace(
            self,
            learner=self.reference,
            reference=self.learner,
            differences=self.differences and self.differences.turned,
            found=opposite.get(self.found, self.found),
        )


@dataclass(frozen=True)
class HeavyTail:
    """A cell in which a trial lies so far outside that the median says more than the mean."""

    dataset: str
    learner: str
    n: int
    mean: float
    median: float


@dataclass(frozen=True)
class Comparisons:
    """The comparisons on all datasets. They are one `family`: so many p values are corrected
    together. Without a named reference (`against`) these are all pairs of learners, which makes it
    sound to pick out the best learner of each dataset (`best`) afterwards.

    With fewer than `enough` pairs of trials, no p value can be significant unless others are;
    `too_few` counts the undecided comparisons with fewer.
    """

    table: str
    metric: str
    against: str | None
    family: int
    enough: int
    too_few: int
    pairs: tuple[Comparison, ...]
    best: dict[str, str]
    tails: tuple[HeavyTail, ...]

    def with_reference(self, dataset: str) -> list[Comparison]:
        """The comparisons of a dataset with the named reference, or else with the best learner."""
        reference = self.against or self.best.get(dataset)
        here = [pair for pair in self.pairs if pair.dataset == dataset]
        return [
            pair if pair.reference == reference else pair.turned
            for pair in here
            if reference in (pair.reference, pair.learner)
        ]


def comparisons(report: Report, against: str | None = None) -> Comparisons:
    """Every learner compared with `against`, or with every other one."""
    if against is not None and against not in report.learners:
        hint = did_you_mean(against, report.learners)
        raise UsageError(f"{report.table} has no learner '{against}'.{hint}")
    cells = [pair for name in report.datasets for pair in _pairs(report, name, against)]
    found = [paired(one.by_repetition, other.by_repetition) for one, other in cells]
    tested = [i for i, pair in enumerate(cells) if all(cell.complete for cell in pair)]
    known = [found[i] for i in tested]  # too few permutations count as p = 1
    t_tests = holm([1.0 if each is None else each.t_test for each in known])
    wilcoxons = holm([1.0 if each is None else each.wilcoxon for each in known])
    corrected = dict(zip(tested, zip(t_tests, wilcoxons, strict=True), strict=True))
    pairs = tuple(
        _comparison(*cells[i], differences, corrected.get(i)) for i, differences in enumerate(found)
    )
    enough = fewest_pairs(max(len(tested), 1), SIGNIFICANT)
    short = [i for i in tested if pairs[i].found == UNDECIDED and _shared(*cells[i]) < enough]
    best: dict[str, str] = {}
    for (name, learner), place in report.best.items():
        if place == 1:
            best.setdefault(name, learner)  # the first of those that tie
    tails = tuple(_heavy_tails(report))
    return Comparisons(
        report.table, report.metric, against, len(tested), enough, len(short), pairs, best, tails
    )


def _pairs(report: Report, dataset: str, against: str | None) -> Iterator[tuple[Cell, Cell]]:
    """The cells of a dataset to compare; the second one is the reference."""
    row = [report.cells[dataset, learner] for learner in report.learners]
    measured = [cell for cell in row if cell.values or cell.statuses]
    if against is None:
        yield from combinations(measured, 2)
    else:
        reference = report.cells[dataset, against]
        yield from ((cell, reference) for cell in measured if cell is not reference)


def _shared(one: Cell, other: Cell) -> int:
    """How many permutations both cells have."""
    return len(one.by_repetition.keys() & other.by_repetition.keys())


def _comparison(
    cell: Cell, reference: Cell, differences: Paired | None, tests: tuple[float, float] | None
) -> Comparison:
    names = cell.dataset, cell.learner, reference.learner
    if tests is None:
        short = cell if not cell.complete else reference
        reason = f"trials of {short.learner} are missing ({short.shortfall})"
        return Comparison(*names, differences, None, None, UNDECIDED, reason)
    if differences is None:
        return Comparison(*names, None, None, None, UNDECIDED, TOO_FEW)
    if max(tests) >= SIGNIFICANT:
        return Comparison(*names, differences, *tests, UNDECIDED)
    better = (differences.mean < 0) == cell.lower_is_better
    return Comparison(*names, differences, *tests, "better" if better else "worse")


def _heavy_tails(report: Report) -> Iterator[HeavyTail]:
    for cell in report.cells.values():
        if cell.mean is not None and cell.n >= FEWEST_PAIRS and far_out(cell.values):
            yield HeavyTail(cell.dataset, cell.learner, cell.n, cell.mean, median(cell.values))
