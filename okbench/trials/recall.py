"""Which stored outcomes belong in which cell of a table; no rows are read for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from okbench.papers.nouns import Table
from okbench.trials.nouns import Outcome, Trial
from okbench.trials.options import Options
from okbench.trials.plan import chosen_cells, first_trial, row_key, runs_of

_ALL = Options()


def recall(
    table: Table, outcomes: Iterable[Outcome], options: Options = _ALL
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The ids of the trials each cell is made of, by dataset and learner label.

    They are those a run would plan now: same settings, learner version, order and seed. Where the
    rows themselves changed between runs, the rows met last count.
    """
    latest: dict[Trial, str] = {}
    for outcome in outcomes:
        latest[_kind(outcome.trial)] = outcome.trial.fingerprint
    runs = runs_of(table, options)
    return {
        (row_key(table, row), column.label): _ids(
            first_trial(table, row, column, options, ""), latest, runs
        )
        for row, column in chosen_cells(table, options)
    }


def _ids(first: Trial, latest: Mapping[Trial, str], runs: int) -> tuple[str, ...]:
    fingerprint = latest.get(first)
    if fingerprint is None:
        return ()
    found = replace(first, fingerprint=fingerprint)
    return tuple(replace(found, repetition=repetition).id for repetition in range(runs))


def _kind(trial: Trial) -> Trial:
    """The trial less its rows' fingerprint and its repetition."""
    return replace(trial, fingerprint="", repetition=0)
