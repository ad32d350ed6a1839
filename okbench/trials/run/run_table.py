"""A table from plan to store: what `okbench run` does between its parsing and its printing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain

from okbench.base.errors import DataError, OkbenchError
from okbench.papers.table_types import Table
from okbench.trials.plan.cells import chosen_cells, row_key, time_limit_of
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load, cell_plans, in_rounds, remaining, trials_by_cell
from okbench.trials.plan.rows_in_memory import refuse_permutations_beyond_memory
from okbench.trials.run.batch import Batch
from okbench.trials.run.environment import hash_of, here
from okbench.trials.run.estimate import Missing, Overlong, absent_rows, guesses, overlong
from okbench.trials.run.execute import execute
from okbench.trials.run.memory_needs import needs, refuse_what_cannot_fit
from okbench.trials.store.files import Store
from okbench.trials.store.trials_of_lines import TrialsOfLines
from okbench.trials.trial_types import Outcome, Trial

CellKey = tuple[str, str]  # dataset, learner label
# puts the planned trials in the order in which they are run, from what is known of others
Arrange = Callable[[Mapping[CellKey, Sequence[Trial]], Mapping[str, Outcome]], list[Trial]]

_FAILURES = ("failed", "diverged")


@dataclass
class Tally:
    """How a run went, kept while it goes; `overlong` is expected before it starts, and
    `failed_before` are trials of an earlier run that failed or diverged and are not run again."""

    total: int
    endings: Counter[str] = field(default_factory=Counter)
    failures: list[Outcome] = field(default_factory=list)
    failed_before: list[Outcome] = field(default_factory=list)
    missing: Mapping[str, str] = field(default_factory=dict)
    recovered: str = ""
    workers: Counter[str] = field(default_factory=Counter)  # of a cluster, with their trials
    notices: list[str] = field(default_factory=list)
    overlong: tuple[Overlong, ...] = ()
    time_limit: float = math.inf

    def take(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self.endings[outcome.status] += 1
            if outcome.status in _FAILURES:
                self.failures.append(outcome)

    def and_then(self, later: Tally) -> Tally:
        """This run and a later one as one."""
        return Tally(
            self.total + later.total,
            self.endings + later.endings,
            [*self.failures, *later.failures],
            [*self.failed_before, *later.failed_before],
            {**self.missing, **later.missing},
            self.recovered or later.recovered,
            self.workers + later.workers,
            [*self.notices, *later.notices],
            (*self.overlong, *later.overlong),
            later.time_limit,
        )


def run(
    table: Table,
    load: Load,
    missing: Missing,
    store: Store,
    options: Options,
    watch: Callable[[Tally], None],
    arrange: Arrange = lambda planned, known: in_rounds(planned),
) -> Tally:
    """Run what is not done yet and store each outcome as it ends; `watch` is called before the
    first, when the tally knows what is expected to outrun the time limit, and after each.

    What was planned is stored before the first trial, also of cells that are done already.
    Datasets that are not here are left out and named in the tally; none here at all is a DataError.
    A trial that cannot fit into the memory is an OkbenchError before the first one runs. So is a
    trial without an outcome after the last one has run.
    """
    cells = chosen_cells(table, options)
    absent = absent_rows(table, cells, missing)
    present = [(row, column) for row, column in cells if row_key(table, row) not in absent]
    if cells and not present:
        raise DataError("no dataset of the run is here: " + "; ".join(absent.values()))
    planned = trials_by_cell(table, load, options, present)
    plans = cell_plans(table, present, planned)
    environment = here()
    known_trials = TrialsOfLines.sharing(chain.from_iterable(planned.values()))
    with store.writer(environment, hash_of(environment), known_trials) as writer:
        known = writer.contents.standing(timed=options.timing or None)
        todo = remaining(arrange(planned, known), known, options)
        limit = time_limit_of(table, options)
        tally = Tally(
            total=len(todo),
            failed_before=_failed_before(planned, known, todo),
            missing=absent,
            recovered=writer.recovered,
            overlong=overlong(planned, guesses(todo, known.values(), load), limit),
            time_limit=limit,
        )
        refuse_what_cannot_fit(needs(todo, load, options), options)
        if not options.force:
            refuse_permutations_beyond_memory(todo, load)
        watch(tally)
        writer.plan(plans)
        unanswered = {trial.id: trial for trial in todo}
        with closing(_batches(todo, load, replace(options, time_limit=limit))) as batches:
            for batch in batches:
                tally.take(writer.add_all(batch.outcomes, batch.environments))
                tally.notices += batch.notices
                tally.workers.update(batch.workers)
                for outcome in batch.outcomes:
                    unanswered.pop(outcome.trial.id, None)
                watch(tally)
    _refuse_unanswered(list(unanswered.values()), tally.total)
    return tally


def _refuse_unanswered(trials: Sequence[Trial], total: int) -> None:
    """Never let a run count as complete that lacks outcomes."""
    if trials:
        first = trials[0]
        raise OkbenchError(
            f"{len(trials)} of {total} trials have no outcome, the first of them "
            f"{first.learner} × {first.dataset} r={first.repetition}; the same command runs them"
        )


def _failed_before(
    planned: Mapping[CellKey, Sequence[Trial]],
    known: Mapping[str, Outcome],
    todo: Iterable[Trial],
) -> list[Outcome]:
    again = {trial.id for trial in todo}
    ids = (trial.id for trials in planned.values() for trial in trials)
    found = (known[id_] for id_ in ids if id_ in known and id_ not in again)
    return [outcome for outcome in found if outcome.status in _FAILURES]


def _batches(trials: list[Trial], load: Load, options: Options) -> Generator[Batch, None, None]:
    """The outcomes of trials as they come, from here or from a cluster."""
    if options.on_cluster:
        from okbench.trials.cluster.head import run_on_cluster

        yield from run_on_cluster(trials, load, options)
        return
    with closing(execute(trials, load, options)) as outcomes:
        for outcome in outcomes:
            yield Batch((outcome,))
