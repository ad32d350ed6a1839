"""okbench run: the trials of a table, then the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.base.quantities import spoken_time
from okbench.cli import options
from okbench.cli.choices import COUNTS, SIZE, TABLE
from okbench.cli.own_rows import (
    READING_NAMES,
    additions,
    additions_of,
    column_options,
    defined,
    labels_with_added,
    own_table,
    run_options,
    searched_first,
)
from okbench.cli.report import print_table, print_varied

if TYPE_CHECKING:
    from okbench.papers.additions import Additions
    from okbench.papers.table_types import Table
    from okbench.trials.plan.options import Options
    from okbench.trials.plan.planning import Load
    from okbench.trials.run.estimate import Missing, Overlong, Summary
    from okbench.trials.run.run_table import Tally
    from okbench.trials.store.files import Store

_WORKERS_SHOWN = 4  # of a cluster, beside the bar

EPILOG = """\b
Examples:
  okbench run demo
  okbench run table5 --datasets german,a9a --learners FOGD,NOGD --trials 5
  okbench run table5 --datasets german --learners FOGD --repetition 7 --again
  okbench run table5 --dry-run
  okbench run table5 --timing
  okbench run table7 --vary inferred --learners FOGD --trials 3
  okbench run table5 --datasets german --with mine:Mine --set Mine.depth=3
  okbench run --data rows.csv --target y
  okbench run --data rows.csv --target y --order blocks
  okbench run --data rows.csv --target y --learners FOGD,RBP,mine:Mine
  okbench run table5 --backend dask --scheduler tcp://10.0.0.1:8786
  okbench run table5 --backend ray --address auto --dry-run
"""


@click.command(epilog=EPILOG)
@click.argument("table", type=TABLE, required=False)
@options.which_trials
@click.option(
    "--repetition",
    "repetitions",
    type=COUNTS,
    help="Only these permutations, counted from 0: 0,7,19.",
)
@options.how_to_run
@options.where_to_run
@click.option(
    "--memory",
    type=SIZE,
    help="End a trial whose learner takes more memory: 512M or 2G. A call is ended 10 % above, or"
    " 64 MB.",
)
@click.option("--timing", is_flag=True, help="Measure seconds: run one trial at a time.")
@click.option("--again", is_flag=True, help="Run trials again that are done.")
@click.option("--fetch", "fetching", is_flag=True, help="Download the datasets that are missing.")
@click.option("--dry-run", is_flag=True, help="Show what would run, and run nothing.")
@options.order
@options.vary
@options.allow_learner
@options.settings
@options.results
@options.table_format
@additions
@click.option("--data", type=options.PATH, help="File of your own rows, instead of a table.")
@column_options
@run_options
@click.option(
    "--tune/--no-tune",
    "tuning",
    default=None,
    help="On your own rows: search widths and steps on a sample of 1,000 rows first, or take the"
    " median distance and the learners' defaults.  [default: --tune]",
)
def run(
    table: str | None,
    settings: Path | None,
    results: Path,
    form: str,
    order: str | None,
    vary: str | None,
    dry_run: bool,
    fetching: bool,
    **asked: Any,
) -> None:
    """Run the trials of TABLE that are not done yet, then print the table.

    Each outcome is stored as soon as its trial ends, so that an interrupted run continues where it
    stopped. With --data the learners that --learners names, or all that do the task, run on rows
    of your own; from then on, the table is called own/FILE in all commands. With --vary the
    settings that the paper does not give are varied instead, with 3 permutations per value unless
    --trials is given.
    """
    from okbench.learners.registry import versions
    from okbench.trials.plan.available import registered
    from okbench.trials.plan.planning import refuse_invalid_settings
    from okbench.trials.store.files import Store

    reading = {name: asked.pop(name) for name in ("data", "tuning", *READING_NAMES)}
    more = additions_of(asked.pop("with_learners"), asked.pop("with_settings"))
    with redirect_stdout(sys.stderr):  # what learners print as they are imported
        page, load, missing = _source(
            table, settings, results, more, order, dry_run, asked, **reading
        )
    # a table of complexities is about seconds, and has the learners that exist
    complexity = page.kind == "complexity"
    found = registered(page, versions())[0] if complexity else page
    asked["timing"] = asked["timing"] or complexity
    chosen = options.asked_of_run(**asked)
    store = Store.of(results, found.trials_of)
    run_trials, plan_summary = _commands(vary)
    with redirect_stdout(sys.stderr):
        refuse_invalid_settings(found, chosen)
    if dry_run:
        with redirect_stdout(sys.stderr):
            summary = plan_summary(found, load, missing, store, chosen)
        _print_plan(summary, chosen)
        return
    if fetching:
        _fetch(found, chosen)
    with progress(store) as watch:
        tally = run_trials(found, load, missing, store, chosen, watch)
    if vary:
        # a value of the range that diverges is a result
        tally.failures = [one for one in tally.failures if one.status == "failed"]
        tally.failed_before = [one for one in tally.failed_before if one.status == "failed"]
        print_varied(page, chosen, results, form)
    else:
        print_table(page, chosen, results, form)
    click.echo(_kept(tally, store), err=True)
    _report_endings(tally, chosen)


def _commands(vary: str | None) -> tuple[Callable[..., Tally], Callable[..., Summary]]:
    """What runs the trials and what counts them: of the table, or of its varied settings."""
    if vary:
        from okbench.trials.search.vary import dry_run_varied, run_varied

        return run_varied, dry_run_varied
    from okbench.trials.run.estimate import dry_run
    from okbench.trials.run.run_table import run

    return run, dry_run


def _source(
    table: str | None,
    settings: Path | None,
    results: Path,
    more: Additions,
    order: str | None,
    dry_run: bool,
    asked: dict[str, Any],
    data: Path | None,
    tuning: bool | None,
    **reading: Any,
) -> tuple[Table, Load, Missing]:
    """A table and its rows: a paper's, or the user's own, whose settings are searched first."""
    from okbench.papers.additions import Additions
    from okbench.papers.table_catalogue import find, has_own_rows
    from okbench.trials.plan.user_table import load_of, missing_of, with_rows_in_hand

    if (table is None) == (data is None):
        raise UsageError("name a table, or your own rows with --data  (okbench list tables)")
    if data is not None:
        options.refuse_given(("settings", "fetching", "vary", "datasets"), "rows of your own")
        searched = tuning is not False
        own = own_table(
            data, learners=asked["learners"], more=more, runs=asked["trials"], searched=searched,
            order=order, **reading,
        )  # fmt: skip
        found, asked["learners"] = defined(own, results, keep=not dry_run)
        table, more = found.name, Additions()
    else:
        assert table is not None
        options.refuse_given(READING_NAMES, "a table")
        found = find(table, tuned=settings, results=results, more=more)
        found = found.in_orders(options.ORDERS[order]) if order else found
        asked["learners"] = labels_with_added(asked["learners"], found, more)
    load, missing = load_of(found), missing_of(found)
    if not has_own_rows(found):
        options.refuse_given(("tuning",), "a table of a paper; okbench tune searches its settings")
        return found, load, missing
    found = with_rows_in_hand(found)
    wanted = settings is None and tuning is not False and not dry_run
    if wanted and searched_first(found, results, options.asked_of_run(**asked)):
        found = with_rows_in_hand(find(table, results=results, more=more))
        found = found.in_orders(options.ORDERS[order]) if order else found
    return found, load, missing


def _fetch(table: Table, options: Options) -> None:
    """Fetch the missing files that the run needs; the run itself reports what is still missing."""
    from okbench import datasets
    from okbench.datasets.fetch.fetching import fetch
    from okbench.trials.plan.cells import chosen_cells

    rows = dict.fromkeys(row for row, _ in chosen_cells(table, options))
    absent = [row.name for row in rows if datasets.missing(row.name, row.variant)]
    for result in fetch(absent) if absent else ():
        if not result.ok:
            click.echo(f"{result.file}: {result.state}: {result.message}", err=True)


@contextmanager
def progress(store: Store) -> Iterator[Callable[[Tally], None]]:
    """A bar on stderr that counts ended trials; silent if stderr is not a terminal. After Ctrl-C
    stderr says what is kept in the store.

    Meanwhile what learners print goes to stderr too: stdout is for results.
    """
    from tqdm import tqdm

    with (
        tqdm(disable=None, unit=" trials", dynamic_ncols=True) as bar,
        redirect_stdout(sys.stderr),
    ):
        said = 0  # notices
        latest = None

        def watch(tally: Tally) -> None:
            nonlocal said, latest
            latest = tally
            if not tally.endings and not tally.notices:
                for line in _overlong(tally.overlong, tally.time_limit):
                    click.echo(line, err=True)
            for notice in tally.notices[said:]:
                bar.write(notice, file=sys.stderr)
            said = len(tally.notices)
            bar.total = tally.total
            busiest = dict(tally.workers.most_common(_WORKERS_SHOWN))
            bar.set_postfix({**tally.endings, **busiest}, refresh=False)
            bar.update(tally.endings.total() - bar.n)

        try:
            yield watch
        except KeyboardInterrupt:
            if latest is not None:
                click.echo(f"\n{_kept(latest, store)}; the same command continues", err=True)
            raise


def _kept(tally: Tally, store: Store) -> str:
    """How many trials of a run ended, and where their outcomes are."""
    if not tally.total:
        return f"no trial was left to run: the outcomes are in {store.path}"
    ended = tally.endings.total() - tally.endings["interrupted"]
    return f"trials that ended: {ended} of {tally.total}, kept in {store.path}"


def _needs_login(row: str) -> bool:
    """Whether the dataset of a row, `name` or `name:variant`, cannot be fetched unattended."""
    from okbench.datasets.catalogue.dataset_catalogue import is_known, spec

    name = row.partition(":")[0]
    return is_known(name) and bool(spec(name).by_hand)


def _report_endings(tally: Tally, asked: Options) -> None:
    """What the user should know besides the table, on stderr; the exit code follows from it."""
    from okbench.papers.commands import command

    if tally.recovered:
        click.echo(tally.recovered, err=True)
    if tally.workers:
        counts = ", ".join(f"{name} {count}" for name, count in tally.workers.most_common())
        click.echo(f"trials by worker: {counts}", err=True)
    for outcome in tally.failures[:5]:
        click.echo(f"{outcome.status}: {outcome.reason}", err=True)
    if before := tally.failed_before:
        first, count = before[0], len(before)
        click.echo(
            f"{count} trial{'s' * (count != 1)} failed or diverged in an earlier run"
            "  (--retry failed,diverged runs them again). The first of them"
            f"  ({command('show', first.trial.id)}): {first.status}: {first.reason}",
            err=True,
        )
    by_hand = set() if asked.datasets else {name for name in tally.missing if _needs_login(name)}
    if by_hand:
        steps = "; ".join(tally.missing[name] for name in sorted(by_hand))
        click.echo(f"left out, because a login is needed: {steps}", err=True)
    if tally.missing.keys() - by_hand:
        reasons = [why for name, why in tally.missing.items() if name not in by_hand]
        raise DataError("not run: " + "; ".join(reasons))
    if tally.failures:
        count = len(tally.failures)
        raise OkbenchError(
            f"{count} of {tally.total} trials failed or diverged"
            "  (--retry failed,diverged runs them again)"
        )


def _print_plan(summary: Summary, options: Options) -> None:
    click.echo(
        f"{summary.table}: {summary.total} trial{'s' * (summary.total != 1)}, {summary.done} done, "
        f"{summary.to_run} to run"
    )
    if summary.measured:
        rest = summary.to_run - summary.measured
        unknown = f", {rest} more were never measured" if rest else ""
        click.echo(
            f"  about {spoken_time(summary.seconds)} with {options.at_once} at a time and "
            f"{summary.bytes / 1e6:.0f} MB, from earlier outcomes{unknown}"
        )
    elif summary.to_run:
        click.echo("  the time is unknown: there are no earlier outcomes to estimate it from")
    for line in _memory(summary):
        click.echo(f"  {line}")
    for line in summary.submitted:
        click.echo(f"  {line}")
    for line in _overlong(summary.overlong, summary.time_limit):
        click.echo(f"  {line}")
    for reason in summary.missing.values():
        click.echo(f"  missing: {reason}")


def _memory(summary: Summary) -> Iterator[str]:
    """The largest need that can be computed, and what is no part of it."""
    from okbench.base.quantities import spoken_bytes
    from okbench.trials.run.memory_needs import largest

    need = largest(need for need in summary.needs if need.model is not None)
    if need is not None:
        there = f"; {spoken_bytes(summary.available)} are available" if summary.available else ""
        yield (
            f"memory: {spoken_bytes(need.total)} for {need.learner} × {need.dataset}: "
            f"{need.arithmetic}{there}"
        )
    growing = [need for need in summary.needs if need.growth]
    if growing:
        most = max(growing, key=lambda need: need.growth)
        yield (
            f"not counted: learners without a budget ({len(growing)}), of which {most.learner} × "
            f"{most.dataset} grows up to {spoken_bytes(most.growth)} if every row becomes a support"
        )
    unknown = dict.fromkeys(n.learner for n in summary.needs if n.model is None and not n.growth)
    if unknown:
        yield f"not counted: what user-defined learners hold ({', '.join(unknown)})"


def _overlong(cells: Sequence[Overlong], limit: float) -> Iterator[str]:
    for cell in cells:
        yield (
            f"over the limit of {spoken_time(limit)}: {cell.learner} × {cell.dataset}, "
            f"{cell.trials} trials of about {spoken_time(cell.seconds)} by earlier outcomes"
        )
