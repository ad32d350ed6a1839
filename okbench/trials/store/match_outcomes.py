"""Which stored outcomes belong in which cell of a table; no rows are read for it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, replace
from operator import attrgetter

from okbench.papers.table_types import Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import chosen_cells, first_trial, repetitions_of, row_key
from okbench.trials.trial_types import Outcome, Trial

_ALL = Options()
_kind = attrgetter(  # all of a trial but its rows' fingerprint and its repetition
    *(field.name for field in fields(Trial) if field.name not in ("fingerprint", "repetition"))
)


def recall(
    table: Table, outcomes: Iterable[Outcome], options: Options = _ALL
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The ids of the trials each cell is made of, by dataset and learner label.

    They are those a run would plan now: same settings, learner version, order and seed. Where the
    rows themselves changed between runs, those met last count, or those the table has in hand.
    """
    latest: dict[Hashable, str] = {}
    stored: dict[Hashable, str] = {}
    for outcome in outcomes:
        trial = outcome.trial
        kind = _kind(trial)
        latest[kind] = trial.fingerprint
        stored[kind, trial.fingerprint, trial.repetition] = trial.id
    repetitions = repetitions_of(table, options)
    return {
        (row_key(table, row), column.label): _ids(
            first_trial(table, row, column, options, row.fingerprint), latest, stored, repetitions
        )
        for row, column in chosen_cells(table, options)
    }


def _ids(
    first: Trial,
    latest: Mapping[Hashable, str],
    stored: Mapping[Hashable, str],
    repetitions: Iterable[int],
) -> tuple[str, ...]:
    kind = _kind(first)
    rows = first.fingerprint or latest.get(kind)
    if rows is None:
        return ()
    return tuple(
        stored.get((kind, rows, repetition))
        or replace(first, fingerprint=rows, repetition=repetition).id
        for repetition in repetitions
    )
