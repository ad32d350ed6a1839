"""Where learners stand: one light record per measured cell, kept while a site is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.compare.rank_tests import average_ranks
from okbench.reports.site.cell_links import data_of, learner_of
from okbench.reports.site.places import Place
from okbench.reports.site.table_views import TableView
from okbench.reports.tables.cells import CellKey
from okbench.reports.tables.report import Report
from okbench.reports.tables.verdicts import Result


@dataclass(frozen=True)
class Standing:
    """A cell as other pages show it. `rank` is its rank among the complete cells of its dataset, of
    which there are `of`, and `is_best` says that none of them is better; an incomplete cell has no
    rank. `trials` is the place of its trials.
    """

    table: str
    dataset: str
    data: str  # the dataset as its entry is named
    label: str
    learner: str
    metric: str
    mean: float
    words: str
    rank: float | None
    is_best: bool
    of: int
    printed: str
    outcome: Result
    rests_on: str
    seconds: float | None
    bytes: float | None
    shortfall: str
    trials: Place | None


def standings(view: TableView, trials: Mapping[CellKey, Place]) -> Iterator[Standing]:
    """The measured cells of a table."""
    report = view.report
    if report is None:
        return
    for dataset in report.datasets:
        ranks = _ranks(report, dataset)
        for label in report.learners:
            cell = report.cells[dataset, label]
            if cell.mean is None or cell.na:
                continue
            verdict = report.verdicts[dataset, label]
            yield Standing(
                table=view.table.name,
                dataset=dataset,
                data=data_of(dataset),
                label=label,
                learner=learner_of(view.table, label),
                metric=METRICS[cell.metric].heading,
                mean=cell.mean,
                words=numbers.of_cell(cell, cell.mean),
                rank=ranks.get(label),
                is_best=label in ranks and ranks[label] == min(ranks.values()),
                of=len(ranks),
                printed=cell.printed.text if cell.printed else "",
                outcome=verdict.outcome,
                rests_on=verdict.rests_on if cell.printed and verdict.measured else "",
                seconds=cell.time,
                bytes=cell.bytes,
                shortfall=cell.shortfall,
                trials=trials.get((dataset, label)),
            )


def _ranks(report: Report, dataset: str) -> dict[str, float]:
    """The rank of every learner whose cell is complete."""
    sign = 1.0 if report.lower_is_better else -1.0
    scores = {
        label: sign * cell.mean
        for label in report.learners
        if (cell := report.cells[dataset, label]).complete and cell.mean is not None
    }
    ranks = average_ranks([list(scores.values())]) if scores else []
    return dict(zip(scores, ranks, strict=True))
