"""From a file of rows to the standings of a race: rows, entrants, search, race."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from okbench.base.errors import DataError, OkbenchError
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.user.user_rows import as_read
from okbench.papers.additions import AddedLearner, Additions
from okbench.papers.table_types import RowsFile
from okbench.trials.choose.entrants import UNBOUNDED_ROWS, entrants, fitting
from okbench.trials.choose.guarded_runner import Runners
from okbench.trials.choose.paired import LEVEL
from okbench.trials.choose.race import Race
from okbench.trials.choose.search import Chosen, SettingsSearch, search_rows
from okbench.trials.choose.standings import LeftOut, Search, Standings
from okbench.trials.plan.own_definition import median_distance
from okbench.trials.plan.row_orders import behind
from okbench.trials.plan.rows_in_memory import beyond_memory
from okbench.trials.plan.seeds import row_order
from okbench.trials.plan.user_table import TableRows, read_once
from okbench.trials.run.estimate import Guess, guesses
from okbench.trials.run.memory_needs import available
from okbench.trials.run.workers import terminable, use_one_thread
from okbench.trials.trial_types import Outcome

_LEAST_ROWS = 20
_NOTHING = Additions()


@dataclass(frozen=True)
class Asked:
    """What a user asks of a race."""

    learners: tuple[AddedLearner, ...] | None = None  # None for all that do the task
    added: Additions = _NOTHING
    seconds: float = 120.0
    memory: float | None = None  # bytes of a model; None for what there is
    unbounded: int = UNBOUNDED_ROWS  # rows, beyond which learners without a budget are left out
    searched: bool = True
    in_order: bool = False
    seed: int = 0


class Watch(Protocol):
    """Who follows a race."""

    def read(self, notes: Sequence[str]) -> None:
        """The rows are here, with what was guessed of them."""

    def admitted(self, data: Dataset, labels: Sequence[str], left_out: Sequence[LeftOut]) -> None:
        """These learners fit, and these do not."""

    def searched(self, label: str) -> None:
        """One more trial of the search is done."""

    def estimated(self, search: Search, expected: Sequence[tuple[str, Guess]], rows: int) -> None:
        """The settings are chosen, and this is what all the rows are expected to take."""

    def learned(self, label: str, row: int) -> None:
        """A learner has learned the rows up to this one."""


def choose(file: RowsFile, asked: Asked, watch: Watch) -> tuple[Standings, RowsFile]:
    """Race learners on the rows of a file; the file as it was read is part of the answer."""
    use_one_thread()
    found = read_once(file)
    data, file = found.dataset, as_read(file, found)
    if data.n_rows < _LEAST_ROWS:
        raise DataError(f"{file.path}: {data.n_rows} rows are too few for a race")
    beyond = "" if asked.in_order else beyond_memory(data)
    order = (f"order: {beyond}; blocks of rows are permuted instead",) if beyond else ()
    watch.read((*found.notes, *order))
    memory = asked.memory or available()
    runners = Runners(data, TableRows(((data.name, file),)), memory)
    with terminable(), closing(runners):
        return _raced(runners, file, asked, watch, memory), file


def _raced(
    runners: Runners, file: RowsFile, asked: Asked, watch: Watch, memory: float
) -> Standings:
    data = runners.data
    first = entrants(data, asked.learners, asked.added, 1.0, False, asked.in_order, asked.seed)
    order = row_order(first[0].trial, data)
    n_searched = search_rows(data.n_rows)
    tried = replace(data, X=data.X[order[:n_searched]], y=data.y[order[:n_searched]], orders=None)
    width = median_distance(tried, in_order=True)
    found = entrants(
        data, asked.learners, asked.added, width, asked.searched, asked.in_order, asked.seed
    )
    rows = data.n_rows - n_searched
    admitted, left_out = fitting(found, data, memory, rows, asked.unbounded)
    watch.admitted(data, [one.label for one in admitted], left_out)
    search = SettingsSearch(runners, order[:n_searched], watch.searched)
    able = search.prepared(admitted)
    begun = time.monotonic()
    deadline = begun + asked.seconds
    chosen = search.run(able, deadline)
    left_out += search.left_out
    watch.estimated(search.cost, expected(chosen, data, n_searched), rows)
    race = Race(chosen, runners, behind(order, n_searched), deadline, watch.learned)
    courses, guesses = race.run()
    like = first[0].trial
    standings = Standings(
        file.path.name, data.n_rows, data.n_features, data.task, data.classes, like.metric,
        file.scale, like.order, asked.seed, rows, search.cost, courses, guesses, tuple(left_out),
        asked.seconds, time.monotonic() - begun, LEVEL,
    )  # fmt: skip
    _refuse_nothing(standings)
    return standings


def expected(chosen: Sequence[Chosen], data: Dataset, n_searched: int) -> list[tuple[str, Guess]]:
    """What all rows are expected to take of each learner, from what the search measured."""
    known = [
        Outcome(
            replace(one.trial, variant="search"), "done", n_searched, one.total,
            one.rate * n_searched, bytes=one.bytes,
        )
        for one in chosen
    ]  # fmt: skip
    found = guesses([one.trial for one in chosen], known, lambda name, variant: data)
    return [(one.label, found[one.trial.id]) for one in chosen if one.trial.id in found]


def _refuse_nothing(standings: Standings) -> None:
    """Refuse standings in which no learner finished a part."""
    if standings.started:
        return
    reasons = [f"{one.label}: {one.reason}" for one in standings.left_out]
    reasons += [f"{one.label}: {one.reason}" for one in standings.courses if one.reason]
    listed = "; ".join(reasons[:5]) + (f"; and {len(reasons) - 5} more" if reasons[5:] else "")
    raise OkbenchError(
        f"no learner finished a part of the rows of {standings.name}: "
        f"{listed or 'the time was over'}  (--time, --memory and --learners say what may run)"
    )
