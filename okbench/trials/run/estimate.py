"""What a run would do, computed before it does it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import mean

from okbench.papers.table_types import Table
from okbench.trials.plan.cells import (
    Cell,
    chosen_cells,
    repetitions_of,
    row_key,
    time_limit_of,
)
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load, in_rounds, named_in, remaining, trials_by_cell
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.run.memory_needs import Need, available, needs
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Family, Outcome, Trial

Missing = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Overlong:
    """A cell with trials that are expected to take longer than they may, by `seconds` each."""

    dataset: str
    learner: str
    trials: int
    seconds: float


@dataclass(frozen=True)
class Summary:
    """The plan of a table in figures.

    `seconds` is what `measured` of the trials to run are expected to take with the jobs asked
    for; of the others nothing is known. `bytes` counts rows and models held at one time. `overlong`
    are the cells whose trials are expected to outrun their `time_limit`, which ends them. `needs`
    are computed from rows and settings, and `available` are the bytes there are for them here.
    `submitted` says in words what a cluster would be given.
    """

    table: str
    total: int
    done: int
    to_run: int
    measured: int
    seconds: float
    bytes: int
    missing: Mapping[str, str]  # dataset → what is not here and the command that gets it
    time_limit: float = math.inf
    overlong: tuple[Overlong, ...] = ()
    needs: tuple[Need, ...] = ()
    available: int = 0
    submitted: tuple[str, ...] = ()


def dry_run(table: Table, load: Load, missing: Missing, store: Store, options: Options) -> Summary:
    """Count, estimate, and name the rows that are not here. Runs nothing, fetches nothing.

    Trials whose rows are missing count as still to run.
    """
    cells = chosen_cells(table, options)
    absent = absent_rows(table, cells, missing)
    present = [(row, column) for row, column in cells if row_key(table, row) not in absent]
    planned = trials_by_cell(table, load, options, present)
    trials = in_rounds(planned)
    unseen = sum(
        len(repetitions_of(table, options, column.label))
        for row, column in cells
        if row_key(table, row) in absent
    )
    known = store.outcomes(timed=True if options.timing else None)
    todo = remaining(trials, known, options)
    expected = guesses(todo, known.values(), load)
    limit = time_limit_of(table, options)
    at_once = options.at_once
    return Summary(
        table=table.name,
        total=len(trials) + unseen,
        done=len(trials) - len(todo),
        to_run=len(todo) + unseen,
        measured=len(expected),
        seconds=sum(min(guess.seconds, limit) for guess in expected.values()) / at_once,
        bytes=_rows_bytes(todo, load)
        + at_once * max((guess.bytes for guess in expected.values()), default=0),
        missing=absent,
        time_limit=limit,
        overlong=overlong(planned, expected, limit),
        needs=tuple(needs(todo, load, options)),
        available=0 if options.on_cluster else available(),
        submitted=_submitted(todo, load, replace(options, time_limit=limit)),
    )


def _submitted(trials: Sequence[Trial], load: Load, options: Options) -> tuple[str, ...]:
    if not options.on_cluster or not trials:
        return ()
    from okbench.trials.cluster.preview import preview

    return tuple(preview(trials, load, options))


def overlong(
    cells: Mapping[tuple[str, str], Sequence[Trial]], expected: Mapping[str, Guess], limit: float
) -> tuple[Overlong, ...]:
    """The cells with trials still to run that are expected to take longer than the limit."""
    found = []
    for (dataset, label), trials in cells.items():
        guessed = [expected[trial.id].seconds for trial in trials if trial.id in expected]
        beyond = [seconds for seconds in guessed if seconds > limit]
        if beyond:
            found.append(Overlong(dataset, label, len(beyond), mean(beyond)))
    return tuple(found)


def absent_rows(table: Table, cells: Sequence[Cell], missing: Missing) -> dict[str, str]:
    """The datasets of these cells that are not here, and the command that gets each."""
    absent = {}
    for row in dict.fromkeys(row for row, _ in cells):
        with named_in(row.where):
            command = missing(row.name, row.variant)
        if command is not None:
            absent[row_key(table, row)] = command
    return absent


@dataclass(frozen=True)
class Guess:
    """What a trial is expected to take."""

    seconds: float
    bytes: int


def guesses(trials: Iterable[Trial], known: Iterable[Outcome], load: Load) -> dict[str, Guess]:
    """What is expected of each trial, by id, from what was measured of its learner: on the same
    rows, with the same settings if there is such; else on the rows nearest in number. Seconds are
    in proportion to rows, also those of a trial that its time limit ended.
    """
    measured = _Measured(known)
    of_kind: dict[Family, Guess | None] = {}  # repetitions are expected to take the same
    found = {}
    for trial in trials:
        family = trial.family
        if family not in of_kind:
            of_kind[family] = measured.guess(trial, load)
        guess = of_kind[family]
        if guess is not None:
            found[trial.id] = guess
    return found


class _Measured:
    """Outcomes with seconds, by learner and rows."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._learners: dict[str, dict[tuple[str, str], list[Outcome]]] = {}
        for outcome in outcomes:
            if outcome.status in ("done", "timeout") and outcome.rows and outcome.seconds:
                by_rows = self._learners.setdefault(outcome.trial.learner, {})
                by_rows.setdefault(_rows_key(outcome.trial), []).append(outcome)

    def guess(self, trial: Trial, load: Load) -> Guess | None:
        """What a trial is expected to take; None if nothing is known of its learner."""
        by_rows = self._learners.get(trial.learner)
        if by_rows is None:
            return None
        rows = load(trial.dataset, trial.variant).n_rows
        there = by_rows.get(_rows_key(trial), [])
        alike = [outcome for outcome in there if outcome.trial.settings == trial.settings]
        nearest = alike or there or [_nearest(by_rows, rows)]
        return Guess(
            mean(_seconds(outcome, rows, whole=bool(there)) for outcome in nearest),
            max(outcome.bytes or 0 for outcome in nearest),
        )


def _nearest(by_rows: Mapping[tuple[str, str], Iterable[Outcome]], rows: int) -> Outcome:
    """The outcome on the rows nearest in number."""
    every = chain.from_iterable(by_rows.values())
    return min(every, key=lambda outcome: abs(outcome.rows - rows))


def _seconds(outcome: Outcome, rows: int, whole: bool) -> float:
    """Seconds for so many rows; as measured when these were they."""
    seconds = outcome.seconds or 0.0
    if whole and outcome.status == "done":  # of train and test rows, only some are counted
        return seconds
    return seconds * rows / outcome.rows


def _rows_bytes(trials: Iterable[Trial], load: Load) -> int:
    """Bytes of all rows the trials learn from."""
    return sum(rows_bytes(load(*key)) for key in {_rows_key(trial) for trial in trials})


def _rows_key(trial: Trial) -> tuple[str, str]:
    return trial.dataset, trial.variant
