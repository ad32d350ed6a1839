"""okbench plot: a figure drawn from stored outcomes, or the drawings of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from okbench.base.errors import UsageError
from okbench.cli import options
from okbench.cli.choices import TABLE

EPILOG = """\b
Examples:
  okbench plot lsokl/figure1
  okbench plot rrf/figure1 --results results --to figures
  okbench plot own/my.csv               after okbench run --data my.csv
  okbench plot own/my.csv --draw frontier --size column --font serif
"""


@click.command(epilog=EPILOG)
@click.argument("figure", type=TABLE)
@options.which_trials
@options.results_or_baselines
@click.option(
    "--draw",
    "kinds",
    type=click.Choice(["curves", "ranks", "frontier", "memory"]),
    multiple=True,
    help="Of a table, only this: the metric over the rows seen, the mean ranks, or the metric"
    " against seconds or bytes.  [default: all]",
)
@click.option(
    "--size",
    type=click.Choice(["column", "page"]),
    default="page",
    show_default=True,
    help="Width: one column of a page of two, or the page.",
)
@click.option("--font", default="", metavar="NAME", help="Font, such as serif.")
@click.option("--title", is_flag=True, help="Put title and notes into the picture, not on stderr.")
@click.option(
    "--to",
    type=options.FOLDER,
    help="Folder for the drawing.  [default: that of --results, or runs]",
)
@options.settings
def plot(
    figure: str,
    results: Path | None,
    to: Path | None,
    settings: Path | None,
    kinds: tuple[Any, ...],
    size: Any,
    font: str,
    title: bool,
    **which: Any,
) -> None:
    """Draw FIGURE from stored outcomes, as PDF, SVG and PNG, with the plotted data as CSV.

    Of a table, the metric is drawn over the rows that each learner has seen, against its seconds
    and against its bytes, and the mean ranks of the learners. This runs nothing.
    """
    from okbench.base.whole_files import write_whole
    from okbench.learners.registry import versions
    from okbench.papers.commands import command, run_command
    from okbench.papers.table_catalogue import find
    from okbench.papers.table_names import file_of
    from okbench.reports.figures.drawings import KINDS, drawings
    from okbench.reports.figures.page_look import PageLook
    from okbench.reports.load import load_table
    from okbench.reports.results_paths import RUNS
    from okbench.trials.plan.options import Options
    from okbench.trials.store.files import Store

    found = find(figure, tuned=settings, results=results or RUNS)
    if found.figure is None and found.kind != "table":
        raise UsageError(f"{found.name} is no figure  ({command('report', figure)})")
    if found.figure and kinds:
        raise UsageError(f"--draw goes with a table, and {found.name} is a figure")
    place = options.folder_of(found, figure, results)
    contents = Store.of(place, found.trials_of).read()
    loaded = load_table(found, place, Options(**which), None, versions(), contents)
    made = drawings(loaded, PageLook(size, font, title), kinds or KINDS)
    if not any(one.files for one in made):
        raise UsageError(
            f"there are {made[0].lack} of {found.name} in {place}  ({run_command(found, [figure])})"
        )
    for one in made:
        for ending, content in (one.files or {}).items():
            path = file_of(to or results or RUNS, f"{found.name}{one.suffix}", f".{ending}")
            write_whole(path, content)
            click.echo(path)
        if one.lack:
            click.echo(f"not drawn: {one.kind}, because there are {one.lack}", err=True)
        if one.absent:
            click.echo(
                f"left out, because there are no outcomes: {', '.join(one.absent)}"
                f"  ({run_command(found, [figure], one.absent)})",
                err=True,
            )
        if one.notes and not title:
            click.echo(f"{one.kind}: {' '.join(one.notes)}", err=True)
