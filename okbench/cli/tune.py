"""okbench tune: choose the settings that a paper does not give, as the paper did."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.cli.choices import DATASETS, ENDINGS, LEARNERS, TABLE, TIME
from okbench.cli.report import RESULTS

if TYPE_CHECKING:
    from okbench.papers.table_types import Search
    from okbench.trials.plan.options import Options
    from okbench.trials.search.tuning import Choice, Try, Tuning

EPILOG = """\b
  okbench tune table5 --datasets a9a,w7a
  okbench tune table5 --datasets german --learners FOGD --trials 5
  okbench run table5 --settings runs/lsokl/table5.tuned.yaml
"""


@click.command(epilog=EPILOG)
@click.argument("table", type=TABLE)
@click.option("--datasets", type=DATASETS, help="These datasets only, separated by commas.")
@click.option("--learners", type=LEARNERS, help="These learners only.")
@click.option("--subset", type=float, help="Share of the rows to search on, not the table's own.")
@click.option("--trials", type=int, help="Row orders a value, not the table's own number.")
@click.option("--seed", type=int, default=0, show_default=True, help="Root of all chance.")
@click.option("-j", "--jobs", type=int, help="Trials at a time; every core if not told.")
@click.option("--time-limit", type=TIME, help="Ends a trial, as 90s or 2h inside the learner.")
@click.option("--retry", type=ENDINGS, help="Run these endings again: failed, timeout, …")
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File the choices go to; TABLE.tuned.yaml in the results if not told.",
)
@RESULTS
def tune(
    table: str,
    subset: float | None,
    trials: int | None,
    to: Path | None,
    results: Path,
    **asked: Any,
) -> None:
    """Try what TABLE's paper searched, every value or combination, and write down the best.

    Only what neither the paper nor its authors' files give is searched for, unless both a dataset
    and a learner are named. Everything tried is stored; a search that is cut short goes on.
    """
    from okbench import datasets
    from okbench.cli.run import progress
    from okbench.papers.table_catalogue import find
    from okbench.trials.run.environment import here
    from okbench.trials.search import tuned_file
    from okbench.trials.search.tuning import tune as search_through
    from okbench.trials.store.files import Store

    found = find(table)
    if found.search is None:
        raise UsageError(f"{found.name} does not say how to tune; give it a 'tune:' block")
    search = _search(found.search, subset, trials)
    found = replace(found, search=search)
    store = Store.of(results, f"{found.name}.tune")
    options = _options(**asked)
    with progress() as watch:
        tuning = search_through(found, datasets.load, datasets.missing, store, options, watch)
    path = to or results / f"{found.name}.tuned.yaml"
    tuned_file.write(path, found, tuning.choices, search, here())
    for choice in tuning.choices:
        click.echo(_told(choice))
    command = shlex.join(["okbench", "run", table, "--settings", str(path)])
    click.echo(f"{path}  ({command})")
    _tell_endings(table, tuning)


def _tell_endings(table: str, tuning: Tuning) -> None:
    """What a person should know besides the choices, on stderr; the exit code says it too."""
    # that a large step diverges is no news
    wrong = [outcome for outcome in tuning.tally.failures if outcome.status == "failed"]
    for outcome in wrong[:5]:
        click.echo(f"{outcome.status}: {outcome.reason}", err=True)
    if tuning.tally.missing:
        raise DataError("not tuned: " + "; ".join(tuning.tally.missing.values()))
    failed = sum(each.endings.get("failed", 0) for c in tuning.choices for each in c.tries)
    if failed:
        raise OkbenchError(
            f"{failed} trials failed, and the values they tried do not count"
            f"  (okbench tune {table} --retry failed)"
        )


def _options(
    jobs: int | None, time_limit: float | None, retry: Sequence[str] | None, **rest: Any
) -> Options:
    import os

    from okbench.trials.plan.options import Options

    jobs = (os.cpu_count() or 1) if jobs is None else jobs
    endings: Any = frozenset(retry or ())
    return Options(jobs=jobs, time_limit=time_limit, retry=endings, **rest)


def _search(search: Search, subset: float | None, trials: int | None) -> Search:
    """The table's search with what was asked for in its place."""
    if subset is not None and not 0 < subset <= 1:
        raise UsageError(f"subset: a share above 0 and at most 1, not {subset:g}")
    if trials is not None and trials < 1:
        raise UsageError(f"trials: at least 1, not {trials}")
    everywhere: dict[str, float] | None = None if subset is None else {}  # no dataset apart
    asked: dict[str, Any] = {"subset": subset, "subsets": everywhere, "runs": trials}
    told = {name: value for name, value in asked.items() if value is not None}
    reasons = {name: why for name, why in search.reasons.items() if name not in told}
    return replace(search, reasons=reasons, **told)


def _told(choice: Choice) -> str:
    """One line: what was chosen, and what it came to beside what else was tried."""
    from okbench.trials.search.tuning import short, spoken

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
