"""What a run would do, told before it does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from okbench.datasets.nouns import Dataset
from okbench.papers.nouns import Table
from okbench.trials.nouns import Outcome, Trial
from okbench.trials.options import Options
from okbench.trials.plan import Cell, Load, chosen_cells, plan, remaining, row_key, runs_of
from okbench.trials.store import Store

Missing = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Summary:
    """The plan of a table in figures.

    `seconds` is what `measured` of the trials to run are expected to take with the jobs asked
    for; of the others nothing is known. `bytes` counts rows and models held at one time.
    """

    table: str
    total: int
    done: int
    to_run: int
    measured: int
    seconds: float
    bytes: int
    missing: Mapping[str, str]  # dataset → what is not here and the command that gets it


def dry_run(table: Table, load: Load, missing: Missing, store: Store, options: Options) -> Summary:
    """Count, estimate, and name the rows that are not here. Runs nothing, fetches nothing.

    Trials whose rows are missing count as still to run.
    """
    cells = chosen_cells(table, options)
    absent = absent_rows(table, cells, missing)
    present = [(row, column) for row, column in cells if row_key(table, row) not in absent]
    trials = plan(table, load, options, present)
    unseen = (len(cells) - len(present)) * runs_of(table, options)
    known = store.outcomes(timed=True if options.timing else None)
    todo = remaining(trials, known, options)
    measured = [outcome for outcome in known.values() if outcome.status == "done"]
    guesses = [guess for trial in todo if (guess := _guess(trial, measured, load))]
    at_once = 1 if options.timing else options.jobs
    return Summary(
        table=table.name,
        total=len(trials) + unseen,
        done=len(trials) - len(todo),
        to_run=len(todo) + unseen,
        measured=len(guesses),
        seconds=sum(guess.seconds for guess in guesses) / at_once,
        bytes=_rows_bytes(todo, load) + at_once * max((g.bytes for g in guesses), default=0),
        missing=absent,
    )


def absent_rows(table: Table, cells: Sequence[Cell], missing: Missing) -> dict[str, str]:
    """The datasets of these cells that are not here, and the command that gets each."""
    return {
        row_key(table, row): said
        for row in dict.fromkeys(row for row, _ in cells)
        if (said := missing(row.name, row.variant)) is not None
    }


@dataclass(frozen=True)
class _Guess:
    seconds: float
    bytes: int


def _guess(trial: Trial, measured: Sequence[Outcome], load: Load) -> _Guess | None:
    """From the same learner on the same rows; else on the rows nearest in number, in proportion."""
    same_learner = [
        o for o in measured if o.trial.learner == trial.learner and o.rows and o.seconds
    ]
    same_rows = [o for o in same_learner if _rows_key(o.trial) == _rows_key(trial)]
    if same_rows:
        return _Guess(
            mean(o.seconds or 0.0 for o in same_rows), max(o.bytes or 0 for o in same_rows)
        )
    if not same_learner:
        return None
    rows = load(trial.dataset, trial.variant).n_rows
    nearest = min(same_learner, key=lambda o: abs(o.rows - rows))
    return _Guess((nearest.seconds or 0.0) * rows / nearest.rows, nearest.bytes or 0)


def _rows_bytes(trials: Iterable[Trial], load: Load) -> int:
    """Bytes of all rows the trials learn from."""
    return sum(_bytes_of(load(*key)) for key in {_rows_key(trial) for trial in trials})


def _bytes_of(dataset: Dataset) -> int:
    X = dataset.X
    held = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    return int(sum(array.nbytes for array in held) + dataset.y.nbytes)


def _rows_key(trial: Trial) -> tuple[str, str]:
    return trial.dataset, trial.variant
