"""okbench report: a table again, from what was measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from okbench.base.errors import UsageError
from okbench.cli.choices import DATASETS, LEARNERS, TABLE

if TYPE_CHECKING:
    from okbench.papers.table_types import Table
    from okbench.trials.plan.options import Options

FORMATS = ("terminal", "md", "csv", "json", "latex")
RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder of measured outcomes.",
)
FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="terminal",
    show_default=True,
    help="How the table is printed.",
)
SETTINGS = click.option(
    "--settings",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Settings chosen by okbench tune, instead of those beside the table.",
)


@click.command()
@click.argument("table", type=TABLE)
@click.option("--datasets", type=DATASETS, help="These datasets only, separated by commas.")
@click.option("--learners", type=LEARNERS, help="These learners only.")
@click.option("--trials", type=int, help="This many row orders, not the table's own number.")
@click.option("--seed", type=int, default=0, show_default=True, help="Outcomes of this seed.")
@click.option(
    "--explain",
    nargs=2,
    metavar="LEARNER DATASET",
    help="The trials behind one cell, and the command that repeats each.",
)
@click.option("--curve", is_flag=True, help="Draw the curves with letters, for a terminal.")
@SETTINGS
@RESULTS
@FORMAT
def report(
    table: str,
    datasets: tuple[str, ...] | None,
    learners: tuple[str, ...] | None,
    trials: int | None,
    seed: int,
    explain: tuple[str, str] | None,
    curve: bool,
    settings: Path | None,
    results: Path,
    form: str,
) -> None:
    """Print TABLE from what was measured, beside what the paper prints. Runs nothing."""
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.trials.plan.options import Options
    from okbench.trials.store.files import Store

    if (explain and curve) or ((explain or curve) and form != "terminal"):
        raise UsageError("--explain and --curve are text, each alone: no --format goes with them")
    found = find(table, tuned=settings)
    path = Store.of(results, found.trials_of).path
    if not path.exists():
        raise UsageError(f"nothing is measured yet: no {path}  (okbench run {table})")
    options = Options(datasets=datasets, learners=learners, trials=trials, seed=seed)
    if explain:
        from okbench.reports.load import load_table
        from okbench.reports.tables.explain import explain as explained
        from okbench.reports.tables.render import written

        named = [table, *(["--settings", str(settings)] if settings else [])]
        loaded = load_table(found, results, options, None, versions())
        text = explained(loaded, *explain, named)
        click.echo(written(text, sys.stdout.encoding), nl=False)
        return
    if curve:
        import shutil

        from okbench.reports.figures.curve_text import stored_curves

        width = shutil.get_terminal_size().columns
        text = stored_curves(found, results, options, width, sys.stdout.encoding, versions())
        click.echo(text, nl=False)
        return
    print_table(found, options, results, form)


def print_table(table: Table, options: Options, results: Path, form: str) -> None:
    """The table or figure as stored, on stdout."""
    from okbench.learners.registry import versions
    from okbench.reports.pages import stored_text

    text = stored_text(table, results, options, form, sys.stdout.encoding, versions())
    click.echo(text, nl=False)
