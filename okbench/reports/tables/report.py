"""A table's cells with what a reader must know to judge them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from okbench.papers.table_types import Shown, Table
from okbench.reports.tables.cells import Cell, CellKey, Expected, cells
from okbench.reports.tables.recovery import Recovery, recoveries
from okbench.reports.tables.stars import Star, stars
from okbench.reports.tables.used_settings import chance_warnings, settings_notes
from okbench.reports.tables.verdicts import Judgement, judge_all
from okbench.trials.store.match_outcomes import Versions
from okbench.trials.trial_types import Outcome

MACHINE_UNKNOWN = "not recorded"


@dataclass(frozen=True)
class Report:
    """A table as measured, with three numbers kept apart: what the paper prints (in each cell),
    what was `blessed` as our baseline, and what `cells` hold now.

    `machines` are those behind the seconds; `others` counts the stored outcomes of other settings,
    versions or seeds, which no cell counts; `disputed` the trials measured more than once with
    different scores, of which the later counts. `absent` are learners that are neither installed
    nor measured; no cell is theirs. `family` are the cells of the whole table, whose verdicts are
    one family of tests; `alternatives` are the cells measured with other settings, by name. `shown`
    is what the table asks its reports to show, `na_after` the seconds beyond which a cell is NA.
    `settings` and `warnings` are sentences about what a user added, `order_note` is one about rows
    that are not met in permutations; `recoveries` say what followed the changes of a stream, where
    the table asks for that.
    """

    table: str
    title: str
    metric: str
    lower_is_better: bool
    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    cells: Mapping[CellKey, Cell]
    machines: tuple[str, ...]
    others: int = 0
    blessed: Mapping[CellKey, Cell] = field(default_factory=dict)
    disputed: int = 0
    absent: tuple[str, ...] = ()
    family: Mapping[CellKey, Cell] = field(default_factory=dict)
    alternatives: Mapping[str, Mapping[CellKey, Cell]] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)
    na_after: float = math.inf
    settings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # stated, by learner
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # likewise
    warm_ups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # that lacked something
    recoveries: Mapping[CellKey, Recovery] = field(default_factory=dict)
    order_note: str = ""

    @cached_property
    def stars(self) -> Mapping[str, Star]:
        """The best of each dataset against the runner-up, where the table asks for stars."""
        return stars(self.cells, self.best, self.shown.stars) if self.shown.stars else {}

    @cached_property
    def verdicts(self) -> Mapping[CellKey, Judgement]:
        """How each cell stands to what the paper prints."""
        judged = judge_all({**self.family, **self.cells})
        return {key: judged[key] for key in self.cells}

    @cached_property
    def other_verdicts(self) -> Mapping[str, Mapping[CellKey, Judgement]]:
        """The same for the cells with other settings."""
        return {
            name: {key: found for key, found in judge_all(cells).items() if found.measured}
            for name, cells in self.alternatives.items()
        }

    @property
    def has_printed(self) -> bool:
        return any(cell.printed for cell in self.cells.values())

    @cached_property
    def best(self) -> Mapping[CellKey, int]:
        """The places by score of each dataset's complete cells: see `places`."""
        return self.places(lambda cell: cell.mean, self.lower_is_better)

    def places(
        self, value: Callable[[Cell], float | None], lower_is_better: bool
    ) -> dict[CellKey, int]:
        """1 for the best and 2 for the runner-up of each dataset's complete cells, every one of
        those that tie."""
        found: dict[CellKey, int] = {}
        for name in self.datasets:
            known = {
                key: number
                for learner in self.learners
                if (cell := self.cells[(key := (name, learner))]).complete
                if (number := value(cell)) is not None
            }
            ranked = sorted(set(known.values()), reverse=not lower_is_better)
            found |= {
                key: ranked.index(number) + 1
                for key, number in known.items()
                if number in ranked[:2]
            }
        return found


def report(
    table: Table,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
    machines: Mapping[str, str] | None = None,
    blessed: Mapping[CellKey, Cell] | None = None,
    disputed: int = 0,
    versions: Versions | None = None,
    absent: tuple[str, ...] = (),
    family: Mapping[CellKey, Cell] | None = None,
    alternatives: Mapping[str, Mapping[CellKey, Cell]] | None = None,
    also_counted: frozenset[str] = frozenset(),
    known_cells: Sequence[Cell] | None = None,
) -> Report:
    """The report of a table. `machines` gives the machine line of an environment's hash; `blessed`
    are the cells of its baseline, `versions` those of the installed learners, `absent` the labels
    of learners that the table has lost; `family` are the cells of the whole table, and
    `alternatives` those with other settings, made of the trials `also_counted`. `known_cells` are
    the cells of the table, if they were computed before.
    """
    known = machines or {}
    found = cells(table, outcomes, expected, versions) if known_cells is None else known_cells
    measured = {(cell.dataset, cell.learner): cell for cell in found}
    environments = {found for cell in measured.values() for found in cell.environments} or {
        outcomes[id_].environment for ids in expected.values() for id_ in ids if id_ in outcomes
    }
    counted = also_counted.union(*expected.values())
    return Report(
        table=table.name,
        title=table.title,
        metric=table.protocol.metric,
        lower_is_better=table.lower_is_better,
        datasets=tuple(row.name for row in table.datasets),
        learners=tuple(column.label for column in table.learners),
        cells=measured,
        machines=tuple(sorted({known.get(found, MACHINE_UNKNOWN) for found in environments})),
        others=sum(id_ not in counted for id_ in outcomes),
        blessed={key: cell for key, cell in (blessed or {}).items() if cell.values},
        disputed=disputed,
        absent=absent,
        family=family or {},
        alternatives=alternatives or {},
        shown=table.shown,
        na_after=table.protocol.na_after,
        devices=_stated("device", table, outcomes, expected),
        remarks=_stated("remark", table, outcomes, expected),
        warm_ups=_stated("warm_up", table, outcomes, expected),
        settings=settings_notes(table, outcomes, expected),
        warnings=chance_warnings(table, measured),
        recoveries=recoveries(table, outcomes, expected),
        order_note=table.order_note,
    )


def _stated(
    name: str, table: Table, outcomes: Mapping[str, Outcome], expected: Expected
) -> dict[str, tuple[str, ...]]:
    """What outcomes say besides under this name, by the labels of the learners."""
    found = {
        (label, outcomes[id_].extra[name])
        for (_, label), ids in expected.items()
        for id_ in ids
        if id_ in outcomes and name in outcomes[id_].extra
    }
    labels = [column.label for column in table.learners]
    stated = {label: tuple(sorted(text for of, text in found if of == label)) for label in labels}
    return {label: texts for label, texts in stated.items() if texts}
