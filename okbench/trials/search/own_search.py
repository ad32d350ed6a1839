"""The search for settings of a user's own rows, before its learners are compared: part of
`okbench run`, with its cost shown apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from okbench.papers.search import TUNED
from okbench.papers.table_names import file_of
from okbench.papers.table_types import Table
from okbench.trials.plan.cells import chosen_cells, narrowed
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.run.environment import here
from okbench.trials.run.estimate import Missing
from okbench.trials.run.run_table import Tally
from okbench.trials.search import tuned_file
from okbench.trials.search.searched_ranges import searched
from okbench.trials.search.tuning import tune
from okbench.trials.store.files import Store


@dataclass(frozen=True)
class OwnSearch:
    """What a search took: the trials of the learners, on so many rows, and the seconds in them."""

    learners: int
    trials: int
    rows: int
    seconds: float


def is_searched(table: Table, options: Options) -> bool:
    """Whether a table says how to search settings that one of the chosen cells leaves open."""
    return table.search is not None and any(
        searched(table, row, column) for row, column in chosen_cells(table, options)
    )


def search_settings(
    table: Table,
    load: Load,
    missing: Missing,
    results: Path,
    options: Options,
    watch: Callable[[Tally], None],
) -> OwnSearch:
    """Search the settings of the chosen learners, and write them beside the outcomes, where every
    command finds them. What was searched before is read, and not run again."""
    asked = replace(options, timing=False, again=False)
    chosen = narrowed(table, options)
    assert chosen.search is not None
    store = Store.of(results, f"{table.name}.tune")
    found = tune(chosen, load, missing, store, replace(asked, datasets=None, learners=None), watch)
    tuned_file.write(
        file_of(results, table.name, TUNED), chosen, found.choices, chosen.search, here()
    )
    clocked: dict[str, float] = {}
    for choice in found.choices:
        clocked |= choice.clocked  # two learners of the same settings share a trial
    return OwnSearch(
        len(found.choices),
        len(clocked),
        max((choice.rows for choice in found.choices), default=0),
        math.fsum(clocked.values()),
    )
