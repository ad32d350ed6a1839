"""A table as the papers set it: learners down, and of every dataset the metric beside the time."""

from __future__ import annotations

import re

from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.tables.layout import ARROWS, Row, Sheet, SheetText, balanced, ours
from okbench.reports.tables.notes import BALANCED, metric_notes, time_notes
from okbench.reports.tables.report import Report
from okbench.reports.tables.times import TIME_WORDS, Unit, fastest, time_words, unit_of


def paper_sheet(report: Report, like_paper: bool = False) -> Sheet:
    """The metric and the time of every dataset side by side. `like_paper` gives our numbers the
    digits the paper's have."""
    spell = numbers.like_paper if like_paper else numbers.of_cell
    units = {name: unit_of(report, name) for name in report.datasets}
    places = fastest(report)
    rows: list[Row] = []
    for learner in report.learners:
        row = [SheetText(learner)]
        for name in report.datasets:
            cell = report.cells[name, learner]
            score = ours(report, cell, spell)
            row.append(score)
            row += [SheetText(balanced(cell))] if report.shown.classes else []
            time = time_words(cell, units[name])
            # what is missing stands beside the metric already
            time = "" if time == score.text else time
            row.append(SheetText(time, places.get((name, learner), 0)))
        rows.append(tuple(row))
    heads = [_heads(report, units[name]) for name in report.datasets]
    time = TIME_WORDS[report.shown.seconds]
    return Sheet(
        f"{report.table}: {report.title} ({METRICS[report.metric].heading}; {time})",
        ("learner", *(head for found in heads for head in found)),
        (tuple(rows),),
        (*metric_notes(report, bold=like_paper, compared=False), *time_notes(report)),
        words=1,
        over=tuple((name, len(found)) for name, found in zip(report.datasets, heads, strict=True)),
        caption=_caption(report),
        label=f"tab:{_slug(report.table)}",
    )


def _heads(report: Report, unit: Unit) -> tuple[str, ...]:
    """The heads of the columns of a dataset: units, and the direction that is better."""
    metric = METRICS[report.metric]
    arrow = ARROWS[report.lower_is_better]
    more = (BALANCED,) if report.shown.classes else ()
    return (f"{metric.unit or metric.words.split()[-1]} {arrow}", *more, f"{unit or 'time'} ↓")


def _caption(report: Report) -> str:
    """One paragraph that says what stands in the table and how it is marked."""
    metric, expected = METRICS[report.metric], [cell.expected for cell in report.cells.values()]
    trials = f"{max(expected)} permutations" if expected else "permutations"
    time = TIME_WORDS[report.shown.seconds]
    direction = "Lower" if report.lower_is_better else "Higher"
    sentences = [
        f"{report.title}: {metric.heading} (mean ± standard deviation over {trials}; "
        f"{direction.lower()} is better) and {time} per trial.",
        "The best of each dataset is bold, the runner-up italic.",
    ]
    if report.shown.stars:
        level = f"p < {report.shown.stars:g}"
        sentences.append(f"A star: the best differs from the runner-up (paired t test, {level}).")
    return " ".join(sentences)


def _slug(name: str) -> str:
    """A name as the label of LaTeX: letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "table"
