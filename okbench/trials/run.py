"""A table from plan to store: what `okbench run` does between its parsing and its printing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field

from okbench.errors import DataError
from okbench.papers.nouns import Table
from okbench.trials.environment import hash_of, here
from okbench.trials.estimate import Missing, absent_rows
from okbench.trials.execute import execute
from okbench.trials.nouns import Outcome
from okbench.trials.options import Options
from okbench.trials.plan import Load, chosen_cells, plan, remaining, row_key
from okbench.trials.store import Store


@dataclass
class Tally:
    """How a run went, kept while it goes."""

    total: int
    endings: Counter[str] = field(default_factory=Counter)
    failures: list[Outcome] = field(default_factory=list)
    missing: Mapping[str, str] = field(default_factory=dict)
    recovered: str = ""

    def take(self, outcome: Outcome) -> None:
        self.endings[outcome.status] += 1
        if outcome.status in ("failed", "diverged"):
            self.failures.append(outcome)


def run(
    table: Table,
    load: Load,
    missing: Missing,
    store: Store,
    options: Options,
    watch: Callable[[Tally], None],
) -> Tally:
    """Run what is not done yet and store each outcome as it ends; `watch` is called after each.

    Datasets that are not here are left out and told in the tally; none here at all is a DataError.
    """
    cells = chosen_cells(table, options)
    absent = absent_rows(table, cells, missing)
    present = [(row, column) for row, column in cells if row_key(table, row) not in absent]
    if cells and not present:
        raise DataError("no dataset of the run is here: " + "; ".join(absent.values()))
    trials = plan(table, load, options, present)
    todo = remaining(trials, store.outcomes(timed=options.timing or None), options)
    tally = Tally(total=len(todo), missing=absent)
    watch(tally)
    environment = here()
    with store.writer(environment, hash_of(environment)) as writer:
        tally.recovered = writer.recovered
        with closing(execute(todo, load, options)) as outcomes:
            for outcome in outcomes:
                tally.take(writer.add(outcome))
                watch(tally)
    return tally
