"""okbench run: the trials of a table, then the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.base.quantities import spoken_time
from okbench.cli.choices import COUNTS, DATASETS, ENDINGS, LEARNERS, SIZE, TABLE, TIME
from okbench.cli.own import READING_NAMES, own_file, reading_options
from okbench.cli.report import FORMAT, RESULTS, SETTINGS, print_table

if TYPE_CHECKING:
    from okbench.papers.table_types import Table
    from okbench.trials.plan.options import Options
    from okbench.trials.plan.planning import Load
    from okbench.trials.run.estimate import Missing, Overlong, Summary
    from okbench.trials.run.run_table import Tally

EPILOG = """\b
  okbench run demo
  okbench run table5 --datasets german,a9a --learners FOGD,NOGD --trials 5
  okbench run table5 --datasets german --learners FOGD --repetition 7 --again
  okbench run table5 --dry-run
  okbench run table5 --timing
  okbench run --data rows.csv --target y
"""


@click.command(epilog=EPILOG)
@click.argument("table", type=TABLE, required=False)
@click.option("--datasets", type=DATASETS, help="These datasets only, separated by commas.")
@click.option("--learners", type=LEARNERS, help="These learners only.")
@click.option("--trials", type=int, help="This many row orders, not the table's own number.")
@click.option(
    "--repetition",
    "repetitions",
    type=COUNTS,
    help="These row orders only, counted from 0: 0,7,19.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Root of all chance.")
@click.option("-j", "--jobs", type=int, help="Trials at a time; every core if not told.")
@click.option("--backend", default="", help="threads, processes, or a joblib backend.")
@click.option(
    "--time-limit",
    type=TIME,
    help="Ends a trial, as 90s or 2h inside the learner; TABLE's own if not told.",
)
@click.option("--memory", type=SIZE, help="Ends a trial whose model holds more, as 512M or 2G.")
@click.option("--timing", is_flag=True, help="Measure seconds: one trial at a time.")
@click.option("--retry", type=ENDINGS, help="Run these endings again: failed, timeout, …")
@click.option("--again", is_flag=True, help="Run everything again.")
@click.option("--fetch", "fetching", is_flag=True, help="Fetch datasets that are not here.")
@click.option("--dry-run", is_flag=True, help="Tell what would run, and run nothing.")
@SETTINGS
@RESULTS
@FORMAT
@reading_options
def run(
    table: str | None,
    settings: Path | None,
    results: Path,
    form: str,
    dry_run: bool,
    fetching: bool,
    **asked: Any,
) -> None:
    """Run the trials of TABLE that are not done yet, then print it.

    Each outcome is stored as its trial ends, so a run that is cut short goes on where it stopped.
    With --data every learner runs on rows of your own.
    """
    from okbench.learners.registry import versions
    from okbench.trials.plan.available import registered
    from okbench.trials.run.estimate import dry_run as tell_plan
    from okbench.trials.run.run_table import run
    from okbench.trials.store.files import Store

    reading = {name: asked.pop(name) for name in READING_NAMES}
    with redirect_stdout(sys.stderr):  # what learners print as they are imported
        page, load, missing = _source(table, settings, **reading)
    # a table of orders is a matter of seconds, and of the learners there are
    orders = page.kind == "complexity"
    found = registered(page, versions())[0] if orders else page
    asked["timing"] = asked["timing"] or orders
    options = _options(**asked)
    store = Store.of(results, found.trials_of)
    if dry_run:
        with redirect_stdout(sys.stderr):
            summary = tell_plan(found, load, missing, store, options)
        _tell_plan(summary, options)
        return
    if fetching:
        _fetch(found, options)
    with progress() as watch:
        tally = run(found, load, missing, store, options, watch)
    print_table(page, options, results, form)
    _tell_endings(tally)


def _source(
    table: str | None, settings: Path | None, data: Path | None, in_order: bool, **told: Any
) -> tuple[Table, Load, Missing]:
    """A table and its rows: a paper's, or a person's own."""
    from okbench import datasets
    from okbench.papers.table_catalogue import find

    if (table is None) == (data is None):
        raise UsageError("name a table, or your own rows with --data  (okbench list tables)")
    if table is not None:
        _refuse_strays(READING_NAMES, "a table")
        return find(table, tuned=settings), datasets.load, datasets.missing
    assert data is not None
    _refuse_strays(("settings", "fetching"), "rows of your own")
    file = own_file(data, **told)
    found = file.table(in_order)
    for note in file.notes:
        click.echo(note, err=True)
    return found, file, lambda name, variant: None


def _refuse_strays(names: Collection[str], what: str) -> None:
    """Refuse options that mean nothing for what is run."""
    context = click.get_current_context()
    for option in context.command.params:
        told = context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        if told and option.name in names:
            raise UsageError(f"{option.opts[0]} does not go with {what}")


def _options(
    jobs: int | None, time_limit: float | None, memory: float | None, retry: Any, **rest: Any
) -> Options:
    import math
    import os

    from okbench.trials.plan.options import Options

    return Options(
        jobs=(os.cpu_count() or 1) if jobs is None else jobs,
        time_limit=time_limit,
        memory_limit=memory or math.inf,
        retry=frozenset(retry or ()),
        **rest,
    )


def _fetch(table: Table, options: Options) -> None:
    """Fetch what the run needs and is not here; what fails is told by the run itself."""
    from okbench import datasets
    from okbench.datasets.fetch.fetching import fetch
    from okbench.trials.plan.cells import chosen_cells

    rows = dict.fromkeys(row for row, _ in chosen_cells(table, options))
    absent = [row.name for row in rows if datasets.missing(row.name, row.variant)]
    for result in fetch(absent) if absent else ():
        if not result.ok:
            click.echo(f"{result.file}: {result.state}: {result.message}", err=True)


@contextmanager
def progress() -> Iterator[Callable[[Tally], None]]:
    """A bar on stderr that counts ended trials; silent when nobody is looking.

    Meanwhile what learners print goes to stderr too: stdout is for results.
    """
    from tqdm import tqdm

    with (
        tqdm(disable=None, unit=" trials", dynamic_ncols=True) as bar,
        redirect_stdout(sys.stderr),
    ):

        def watch(tally: Tally) -> None:
            if not tally.endings:
                for line in _overlong(tally.overlong, tally.time_limit):
                    click.echo(line, err=True)
            bar.total = tally.total
            bar.set_postfix(dict(tally.endings), refresh=False)
            bar.update(tally.endings.total() - bar.n)

        yield watch


def _tell_endings(tally: Tally) -> None:
    """What a person should know besides the table, on stderr; the exit code says it too."""
    if tally.recovered:
        click.echo(tally.recovered, err=True)
    for outcome in tally.failures[:5]:
        click.echo(f"{outcome.status}: {outcome.reason}", err=True)
    if tally.missing:
        raise DataError("not run: " + "; ".join(tally.missing.values()))
    if tally.failures:
        count = len(tally.failures)
        raise OkbenchError(
            f"{count} of {tally.total} trials failed or diverged"
            "  (--retry failed,diverged runs them again)"
        )


def _tell_plan(summary: Summary, options: Options) -> None:
    click.echo(
        f"{summary.table}: {summary.total} trials, {summary.done} done, {summary.to_run} to run"
    )
    if summary.measured:
        rest = summary.to_run - summary.measured
        unknown = f", {rest} more never measured" if rest else ""
        click.echo(
            f"  about {spoken_time(summary.seconds)} with {options.jobs} at a time and "
            f"{summary.bytes / 1e6:.0f} MB, from earlier outcomes{unknown}"
        )
    elif summary.to_run:
        click.echo("  nothing like it was measured here yet, so no time can be told")
    for line in _overlong(summary.overlong, summary.time_limit):
        click.echo(f"  {line}")
    for said in summary.missing.values():
        click.echo(f"  missing: {said}")


def _overlong(cells: Sequence[Overlong], limit: float) -> Iterator[str]:
    for cell in cells:
        yield (
            f"over the limit of {spoken_time(limit)}: {cell.learner} × {cell.dataset}, "
            f"{cell.trials} trials of about {spoken_time(cell.seconds)} by earlier outcomes"
        )
