"""okbench plot: a figure drawn from stored outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from okbench.base.errors import UsageError
from okbench.cli import options
from okbench.cli.choices import TABLE

EPILOG = """\b
Examples:
  okbench plot lsokl/figure4
  okbench plot rrf/figure1 --results results --to figures
"""


@click.command(epilog=EPILOG)
@click.argument("figure", type=TABLE)
@options.which_trials
@options.results
@click.option(
    "--to",
    type=options.FOLDER,
    help="Folder for the drawing.  [default: the folder of the outcomes]",
)
@options.settings
def plot(figure: str, results: Path, to: Path | None, settings: Path | None, **which: Any) -> None:
    """Draw FIGURE from stored outcomes, as SVG and PNG, with the plotted data as CSV.

    This runs nothing.
    """
    from okbench.base.whole_files import write_whole
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.papers.table_names import file_of
    from okbench.reports.figures.draw import images
    from okbench.reports.figures.figure_data import picture_of
    from okbench.reports.figures.text import csv_of
    from okbench.reports.load import load_table
    from okbench.trials.plan.options import Options

    found = find(figure, tuned=settings)
    if found.figure is None:
        raise UsageError(f"{found.name} is a table, not a figure  (okbench report {found.name})")
    picture = picture_of(load_table(found, results, Options(**which), None, versions()))
    if not picture.panels:
        raise UsageError(
            f"there are no outcomes of {found.name} in {results}  (okbench run {found.name})"
        )
    files = {**images(picture), "csv": csv_of(picture).encode("utf-8")}
    for ending, content in files.items():
        path = file_of(to or results, found.name, f".{ending}")
        write_whole(path, content)
        click.echo(path)
    if picture.absent:
        click.echo(
            f"left out, because there are no outcomes: {', '.join(picture.absent)}"
            f"  (okbench run {found.name} --datasets {','.join(picture.absent)})",
            err=True,
        )
