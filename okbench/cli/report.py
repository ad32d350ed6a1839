"""okbench report: a table, printed from stored outcomes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import UsageError
from okbench.cli import options
from okbench.cli.choices import TABLE
from okbench.cli.own_rows import additions, additions_of, labels_with_added

if TYPE_CHECKING:
    from okbench.papers.table_types import Table
    from okbench.reports.tables.render import Layout
    from okbench.trials.plan.options import Options

EPILOG = """\b
Examples:
  okbench report demo
  okbench report table5 --results results --datasets german,a9a --format latex
  okbench report table5 --layout paper
  okbench report table5 --explain FOGD german
  okbench report table7 --vary inferred --datasets satimage
  okbench report table5 --with mine:Mine --datasets german
  okbench report own/my.csv             after okbench run --data my.csv
"""


@click.command(epilog=EPILOG)
@click.argument("table", type=TABLE)
@options.which_trials
@click.option(
    "--explain",
    nargs=2,
    metavar="LEARNER DATASET",
    help="Show the trials behind one cell, and the command that repeats each.",
)
@click.option("--curve", is_flag=True, help="Draw the curves as text, for a terminal.")
@options.order
@options.vary
@additions
@options.settings
@options.results_or_baselines
@options.table_format
@options.layout
def report(
    table: str,
    explain: tuple[str, str] | None,
    curve: bool,
    order: str | None,
    vary: str | None,
    settings: Path | None,
    results: Path | None,
    form: str,
    layout: Layout | None,
    with_learners: tuple[tuple[str, ...], ...],
    with_settings: tuple[str, ...],
    **which: Any,
) -> None:
    """Print TABLE from stored outcomes, beside the numbers of the paper. This runs nothing.

    If runs/ has no outcomes of TABLE, the baselines of the project are printed.
    """
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.results_paths import RUNS
    from okbench.trials.plan.options import Options

    if (explain and curve) or ((explain or curve) and form != "terminal"):
        raise UsageError("--explain, --curve and --format exclude each other")
    if layout and (explain or curve or vary):
        raise UsageError("--layout excludes --explain, --curve and --vary")
    if vary and (explain or curve):
        raise UsageError("--vary excludes --explain and --curve")
    more = additions_of(with_learners, with_settings)
    found = find(table, tuned=settings, results=results or RUNS, more=more)
    if layout and found.kind != "table":
        raise UsageError(f"--layout goes with a table of scores, and {found.name} is none")
    found = found.in_orders(options.ORDERS[order]) if order else found
    which["learners"] = labels_with_added(which["learners"], found, more)
    results = options.folder_of(found, table, results)
    asked = Options(**which)
    if explain:
        from okbench.reports.load import load_table
        from okbench.reports.tables.explain import explain as explained
        from okbench.reports.tables.render import written

        named = [table, *(["--settings", str(settings)] if settings else [])]
        named += ["--order", order] if order else []
        named += _options_that_add(with_learners, with_settings)
        loaded = load_table(found, results, asked, None, versions())
        text = explained(loaded, *explain, named)
        click.echo(written(text, sys.stdout.encoding), nl=False)
    elif curve:
        from okbench.reports.figures.curve_text import stored_curves

        width = options.page_width()
        text = stored_curves(found, results, asked, width, sys.stdout.encoding, versions())
        click.echo(text, nl=False)
    elif vary:
        print_varied(found, asked, results, form)
    else:
        print_table(found, asked, results, form, layout)


def print_table(
    table: Table, asked: Options, results: Path, form: str, layout: Layout | None = None
) -> None:
    """The table or figure as stored, on stdout."""
    from okbench.learners.registry import versions
    from okbench.reports.pages import stored_text

    text = stored_text(
        _with_chance(table),
        results,
        asked,
        form,
        sys.stdout.encoding,
        versions(),
        layout,
        options.page_width(),
    )
    click.echo(text, nl=False)


def _with_chance(table: Table) -> Table:
    """The table with the metric of a constant answer on datasets that the user added, so that its
    report warns of learners that are no better."""
    from okbench.datasets.catalogue.dataset_catalogue import is_known, spec, user_datasets

    if not user_datasets().is_file():
        return table
    added = [row.name for row in table.datasets if is_known(row.name)]
    if not any(spec(name).user_defined for name in added):
        return table
    from okbench.trials.plan.user_table import with_chance_of_added

    return with_chance_of_added(table)


def print_varied(table: Table, asked: Options, results: Path, form: str) -> None:
    """What the ranges of its settings give, as stored, on stdout."""
    from okbench.learners.registry import versions
    from okbench.reports.pages import varied_text

    text = varied_text(
        table, results, asked, form, sys.stdout.encoding, versions(), options.page_width()
    )
    click.echo(text, nl=False)


def _options_that_add(learners: Sequence[Sequence[str]], settings: Sequence[str]) -> list[str]:
    """The words of a command that add these learners to a table."""
    pairs = [("--with", ",".join(one)) for one in learners]
    pairs += [("--set", one) for one in settings]
    return [word for pair in pairs for word in pair]
