"""The settings that a paper does not give, varied through the ranges that it searched.

Every value of a range is tried on all rows and on the table's own permutations, beside the cell's
other settings. So its trials are those that the table would have with this value: they are stored
with the others of the table, under a label such as `FOGD step=0.02`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from okbench.base.errors import UsageError
from okbench.papers.table_types import Range, Search, Table
from okbench.trials.plan.cells import Cell, chosen_cells, row_key
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load, in_rounds
from okbench.trials.run.estimate import Missing, Summary, dry_run, guesses
from okbench.trials.run.run_table import Tally, run
from okbench.trials.search.search_grid import Candidate, label_of, variations, with_candidates
from okbench.trials.search.searched_ranges import refuse_unknown, searched
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial

FEW = 3  # permutations per value, unless others are asked for


def run_varied(
    table: Table,
    load: Load,
    missing: Missing,
    store: Store,
    options: Options,
    watch: Callable[[Tally], None],
) -> Tally:
    """Run what is not done yet, cell after cell, the one that takes the least time first."""
    tried = candidates_to_try(table, options)

    def arrange(
        planned: Mapping[tuple[str, str], Sequence[Trial]], known: Mapping[str, Outcome]
    ) -> list[Trial]:
        groups = [
            {
                key: planned[key]
                for candidate in candidates
                if (key := (row_key(table, row), label_of(column, candidate))) in planned
            }
            for (row, column), candidates in tried.items()
        ]
        return _cheapest_first([in_rounds(group) for group in groups if group], known, load)

    grid = with_candidates(table, tried)
    return run(grid, load, missing, store, _of_grid(options), watch, arrange)


def dry_run_varied(
    table: Table, load: Load, missing: Missing, store: Store, options: Options
) -> Summary:
    """What `run_varied` would do."""
    grid = with_candidates(table, candidates_to_try(table, options))
    return dry_run(grid, load, missing, store, _of_grid(options))


def candidates_to_try(table: Table, options: Options) -> dict[Cell, list[Candidate]]:
    """The chosen cells that have a printed number and a range for a setting nobody gives, with the
    values to try."""
    search = _search_of(table)
    refuse_unknown(table, search)
    found: dict[Cell, Sequence[Range]] = {
        (row, column): searched(table, row, column, unsearched_too=True)
        for row, column in chosen_cells(table, options)
        if (printed := table.printed.get((row.name, column.label))) and printed.mean is not None
    }
    tried = {cell: variations(ranges, search) for cell, ranges in found.items() if ranges}
    if not tried:
        names = ", ".join(range_.name for range_ in search.ranges)
        raise UsageError(
            f"{table.name}: nothing to vary, because no chosen cell has both a printed number and "
            f"an inferred setting with a range (the table has ranges for {names})"
        )
    return tried


def _search_of(table: Table) -> Search:
    if table.search is None:
        raise UsageError(
            f"{table.name} has no ranges to vary settings in; add a 'tune:' block to its file"
        )
    return table.search


def _of_grid(options: Options) -> Options:
    """The same for all cells of the grid, which are those chosen."""
    few = FEW if options.trials is None and options.repetitions is None else options.trials
    return replace(options, datasets=None, learners=None, trials=few)


def _cheapest_first(
    cells: Sequence[Sequence[Trial]], known: Mapping[str, Outcome], load: Load
) -> list[Trial]:
    """The trials, cell after cell: first those of the least expected time; those of which nothing
    is known come last, the ones with the fewest rows first."""
    every = [trial for trials in cells for trial in trials]
    expected = guesses(every, known.values(), load)

    def cost(trials: Sequence[Trial]) -> tuple[float, int]:
        seconds = (expected[t.id].seconds if t.id in expected else math.inf for t in trials)
        return math.fsum(seconds), load(trials[0].dataset, trials[0].variant).n_rows

    return list(
        {trial.id: trial for trials in sorted(cells, key=cost) for trial in trials}.values()
    )
