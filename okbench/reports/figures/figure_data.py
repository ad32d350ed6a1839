"""A figure as numbers: panels of lines of points, computed from stored outcomes alone.

A sweep has a point for each value, a convergence curve one for each place at which trials wrote
down where they stood; there, a trial counts as if it had ended at that row. Contours have their
surfaces, and the line through the point whose kernel they show.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean, stdev

from okbench.papers.provenance import OPEN
from okbench.papers.table_types import Bound, Figure, LearnerColumn, Quantity, Table
from okbench.protocols.metrics import METRICS
from okbench.reports.figures.surfaces import Surface, surfaces
from okbench.reports.load import LoadedTable
from okbench.reports.machines import of_one_machine
from okbench.reports.tables.cells import Expected, cells
from okbench.trials.trial_types import Outcome

ROWS = "rows seen"
ALONG = "first of the two columns"  # of the line through the point of a surface
Corners = tuple[tuple[float, float], ...]  # of a line: (x, y)
_BOUND_NAMES: dict[Bound, str] = {"lemma-1": "bound of Lemma 1"}
_BOUND_WORDS: dict[Bound, str] = {
    "lemma-1": "Lemma 1 bounds the expected share by 2 exp(−D ε² / 2)"
}
_CHANGES = "Upright: where the concept changes; grey: while a gradual change lasts."
_ALL = 100.0  # no probability is higher
_WIDE = 100.0  # a sweep whose largest value is this many times its least is drawn in logarithms


@dataclass(frozen=True)
class Mark:
    """A quantity at one place: the mean over n trials of the N expected, and their deviation.

    `bound` is what the paper proves of it there, where the figure draws that.
    """

    dataset: str
    learner: str
    x_name: str
    x: float
    quantity: Quantity
    mean: float
    std: float | None  # normalised by n - 1
    n: int
    expected: int
    bound: float | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes; `lines` are its marks by label, in the order of the table.

    `bounds` are corners of what is proved of a line, by its label. Bounds are exponential: a panel
    that has any is drawn in logarithms, where a mark of 0 has no place. `changes` are the rows at
    which the concept of the panel's stream changes: the first of a change, and the first after it.
    """

    title: str
    x_name: str
    y_name: str
    quantity: Quantity
    lines: Mapping[str, tuple[Mark, ...]]
    bounds: Mapping[str, Corners] = field(default_factory=dict)
    changes: Corners = ()

    @property
    def is_wide(self) -> bool:
        """Whether the values of a sweep are so far apart that their axis is logarithmic."""
        places = [mark.x for line in self.lines.values() for mark in line]
        return self.x_name != ROWS and 0 < min(places) <= max(places) / _WIDE

    @property
    def is_high(self) -> bool:
        """Whether the errors of a stream that changes are so far apart that their axis is
        logarithmic: after a change they are a multiple of what they come back to."""
        means = [mark.mean for line in self.lines.values() for mark in line]
        return bool(self.changes) and 0 < min(means) <= max(means) / _WIDE


@dataclass(frozen=True)
class Picture:
    """A figure as measured. `labels` are those of all lines that any panel may have; `absent`
    datasets have nothing measured, and `notes` say what a reader must know. `bound` is the name of
    what is proved of the lines, where that is drawn.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    panels: tuple[Panel, ...]
    absent: tuple[str, ...]
    notes: tuple[str, ...]
    bound: str = ""
    surfaces: tuple[Surface, ...] = ()

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(
            mark for panel in self.panels for line in panel.lines.values() for mark in line
        )


def convergence(table: Table) -> Table:
    """The figure that draws the metric of a table's trials against the rows they had seen."""
    return replace(table, kind="curves", of=table.trials_of, figure=Figure(("metric",)))


def picture_of(loaded: LoadedTable, converging: bool = False) -> Picture:
    """The figure from what was measured of its trials, or how the learners of a table converge."""
    table = convergence(loaded.table) if converging else loaded.table
    found = picture(table, loaded.outcomes, loaded.asked, loaded.datasets, loaded.machines)
    return replace(found, notes=(*found.notes, *loaded.outdated))


def picture(
    table: Table,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
    datasets: Sequence[str],
    machines: Sequence[str] = (),
) -> Picture:
    """The figure over these datasets, those without an outcome left out and named."""
    if table.figure is None:
        raise ValueError(f"{table.name} is no figure")
    marks = [mark for mark in _marks(table, outcomes, expected) if mark.dataset in datasets]
    here = {mark.dataset for mark in marks}
    chosen = {label for _, label in expected}
    lines = dict.fromkeys(column.line for column in table.learners if column.label in chosen)
    by_learner = table.figure.lines == "learners"
    labels = tuple(lines) if by_learner else tuple(datasets)
    pages = [name for name in datasets if name in here] if by_learner else list(lines)
    clocked = [outcomes[id_] for ids in expected.values() for id_ in ids if id_ in outcomes]
    absent = tuple(name for name in datasets if name not in here)
    drawn = {(mark.dataset, mark.learner) for mark in marks}
    asked = dict.fromkeys(
        (column.line, name)
        for name, label in expected
        for column in table.learners
        if column.label == label and name in here
    )
    gaps = [f"{line} on {name}" for line, name in asked if (name, line) not in drawn]
    return Picture(
        table.name,
        table.title,
        labels,
        (panels := tuple(_panels(table, marks, pages, labels, _changes(table, clocked)))),
        absent,
        (
            *_notes(table, marks, absent, gaps, machines, all(o.timed for o in clocked)),
            *((_CHANGES,) if any(panel.changes for panel in panels) else ()),
        ),
        _BOUND_NAMES[table.figure.bound] if table.figure.bound else "",
        tuple(one for one in _surfaces(table, outcomes, expected) if one.dataset in here),
    )


def metric_name(table: Table) -> str:
    """The metric in words, for an axis."""
    return METRICS[table.protocol.metric].heading


def _marks(table: Table, outcomes: Mapping[str, Outcome], expected: Expected) -> Iterator[Mark]:
    if table.kind == "contours":
        for one in _surfaces(table, outcomes, expected):
            for x, value in zip(one.x, one.through_the_point, strict=True):
                yield Mark(one.dataset, one.learner, ALONG, x, "metric", value, None, 1, 1)
        return
    if table.kind != "curves":
        yield from _marks_at(table, outcomes, expected, None)
        return
    done = {id_: outcome for id_, outcome in outcomes.items() if outcome.status == "done"}
    longest = max((len(outcome.curve) for outcome in done.values()), default=0)
    for place in range(longest):
        cut = {
            id_: _cut(outcome, place) for id_, outcome in done.items() if place < len(outcome.curve)
        }
        yield from _marks_at(table, cut, expected, place)


def _surfaces(
    table: Table, outcomes: Mapping[str, Outcome], expected: Expected
) -> tuple[Surface, ...]:
    return tuple(surfaces(table, outcomes, expected)) if table.kind == "contours" else ()


def _cut(outcome: Outcome, place: int) -> Outcome:
    """The outcome of a trial that ended at a point of its curve."""
    rows, total, _, seconds = outcome.curve[place]
    return replace(outcome, rows=int(rows or 0), total=total, seconds=seconds)


def _marks_at(
    table: Table, outcomes: Mapping[str, Outcome], expected: Expected, place: int | None
) -> Iterator[Mark]:
    """The marks of every cell at one place of its curve, or at the value its column stands for."""
    columns = {column.label: column for column in table.learners}
    for cell in cells(table, outcomes, expected):
        found = [outcomes[id_] for id_ in expected.get((cell.dataset, cell.learner), ())
                 if id_ in outcomes and outcomes[id_].status == "done"]  # fmt: skip
        if not found:
            continue
        column = columns[cell.learner]
        alone = of_one_machine([outcome for outcome in found if outcome.timed] or found)
        seconds = tuple(outcome.seconds for outcome in alone if outcome.seconds is not None)
        measured: Mapping[Quantity, Sequence[float]] = {"metric": cell.values, "seconds": seconds}
        places = _swept(table, column) if place is None else [(ROWS, float(found[0].rows))]
        for (x_name, x), (quantity, values) in product(places, measured.items()):
            if values:
                mean, std = fmean(values), stdev(values) if len(values) > 1 else None
                bounded = quantity == "metric" and table.figure and table.figure.bound
                bound = lemma_1(x, column.tolerance) if bounded else None
                yield Mark(cell.dataset, column.line, x_name, x, quantity, mean, std,
                           len(values), cell.expected, bound)  # fmt: skip


def _swept(table: Table, column: LearnerColumn) -> list[tuple[str, float]]:
    """Where a column stands on the axis of a sweep; one that is not swept is a level line, at every
    place of the columns that are."""
    every = [each.point for each in table.learners if each.point]
    points = [column.point] if column.point else every
    if len({point.name for point in points}) > 1:
        return []  # there is no single axis for a level
    return list(dict.fromkeys((point.name, float(point.value)) for point in points))


def _changes(table: Table, outcomes: Iterable[Outcome]) -> dict[str, Corners]:
    """The known changes of every dataset with curves."""
    if table.kind != "curves":
        return {}
    return {
        outcome.trial.dataset: tuple((begin, end) for begin, end in outcome.extra["changes"])
        for outcome in outcomes
        if outcome.extra.get("changes")
    }


def _panels(
    table: Table,
    marks: Sequence[Mark],
    pages: Sequence[str],
    labels: Sequence[str],
    changes: Mapping[str, Corners],
) -> Iterator[Panel]:
    """The panels page by page, a page being a dataset or a learner."""
    assert table.figure
    by_learner = table.figure.lines == "learners"
    for page in pages:
        for quantity in table.figure.quantities:
            of_page = [
                mark
                for mark in marks
                if mark.quantity == quantity
                and page == (mark.dataset if by_learner else mark.learner)
            ]
            if not of_page:
                continue
            lines = {
                label: _line(
                    mark for mark in of_page
                    if label == (mark.learner if by_learner else mark.dataset)
                )
                for label in labels
            }  # fmt: skip
            y_name = metric_name(table) if quantity == "metric" else "seconds"
            found = {label: line for label, line in lines.items() if line}
            bounds = _bounds(table, found)
            yield Panel(
                page, of_page[0].x_name, y_name, quantity, found, bounds, changes.get(page, ())
            )


def _line(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    return tuple(sorted(marks, key=lambda mark: mark.x))


def _bounds(table: Table, lines: Mapping[str, tuple[Mark, ...]]) -> dict[str, Corners]:
    """What is proved of each line, little further down than anything was measured."""
    tolerances = {column.line: column.tolerance for column in table.learners}
    means = [mark.mean for line in lines.values() for mark in line if mark.mean > 0]
    floor = min(means, default=0.0) / 2
    return {
        label: lemma_1_line(tolerances[line[0].learner], line[0].x, line[-1].x, floor)
        for label, line in lines.items()
        if line[0].bound is not None
    }


def lemma_1(components: float, tolerance: float) -> float:
    """P(|k̃ − k| ≥ ε) ≤ 2 exp(−D ε² / 2), in percent (Nguyen et al. 2017, Lemma 1)."""
    return min(_ALL, 2.0 * _ALL * math.exp(-components * tolerance**2 / 2.0))


def lemma_1_line(
    tolerance: float, first: float, last: float, floor: float
) -> tuple[tuple[float, float], ...]:
    """The bound from `first` to `last` components, as the corners of a line that is straight
    between them where percent are logarithmic; it ends where it comes down to the floor.
    """
    corner, end = (_reaches(percent, tolerance) for percent in (_ALL, floor))
    last = max(first, min(last, end))
    places = [first, *([corner] if first < corner < last else []), last]
    return tuple((at, lemma_1(at, tolerance)) for at in places)


def _reaches(percent: float, tolerance: float) -> float:
    """The components at which the bound has come down to so many percent."""
    if percent <= 0.0:
        return math.inf
    return 2.0 * math.log(2.0 * _ALL / percent) / tolerance**2


def _notes(
    table: Table,
    marks: Sequence[Mark],
    absent: Sequence[str],
    gaps: Sequence[str],
    machines: Sequence[str],
    timed: bool,
) -> Iterator[str]:
    """Sentences for the caption; `gaps` are lines without a mark, `timed` says that every trial was
    measured alone."""
    assert table.figure
    orders = sorted({mark.expected for mark in marks})
    if table.kind == "contours":
        yield "The kernel of the median point with the points around it, over the last two columns."
        yield "Contours are at 0.1, 0.2, …, 0.9; lines are along the first of the two columns."
    else:
        yield f"Means over {_range(orders)} permutations; shaded: standard deviation (n − 1)."
    if table.order_note:
        yield table.order_note
    levels = [column.label for column in table.learners if not column.point]
    if table.kind == "sweep" and levels:
        yield f"Not swept, the same at every place: {', '.join(levels)}."
    if table.figure.bound:
        yield f"{_BOUND_WORDS[table.figure.bound]}, thin and dashed."
        if any(mark.bound is not None and mark.mean == 0 for mark in marks):
            yield "Where 0 % were measured nothing is drawn: the axis is logarithmic."
    short = sorted({mark.n for mark in marks if mark.n < mark.expected})
    if short:
        yield f"Some points are of fewer trials ({_range(short)})."
    inferred = {
        column.point.name: setting.reason
        for (_, label), settings in table.settings.items()
        for column in table.learners
        if column.label == label and column.point
        if (setting := settings.get(column.point.name)) and setting.source in OPEN
    }
    for name, reason in inferred.items():
        yield f"Values of {name}: inferred ({reason})."
    if absent:
        yield f"Left out, not measured here: {', '.join(absent)}."
    if gaps:
        yield f"No line, not measured here: {', '.join(gaps)}."
    if "seconds" in table.figure.quantities and marks:
        for machine in machines:
            yield f"Seconds inside the learner on {machine}."
        if not timed:
            yield "Trials may have run side by side; okbench run --timing measures each alone."


def _range(counts: Sequence[int]) -> str:
    if not counts:
        return "no"
    least, most = counts[0], counts[-1]
    return f"{most}" if least == most else f"{least} to {most}"
