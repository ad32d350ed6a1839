"""Cells of a table, computed from stored outcomes and from nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from okbench.base.quantities import spoken_time
from okbench.papers.provenance import OPEN, Basis, Ingredient, preparation_of, weakest
from okbench.papers.table_types import Clocked, PrintedCell, Searched, Table
from okbench.protocols.metrics import METRICS
from okbench.reports.machines import of_one_machine
from okbench.trials.store.match_outcomes import Versions
from okbench.trials.trial_types import Outcome

CellKey = tuple[str, str]  # dataset, learner label
Expected = Mapping[CellKey, Sequence[str]]  # the ids of the trials that belong in a cell


@dataclass(frozen=True)
class Cell:
    """What was measured for one learner on one dataset, and what the paper prints there.

    `values` are the metric of each done trial, in percent for rates, in the order expected.
    `repetitions` are the permutations of those, by which two cells of a dataset are paired.
    `statuses` counts the trials that ended otherwise. `runs` is the paper's own number of trials,
    and `once` says that one trial is run because all would have the same value. `ingredients` are
    the settings and the rows with their sources. `exact` says that nothing random is
    in the cell: published permutations, and a learner without random numbers. `seconds` is a mean
    over the trials measured alone when there are such (`timed`), else over all done, and always
    over those of one machine; `environments` names it. `bytes` is what a model held. `over_limit`
    says that every trial outran the table's own time limit, `outdated` that the learner installed
    now is another one than was measured, or that there is none.

    `mapping` is the part of the seconds that feature maps took, of the learners that state it.
    Where rows come in two parts, `training` are the seconds of training alone; `search` are those
    of the search for the settings, if there was one, and `awaits_search` says that it is to come,
    and `search_cut` in which way it was smaller than the table asks for;
    `clock` says which of the times is shown.
    `na` says why a cell counts as not available although it was tried. `balanced` is the mean share
    of right answers of the classes, and `majority` the score of always answering the most frequent
    class of the test rows, both in percent.
    """

    dataset: str
    learner: str
    metric: str
    values: tuple[float, ...]
    expected: int
    repetitions: tuple[int, ...] = ()
    runs: int = 0
    once: bool = False
    ingredients: tuple[Ingredient, ...] = ()
    exact: bool = False
    seconds: float | None = None
    timed: bool = False
    bytes: float | None = None
    environments: tuple[str, ...] = ()
    statuses: Mapping[str, int] = field(default_factory=dict)
    printed: PrintedCell | None = None
    left_out: bool = False
    over_limit: str = ""
    outdated: str = ""
    training: float | None = None
    mapping: float | None = None
    search: float | None = None
    awaits_search: bool = False
    search_cut: str = ""
    clock: Clocked = "all"
    na: str = ""
    balanced: float | None = None
    majority: float | None = None

    @property
    def time(self) -> float | None:
        """The seconds that are shown of the cell."""
        if self.clock == "all":
            return self.seconds
        if self.clock == "without map":
            return self.without_map
        if self.training is None:
            return None
        return self.training + (0.0 if self.clock == "training" else self.search or 0.0)

    @property
    def without_map(self) -> float | None:
        """The seconds without those of the feature map, if the learner states these."""
        return None if self.seconds is None else self.seconds - (self.mapping or 0.0)

    @property
    def cut_time(self) -> bool:
        """Whether the time that is shown has a search that was smaller than the table's."""
        return self.clock == "search + training" and bool(self.search_cut)

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def lower_is_better(self) -> bool:
        return METRICS[self.metric].lower_is_better

    @property
    def by_repetition(self) -> dict[int, float]:
        """The value on each permutation."""
        return dict(zip(self.repetitions, self.values, strict=True))

    @property
    def complete(self) -> bool:
        return 0 < self.expected == self.n and not self.na

    @property
    def rests_on(self) -> Basis:
        """The weakest source among the settings and the preparation of the rows."""
        return weakest(self.ingredients)

    @cached_property
    def mean(self) -> float | None:
        return fmean(self.values) if self.values else None

    @cached_property
    def std(self) -> float | None:
        """The standard deviation over trials, normalised by n - 1."""
        if self.n < 2:
            return None
        mean = fmean(self.values)
        return math.sqrt(math.fsum([(value - mean) ** 2 for value in self.values]) / (self.n - 1))

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.mean is None or self.printed is None or self.printed.mean is None:
            return None
        return self.mean - self.printed.mean

    @property
    def shortfall(self) -> str:
        """What keeps the cell from being complete, in words; empty when nothing does."""
        if self.complete or self.na:
            return self.na
        if self.left_out and not self.values and not self.statuses:
            return "not run"
        if self.over_limit:
            return self.over_limit
        ended = [f"{status} {count}" for status, count in sorted(self.statuses.items())]
        if not self.values:
            return ", ".join(ended) or "missing"
        return ", ".join([f"{self.n}/{self.expected}", *ended])


def cells(
    table: Table,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
    versions: Versions | None = None,
) -> list[Cell]:
    """The cells of a table, dataset by dataset. Outcomes that no cell expects are not counted;
    a cell for which nothing is expected still awaits the paper's number of runs. `versions` are
    those of the installed learners.
    """
    counted = (outcomes[id_] for ids in expected.values() for id_ in ids if id_ in outcomes)
    machines = Counter(outcome.environment for outcome in counted)
    return [
        _cell(table, (row.name, column.label), outcomes, expected, versions, machines)
        for row in table.datasets
        for column in table.learners
    ]


def _cell(
    table: Table,
    key: CellKey,
    outcomes: Mapping[str, Outcome],
    expected: Expected,
    versions: Versions | None,
    machines: Mapping[str, int],
) -> Cell:
    ids = expected.get(key, ())
    found = [outcomes[id_] for id_ in ids if id_ in outcomes]
    scored = [(outcome, value_of(outcome, table.protocol.metric)) for outcome in found]
    counted = [(outcome, value) for outcome, value in scored if value is not None]
    done = [outcome for outcome, _ in counted if outcome.seconds is not None]
    alone = [outcome for outcome in done if outcome.timed]
    clocked = of_one_machine(alone or done, machines)
    training, searched = _mean(one.train_seconds for one in clocked), table.searched.get(key)
    return Cell(
        *key,
        metric=table.protocol.metric,
        values=tuple(value for _, value in counted),
        expected=len(ids) or table.runs_of(key[1]),
        repetitions=tuple(outcome.trial.repetition for outcome, _ in counted),
        runs=table.printed_runs_of(key[1]),
        once=table.is_run_once(key[1]),
        ingredients=_ingredients(table, key, found),
        exact=_exact(table, key),
        seconds=_mean(outcome.seconds for outcome in clocked),
        timed=bool(alone),
        bytes=_mean(outcome.bytes for outcome, _ in counted),
        environments=tuple(sorted({outcome.environment for outcome in clocked})),
        statuses=Counter(_ending(outcome) for outcome, value in scored if value is None),
        printed=table.printed.get(key),
        left_out=key in table.left_out,
        over_limit=_over_limit(table, ids, found),
        outdated=_outdated(found, versions),
        training=training,
        mapping=_mapping(clocked),
        search=searched.seconds if searched and not searched.given_up else None,
        awaits_search=_awaits_search(table, key),
        search_cut=searched.cut if searched else "",
        clock=table.shown.seconds,
        na=_not_available(table, searched, ids, found, training),
        balanced=_mean(_balanced(outcome) for outcome, _ in counted),
        majority=_mean(_majority(outcome) for outcome, _ in counted),
    )


def outdated_notes(found: Iterable[Cell]) -> tuple[str, ...]:
    """A sentence for each learner whose outcomes are not those of the installed version; datasets
    are named where only some are meant."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    measured: dict[str, int] = Counter()
    for cell in found:
        if cell.values or cell.statuses:
            measured[cell.learner] += 1
            if cell.outdated:
                by_reason.setdefault((cell.learner, cell.outdated), []).append(cell.dataset)
    return tuple(
        f"outdated: {learner}{_where(datasets, measured[learner])}: {reason}."
        for (learner, reason), datasets in by_reason.items()
    )


def _where(datasets: Sequence[str], measured: int) -> str:
    return "" if len(datasets) == measured else f" on {', '.join(datasets)}"


def _outdated(found: Sequence[Outcome], versions: Versions | None) -> str:
    """How the learner of a cell's trials differs from the installed one; empty if it does not, or
    if that is not known (a `module:Class`, or a learner of another package)."""
    if versions is None or not found or ":" in found[0].trial.learner:
        return ""
    trial = found[0].trial
    if trial.learner not in versions:
        return "learner no longer installed"
    now = versions[trial.learner]
    if now is None or now == trial.learner_version:
        return ""
    return f"measured with version {trial.learner_version}; version {now} is installed"


def _over_limit(table: Table, ids: Sequence[str], found: Sequence[Outcome]) -> str:
    """`over 2 h` when that is all that came of a cell, as the paper has it."""
    limit = table.protocol.time_limit
    late = [one for one in found if one.status == "timeout" and (one.seconds or 0.0) >= limit]
    return f"over {spoken_time(limit)}" if 0 < len(ids) == len(late) else ""


def _awaits_search(table: Table, key: CellKey) -> bool:
    """Whether the total time of a cell has a search that has not been made."""
    if table.shown.seconds != "search + training" or table.search is None or key in table.searched:
        return False
    column = next(column for column in table.learners if column.label == key[1])
    settings = table.settings.get(key, {})
    return any(
        range_.searched
        and range_.holds_for(column.learner)
        and settings[range_.name].source in OPEN
        for range_ in table.search.ranges
        if range_.name in settings
    )


def _not_available(
    table: Table,
    searched: Searched | None,
    ids: Sequence[str],
    found: Sequence[Outcome],
    training: float | None,
) -> str:
    """`NA (about 63 days)`, where search and training take longer than the table allows, and where
    no trial converged; empty for a table that does not say after how long a cell is NA."""
    limit = table.protocol.na_after
    if math.isinf(limit):
        return ""
    if searched and searched.given_up:
        return f"NA (about {spoken_time(searched.seconds)})"
    if not found or len(found) < len(ids):
        return ""
    before = searched.seconds if searched else 0.0
    endings = {one.status for one in found}
    if endings == {"diverged"}:
        return "NA (did not converge)"
    if "timeout" in endings and "done" not in endings:
        expected = _mean(one.extra.get("expected_seconds") for one in found)
        if expected is None:
            return f"NA (over {spoken_time(before + max(one.seconds or 0.0 for one in found))})"
        return f"NA (about {spoken_time(before + expected)})"
    total = before + (training or 0.0)
    return f"NA ({spoken_time(total)})" if total > limit else ""


def _balanced(outcome: Outcome) -> float | None:
    """The mean share of right answers of the classes that the test rows have, in percent."""
    met = [(rows, wrong) for _, rows, wrong in outcome.extra.get("classes", []) if rows]
    return 100.0 * fmean(1.0 - wrong / rows for rows, wrong in met) if met else None


def _majority(outcome: Outcome) -> float | None:
    """The share of the most frequent class among the test rows, in percent."""
    rows = [rows for _, rows, _ in outcome.extra.get("classes", [])]
    return 100.0 * max(rows) / sum(rows) if sum(rows) else None


def value_of(outcome: Outcome, metric: str) -> float | None:
    """The metric of a done trial; None when it is no number, or has outgrown the numbers."""
    return METRICS[metric].value(outcome.total, outcome.rows) if outcome.status == "done" else None


def _ingredients(table: Table, key: CellKey, found: Sequence[Outcome]) -> tuple[Ingredient, ...]:
    """The settings that the learner took, or that these are computed from, and the rows. A setting
    that no file names is part of the learner's definition."""
    if not found:
        return ()
    trial = found[0].trial
    taken = {name for name, _ in trial.settings}
    settings = tuple(
        Ingredient(name, setting.source, setting.reason)
        for name, setting in table.settings.get(key, {}).items()
        if name in taken or setting.referred
    )
    return (*settings, preparation_of(trial.dataset, trial.variant))


def _exact(table: Table, key: CellKey) -> bool:
    row = next(row for row in table.datasets if row.name == key[0])
    known = table.random is not None and key[1] not in table.random
    return known and table.orders_of(row) == "published"


def _ending(outcome: Outcome) -> str:
    # done without a score: a sum of squares that outgrew the numbers
    return "diverged" if outcome.status == "done" else outcome.status


def _mapping(clocked: Sequence[Outcome]) -> float | None:
    """The mean seconds that feature maps took, if all outcomes state them."""
    stated = [one.extra.get("map_seconds") for one in clocked]
    return None if None in stated else _mean(stated)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
