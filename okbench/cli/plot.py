"""okbench plot: a figure drawn from what was measured."""

from __future__ import annotations

from pathlib import Path

import click

from okbench.base.errors import UsageError
from okbench.cli.choices import DATASETS, LEARNERS, TABLE
from okbench.cli.report import RESULTS, SETTINGS

EPILOG = """\b
  okbench plot lsokl/figure4
  okbench plot figure1 --results results --to figures --datasets dna,usps
"""


@click.command(epilog=EPILOG)
@click.argument("figure", type=TABLE)
@click.option("--datasets", type=DATASETS, help="These datasets only, separated by commas.")
@click.option("--learners", type=LEARNERS, help="These learners only.")
@click.option("--trials", type=int, help="This many row orders, not the figure's own number.")
@click.option("--seed", type=int, default=0, show_default=True, help="Outcomes of this seed.")
@RESULTS
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder the drawing goes to; that of the results if not told.",
)
@SETTINGS
def plot(
    figure: str,
    datasets: tuple[str, ...] | None,
    learners: tuple[str, ...] | None,
    trials: int | None,
    seed: int,
    results: Path,
    to: Path | None,
    settings: Path | None,
) -> None:
    """Draw FIGURE from what was measured: SVG, PNG, and the plotted data as CSV. Runs nothing."""
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.figures.draw import images
    from okbench.reports.figures.figure_data import picture_of
    from okbench.reports.figures.text import csv_of
    from okbench.reports.load import load_table
    from okbench.reports.results_paths import write_whole
    from okbench.trials.plan.options import Options

    found = find(figure, tuned=settings)
    if found.figure is None:
        raise UsageError(f"{found.name} is a table, not a figure  (okbench report {found.name})")
    options = Options(datasets=datasets, learners=learners, trials=trials, seed=seed)
    picture = picture_of(load_table(found, results, options, None, versions()))
    if not picture.panels:
        raise UsageError(
            f"nothing of {found.name} is measured in {results}  (okbench run {found.name})"
        )
    files = {**images(picture), "csv": csv_of(picture).encode("utf-8")}
    for ending, content in files.items():
        path = (to or results) / f"{found.name}.{ending}"
        write_whole(path, content)
        click.echo(path)
    if picture.absent:
        click.echo(
            f"left out, not measured here: {', '.join(picture.absent)}"
            f"  (okbench run {found.name} --datasets {','.join(picture.absent)})",
            err=True,
        )
