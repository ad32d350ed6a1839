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
  okbench plot lsokl/figure1
  okbench plot rrf/figure1 --results results --to figures
  okbench plot own/my.csv               after okbench run --data my.csv
"""


@click.command(epilog=EPILOG)
@click.argument("figure", type=TABLE)
@options.which_trials
@options.results_or_baselines
@click.option(
    "--to",
    type=options.FOLDER,
    help="Folder for the drawing.  [default: that of --results, or runs]",
)
@options.settings
def plot(
    figure: str, results: Path | None, to: Path | None, settings: Path | None, **which: Any
) -> None:
    """Draw FIGURE from stored outcomes, as SVG and PNG, with the plotted data as CSV.

    Of a table, the metric is drawn over the rows that each learner has seen. This runs nothing.
    """
    from okbench.base.whole_files import write_whole
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.papers.table_names import file_of
    from okbench.reports.figures.draw import images
    from okbench.reports.figures.figure_data import picture_of
    from okbench.reports.figures.text import csv_of
    from okbench.reports.load import load_table
    from okbench.reports.results_paths import RUNS
    from okbench.trials.plan.options import Options
    from okbench.trials.store.files import Store

    found = find(figure, tuned=settings, results=results or RUNS)
    if found.figure is None and found.kind != "table":
        raise UsageError(f"{found.name} is no figure  (okbench report {found.name})")
    place = options.folder_of(found.trials_of, results)
    contents = Store.of(place, found.trials_of).read()
    loaded = load_table(found, place, Options(**which), None, versions(), contents)
    picture = picture_of(loaded, converging=found.figure is None)
    if not picture.panels:
        quantities = " and ".join(found.figure.quantities if found.figure else ["metric"])
        lack = f"no curves of the {quantities}" if loaded.counted else "no outcomes"
        raise UsageError(f"there are {lack} of {found.name} in {place}  (okbench run {found.name})")
    files = {**images(picture), "csv": csv_of(picture).encode("utf-8")}
    for ending, content in files.items():
        path = file_of(to or results or RUNS, found.name, f".{ending}")
        write_whole(path, content)
        click.echo(path)
    if picture.absent:
        click.echo(
            f"left out, because there are no outcomes: {', '.join(picture.absent)}"
            f"  (okbench run {found.name} --datasets {','.join(picture.absent)})",
            err=True,
        )
