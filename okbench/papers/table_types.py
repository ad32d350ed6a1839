"""A page of a paper as data: what a table ran, with which settings, and what it printed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from okbench.papers.provenance import Source
from okbench.papers.values import Value
from okbench.protocols.metrics import METRICS

# file: as the rows come, which is one order; block-shuffled: for rows beyond the memory
Orders = Literal["seeded", "published", "file", "block-shuffled"]
Kind = Literal["table", "curves", "sweep", "complexity", "contours"]
Quantity = Literal["metric", "seconds"]
Lines = Literal["learners", "datasets"]
Bound = Literal["lemma-1"]
Equal = Literal["largest", "smallest"]  # of values that come to the same
Clocked = Literal["all", "training", "search + training", "without map"]
Unit = Literal["seconds", "minutes", "hours"]


@dataclass(frozen=True)
class Setting:
    """One setting of a learner, where it comes from, and where it is written down.

    `provenance` describes the sources.
    """

    value: Value
    source: Source = "printed"
    reason: str = ""
    where: str = ""  # file:line
    shared: bool = False  # given for the table or a dataset: for the learners that take it
    referred: bool = False  # another setting of the cell is computed from it
    expression: str = ""  # the arithmetic that gave the value, if any did


@dataclass(frozen=True)
class Sweep:
    """Values to try of one setting, or of a name that settings are computed from (`rho_f`)."""

    name: str
    values: tuple[int | float, ...]
    source: Source = "printed"
    reason: str = ""
    where: str = ""


@dataclass(frozen=True)
class Point:
    """A column's place in a sweep. `line` is the label the learner has apart from it."""

    line: str
    name: str
    value: int | float


@dataclass(frozen=True)
class LearnerColumn:
    """A learner under the name a table gives it. `learner` is a registry name or `module:Class`.

    `tolerance` is how far its kernel may be from the exact one, where a table measures that. `runs`
    is its own number of trials, where it is not the protocol's. `added` says that the column was
    put beside those of a table by `--with`, `--set` or `extends`.
    """

    label: str
    learner: str
    where: str = ""
    point: Point | None = None
    tolerance: float = 0.0
    runs: int | None = None
    added: bool = False

    @property
    def line(self) -> str:
        """The learner's label, whatever the value of a swept setting."""
        return self.point.line if self.point else self.label


@dataclass(frozen=True)
class RowsFile:
    """A file of a user's own rows, and how it is read; `user_rows` describes the choices. An empty
    `scale` is chosen by the rows."""

    path: Path
    target: str | None = None
    task: str | None = None
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: str = "refuse"
    scale: str = ""
    hash: int = 0  # columns to which all are hashed, 0 for none


@dataclass(frozen=True)
class DatasetRow:
    """A dataset of a table. `variant` picks one of the sizes or preparations an entry offers.

    `rows` is the size the paper gives. `orders` is given when it differs from the protocol's.
    `fingerprint` is that of rows in hand, which alone count then. `file` is given for a user's own
    rows, and `chance` is then the metric of always giving the same answer.
    """

    name: str
    variant: str = ""
    where: str = ""
    rows: int | None = None
    orders: Orders | None = None
    fingerprint: str = ""
    file: RowsFile | None = None
    chance: float | None = None


@dataclass(frozen=True)
class Protocol:
    """How a trial is run and scored, by the names of a protocol and a metric of
    `okbench.protocols`. `printed_runs` is the number of trials behind a printed cell, 0 where it is
    `runs`. `time_limit` is in seconds inside the learner, for one trial; a cell whose search and
    training take more than `na_after` seconds is shown as NA."""

    kind: str
    metric: str
    runs: int
    orders: Orders = "seeded"
    block: int = 0  # rows predicted, then learned, at a time, where the protocol asks for it
    time_limit: float = math.inf
    na_after: float = math.inf
    printed_runs: int = 0


@dataclass(frozen=True)
class PrintedCell:
    """What a paper prints for one dataset and learner, as numbers and as printed.

    `filler` says why what is printed as a deviation is none; `std` is None then, and the mean is
    taken for that of a single permutation.
    """

    dataset: str
    learner: str
    mean: float | None
    std: float | None = None
    seconds: float | None = None
    text: str = ""
    seconds_text: str = ""
    note: str = ""
    filler: str = ""


@dataclass(frozen=True)
class Figure:
    """What a figure draws: each quantity in panels of its own, with a line per learner or dataset.

    `bound` is one that the paper proves of the metric, drawn beside every line.
    """

    quantities: tuple[Quantity, ...]
    lines: Lines = "learners"
    bound: Bound | None = None


@dataclass(frozen=True)
class Range:
    """Values to search one setting through, for every learner that takes it but those `spared`, or
    for the learners named in `only`. One that is not `searched` is for `--vary` alone, to show what
    other values of a setting would give, also of one that the paper prints.

    A value may be a list, or computed from other settings of a cell: `0.25 / rows`.
    """

    name: str
    values: tuple[Value, ...]
    source: Source = "printed"
    reason: str = ""
    where: str = ""
    spared: tuple[str, ...] = ()  # learners by their own names, not a table's
    only: tuple[str, ...] = ()  # likewise
    searched: bool = True

    def holds_for(self, learner: str) -> bool:
        """Whether it is a range for this learner, by its own name in any case."""
        spared, only = ({name.casefold() for name in names} for names in (self.spared, self.only))
        return learner.casefold() not in spared and (not only or learner.casefold() in only)


@dataclass(frozen=True)
class Shares:
    """The share of a dataset's rows that is searched on: its own, or else the usual one."""

    usual: float
    of_datasets: Mapping[str, float] = field(default_factory=dict)

    def of(self, dataset: str) -> float:
        return self.of_datasets.get(dataset, self.usual)


@dataclass(frozen=True)
class Search:
    """How a paper chose settings: from ranges, by what comes of them on a part of the rows.

    Every combination of a cell's ranges is tried if there are at most `together`; else one setting
    is searched after the other. `subset` is a share of the rows, `subsets` that of the datasets
    where it is another; no fewer than `at_least` are taken where there are as many. `runs` is how
    often each value is tried. `shares_of` and `runs_of` are those of the learners (by their own
    names) where they are others. With `folds`, the rows are training rows, and each value is tried
    on every fold, `runs` times, by what a learner of the other folds scores on it. `ties` says
    which of equally good values is chosen.
    """

    ranges: tuple[Range, ...]
    subset: float
    at_least: int
    runs: int
    subsets: Mapping[str, float] = field(default_factory=dict)
    together: float = math.inf
    reasons: Mapping[str, str] = field(default_factory=dict)  # why what the paper does not give
    folds: int = 0
    shares_of: Mapping[str, Shares] = field(default_factory=dict)
    runs_of: Mapping[str, int] = field(default_factory=dict)
    ties: Equal = "largest"


@dataclass(frozen=True)
class Searched:
    """What a search of a cell took, from the file of its settings.

    `seconds` is the time inside the learner of all its trials. Where the search was given up, since
    it would have taken longer than the table allows, `seconds` is the estimate of the whole, and
    `given_up` says what it was made from. `cut` says in which way the search was smaller than the
    one that the table asks for, so that its seconds stand for no search of the paper.
    """

    seconds: float
    given_up: str = ""
    cut: str = ""


@dataclass(frozen=True)
class Shown:
    """What a report shows of a table's cells besides the metric.

    `seconds` says which: `all` inside the learner, those of `training` alone, the total of
    `search + training`, or all `without map`, which leaves out those of feature maps. `unit` is
    that of the printed times. With `stars`, the best learner of a dataset has a star if it differs
    from the runner-up, which is underlined, at this p value.
    `classes` adds the balanced accuracy, and the score of always answering the most frequent class.
    With a `margin`, the report says how many rows after a change of the concept the error is within
    this factor of the best learner's.
    """

    seconds: Clocked = "all"
    unit: Unit = "seconds"
    stars: float = 0.0
    classes: bool = False
    margin: float = 0.0


@dataclass(frozen=True)
class StatedComplexity:
    """The orders a paper states of a learner, in powers of named settings.

    `texts` are as printed (`O(kB)`); `time` and `space` say the same by setting: {rank: 1, …}.
    """

    strategy: str
    texts: tuple[str, str]
    time: Mapping[str, int]
    space: Mapping[str, int]


@dataclass(frozen=True)
class Table:
    """One table or figure that okbench can run. A sweep makes a column of every value.

    `random` are the learners that use random numbers of their own, None where the file does not
    state it. `alternatives` are other settings of some of its cells, by name. `searched` is what
    the searches took whose settings it has.
    """

    name: str  # lsokl/table5
    title: str
    paper: str
    protocol: Protocol
    datasets: tuple[DatasetRow, ...]
    learners: tuple[LearnerColumn, ...]
    settings: Mapping[tuple[str, str], Mapping[str, Setting]]  # by (dataset, learner label)
    printed: Mapping[tuple[str, str], PrintedCell] = field(default_factory=dict)
    left_out: frozenset[tuple[str, str]] = frozenset()  # cells the paper does not run
    where: str = ""
    kind: Kind = "table"
    of: str = ""  # the table whose trials a figure draws, when it has none of its own
    figure: Figure | None = None
    search: Search | None = None
    stated: Mapping[str, StatedComplexity] = field(default_factory=dict)  # by learner label
    random: frozenset[str] | None = None
    alternatives: Mapping[str, Mapping[tuple[str, str], Mapping[str, Setting]]] = field(
        default_factory=dict
    )
    shown: Shown = field(default_factory=Shown)
    searched: Mapping[tuple[str, str], Searched] = field(default_factory=dict)

    @property
    def trials_of(self) -> str:
        """The table under whose name the outcomes are stored."""
        return self.of or self.name

    @property
    def lower_is_better(self) -> bool:
        return METRICS[self.protocol.metric].lower_is_better

    def runs_of(self, learner: str) -> int:
        """The number of trials of a cell, by the learner's label."""
        own = next((column.runs for column in self.learners if column.label == learner), None)
        return self.protocol.runs if own is None else own

    def printed_runs_of(self, learner: str) -> int:
        """The paper's number of trials of a cell, by the learner's label."""
        return self.protocol.printed_runs or self.runs_of(learner)

    def is_run_once(self, learner: str) -> bool:
        """Whether a learner is run once because all its trials would have the same value. The table
        must say which learners use random numbers."""
        has_none = self.random is not None and learner not in self.random
        return has_none and self.runs_of(learner) == 1 < self.protocol.runs

    def orders_of(self, row: DatasetRow) -> Orders:
        """Where the permutations of a dataset come from."""
        return row.orders or self.protocol.orders

    @property
    def order_note(self) -> str:
        """What a reader must know of rows that are not met in permutations; empty if all are."""
        names = [row.name for row in self.datasets if self.orders_of(row) == "block-shuffled"]
        words = "Block-shuffled orders, another kind than permutations of all rows"
        return f"{words}: {', '.join(names)}." if names else ""

    def in_orders(self, orders: Orders) -> Table:
        """The table with all its rows met in orders of another kind."""
        rows = tuple(replace(row, orders=None) for row in self.datasets)
        return replace(self, protocol=replace(self.protocol, orders=orders), datasets=rows)


@dataclass(frozen=True)
class Card:
    """What a listing shows of a table."""

    name: str
    short: str  # a second name that means this table alone, or nothing
    title: str
    datasets: tuple[str, ...]
    learners: tuple[str, ...]
