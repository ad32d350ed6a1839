"""okbench tune: choose the settings that a paper does not give, as the paper did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.cli import options
from okbench.cli.choices import TABLE

if TYPE_CHECKING:
    from okbench.papers.table_types import Search
    from okbench.trials.search.tuning import Choice, Try, Tuning

EPILOG = """\b
Examples:
  okbench tune table5 --datasets a9a,w7a
  okbench tune table5 --datasets german --learners FOGD --trials 5
  okbench run table5 --settings runs/lsokl/table5.tuned.yaml
  okbench tune own/my.csv --trials 5    after okbench run --data my.csv
  okbench tune table5 --backend dask --scheduler tcp://10.0.0.1:8786

\b
A table with one stream of rows is searched on a random part of the stream.
A table with test rows is searched by cross-validation on a random part of
its training rows; no test row is ever seen. Every fold of every candidate
is a trial, stored in TABLE.tune.jsonl. A candidate of which a trial
diverges, fails or is ended by a limit does not count, and the search goes
on. Of equal candidates the one with the largest values is chosen, or the one
with the smallest if the table says so (ties). The file of the chosen settings
also says how many seconds the search took, which reports add to the training
where the table asks for that. A search that would take longer than the table
allows (na_after) is given up, and its cell is shown as NA.
"""


@click.command(epilog=EPILOG)
@click.argument("table", type=TABLE)
@options.datasets_and_learners
@click.option(
    "--subset",
    type=float,
    help="Share of the (training) rows to search on, instead of the table's own.",
)
@click.option(
    "--trials",
    type=int,
    help="Number of permutations per value (and fold), instead of the table's own.",
)
@click.option(
    "--folds", type=int, help="Number of folds of the training rows, instead of the table's own."
)
@options.seed
@options.how_to_run
@options.where_to_run
@click.option(
    "--to",
    type=options.FILE,
    help="File for the chosen settings.  [default: TABLE.tuned.yaml beside the outcomes]",
)
@options.allow_learner
@options.results
def tune(
    table: str,
    subset: float | None,
    trials: int | None,
    folds: int | None,
    to: Path | None,
    results: Path,
    **asked: Any,
) -> None:
    """Search the settings of TABLE as its paper did, and write the best to a file.

    Settings that the paper or its authors' files give are searched only if both a dataset and a
    learner are named. Every trial is stored, so that an interrupted search continues where it
    stopped.
    """
    from okbench.cli.run import progress
    from okbench.papers.commands import run_command
    from okbench.papers.table_catalogue import find, has_own_rows
    from okbench.papers.table_names import file_of
    from okbench.trials.plan.cells import narrowed
    from okbench.trials.plan.user_table import load_of, missing_of
    from okbench.trials.run.environment import here
    from okbench.trials.search import tuned_file
    from okbench.trials.search.tuning import tune as search_through
    from okbench.trials.store.files import Store

    found = find(table, results=results)
    if found.search is None:
        raise UsageError(
            f"{found.name} has no search for settings; add a 'tune:' block to its file"
        )
    search = _search(found.search, subset, trials, folds)
    store = Store.of(results, f"{found.name}.tune")
    chosen = options.asked_of_run(**asked)
    if has_own_rows(found):
        found = narrowed(found, chosen)
    with progress(store) as watch:
        load, missing = load_of(found), missing_of(found)
        searched = replace(found, search=search)
        tuning = search_through(searched, load, missing, store, chosen, watch)
    path = to or file_of(results, found.name, ".tuned.yaml")
    tuned_file.write(path, found, tuning.choices, search, here())
    for choice in tuning.choices:
        click.echo(_line_of(choice))
    click.echo(f"{path}  ({run_command(found, [table], settings=path)})")
    _report_endings(tuning)


def _report_endings(tuning: Tuning) -> None:
    """What the user should know besides the choices, on stderr; the exit code follows from it."""
    # a large step that diverges is no failure
    wrong = [outcome for outcome in tuning.tally.failures if outcome.status == "failed"]
    for outcome in wrong[:5]:
        click.echo(f"{outcome.status}: {outcome.reason}", err=True)
    if tuning.tally.missing:
        raise DataError("not tuned: " + "; ".join(tuning.tally.missing.values()))
    failed = sum(each.endings.get("failed", 0) for c in tuning.choices for each in c.tries)
    if failed:
        raise OkbenchError(
            f"{failed} trials failed, and the values they tried do not count"
            "  (--retry failed runs them again)"
        )


def _search(search: Search, subset: float | None, trials: int | None, folds: int | None) -> Search:
    """The table's search, changed by the options."""
    if subset is not None and not 0 < subset <= 1:
        raise UsageError(f"subset: a share above 0 and at most 1, not {subset:g}")
    if trials is not None and trials < 1:
        raise UsageError(f"trials: at least 1, not {trials}")
    if folds is not None and folds < 2:
        raise UsageError(f"folds: at least 2, not {folds}")
    asked: dict[str, Any] = {"subset": subset, "runs": trials, "folds": folds}
    if subset is not None:  # for every dataset and learner
        asked |= {"subsets": {}, "shares_of": {}}
    if trials is not None:
        asked["runs_of"] = {}
    given = {name: value for name, value in asked.items() if value is not None}
    reasons = {name: why for name, why in search.reasons.items() if name not in given}
    return replace(search, reasons=reasons, **given)


def _line_of(choice: Choice) -> str:
    """One line: the chosen values, and the cost of each value that was tried."""
    from okbench.trials.search.tuning import short, spoken

    if choice.given_up:
        return f"{choice.dataset}  {choice.learner}  NA: {choice.given_up}"
    edge = f" (edge of the range: {', '.join(choice.at_edge)})" if choice.at_edge else ""
    names = [name for round_ in choice.rounds for name in round_.names]
    chosen = spoken(choice.values) or f"{', '.join(names)} none"
    if len(names) == 1:
        costs = [f"{short(each.values[names[0]])}: {_cost(each)}" for each in choice.tries]
    else:
        least = [_cost(round_.chosen) for round_ in choice.rounds if round_.chosen]
        costs = [*least, f"of {len(choice.tries)} tried"]
    return f"{choice.dataset}  {choice.learner}  {chosen}{edge}  [{', '.join(costs)}]"


def _cost(tried: Try) -> str:
    return "not done" if tried.cost is None else f"{tried.cost:.4g}"
