"""okbench compare, merge and export: outcomes side by side, together, and elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from okbench.base.errors import UsageError
from okbench.cli.report import RESULTS

PLACE = click.Path(path_type=Path)
FORM = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
EPILOG = """\b
  okbench compare runs/demo.jsonl again/demo.jsonl   two or more sets of outcomes, side by side
  okbench compare table5                             the learners of a table against the best
  okbench compare table5 --against OGD --picture ranks.svg
"""


@click.command(epilog=EPILOG)
@click.argument("what", nargs=-1, required=True)
@click.option("--against", metavar="LEARNER", help="With a table: hold all against this one.")
@click.option("--picture", type=PLACE, help="With a table: draw the average ranks there.")
@click.option("--trials", type=int, help="With a table: this many row orders.")
@click.option("--seed", type=int, default=0, show_default=True, help="With a table.")
@RESULTS
@FORM
def compare(
    what: tuple[str, ...],
    against: str | None,
    picture: Path | None,
    trials: int | None,
    seed: int,
    results: Path,
    form: str,
) -> None:
    """Compare WHAT: two or more results files or folders, or the learners of one table.

    Trials on the same row order are paired. What cannot be decided is said to be so.
    """
    if len(what) == 1:
        _compare_learners(what[0], against, picture, trials, seed, results, form)
    elif against or picture or trials or seed:
        raise UsageError(
            "--against, --picture, --trials and --seed go with one table, not with results files"
        )
    else:
        _compare_sets([Path(word) for word in what], form)


def _compare_learners(
    name: str,
    against: str | None,
    picture: Path | None,
    trials: int | None,
    seed: int,
    results: Path,
    form: str,
) -> None:
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.compare.ranking import duels, ranking
    from okbench.reports.compare.ranking_text import draw_ranking, rivals_json, rivals_text
    from okbench.reports.load import load_table
    from okbench.reports.tables.render import written
    from okbench.trials.plan.options import Options

    try:
        table = find(name)
    except UsageError as error:
        if Path(name).is_dir() or name.endswith(".jsonl"):
            told = f"{name}: one set of outcomes; name another to hold it against, or a table"
            raise UsageError(told) from error
        raise
    options = Options(trials=trials, seed=seed)
    report = load_table(table, results, options, None, versions()).report
    found, ranks = duels(report, against), ranking(report)
    text = rivals_json(found, ranks) if form == "json" else rivals_text(found, ranks)
    click.echo(written(text, sys.stdout.encoding), nl=False)
    if picture:
        draw_ranking(ranks, picture)


def _compare_sets(places: list[Path], form: str) -> None:
    from okbench.reports.compare.side_by_side import (
        side_by_side,
        side_by_side_json,
        side_by_side_text,
    )
    from okbench.reports.results_paths import outcomes_at
    from okbench.reports.tables.render import written

    names = [str(place) for place in places]
    lines = side_by_side([outcomes_at(place) for place in places])
    text = side_by_side_json(names, lines) if form == "json" else side_by_side_text(names, lines)
    click.echo(written(text, sys.stdout.encoding), nl=False)


@click.command()
@click.argument("places", type=PLACE, nargs=-1, required=True)
@click.option("--into", type=PLACE, required=True, help="Folder the merged files go to.")
def merge(places: tuple[Path, ...], into: Path) -> None:
    """Put results files, or folders of them, together, table by table."""
    from okbench.reports.guard.merge import merge as put_together

    for merged in put_together(places, into):
        click.echo(f"{merged.path}: {merged.outcomes} outcomes from {merged.files} files")


@click.command()
@click.argument("places", type=PLACE, nargs=-1, required=True)
@click.option("-o", "--output", type=PLACE, required=True, help="File to write.")
@click.option("--format", "form", type=click.Choice(["csv", "parquet"]), help="Else by its ending.")
@click.option("--curves", is_flag=True, help="The points of the curves, not the trials.")
def export(places: tuple[Path, ...], output: Path, form: str | None, curves: bool) -> None:
    """Write outcomes at PLACES (files or folders) as a flat table, one row a trial."""
    from okbench.reports.tables.export import export as write_table

    count = write_table(places, form or output.suffix.removeprefix(".").lower(), output, curves)
    click.echo(f"{output}: {count} rows")
