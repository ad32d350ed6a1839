"""okbench compare, merge and export: outcomes side by side, together, and elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from okbench.base.errors import UsageError
from okbench.cli import options

COMPARE_EPILOG = """\b
Examples:
  okbench compare runs/demo.jsonl again/demo.jsonl
  okbench compare table5                  all pairs of learners
  okbench compare table5 --against OGD --picture ranks.svg
  okbench compare own/my.csv --against Mine
"""
MERGE_EPILOG = """\b
Examples:
  okbench merge runs other-machine/runs --into all
"""
EXPORT_EPILOG = """\b
Examples:
  okbench export runs -o outcomes.csv
  okbench export runs/demo.jsonl --curves -o curves.parquet
  okbench export results --verdicts -o verdicts.csv
  okbench export results --croissant -o results/croissant.json
"""


@click.command(epilog=COMPARE_EPILOG)
@click.argument("what", nargs=-1, required=True)
@click.option(
    "--against", metavar="LEARNER", help="With a table: compare all learners with this one."
)
@click.option(
    "--picture", type=options.PATH, help="With a table: file for a drawing of the average ranks."
)
@click.option(
    "--rope",
    type=float,
    metavar="NUMBER",
    help="With a table: difference below which learners are practically equal, in percentage "
    "points, or in % of a loss.  [default: 1]",
)
@options.trials_and_seed
@options.results_or_baselines
@options.text_or_json
def compare(
    what: tuple[str, ...],
    against: str | None,
    picture: Path | None,
    rope: float | None,
    trials: int | None,
    seed: int,
    results: Path | None,
    form: str,
) -> None:
    """Compare WHAT: two or more results files or folders, or the learners of one table.

    Trials on the same permutation are paired. If there are too few pairs, or the difference may be
    chance, the answer is "cannot decide". Without --against all pairs of learners are tested, and
    those with the best learner of each dataset are shown. All options but --format go with a
    table. If runs/ has no outcomes of it, the baselines of the project are compared.
    """
    if len(what) == 1:
        region = 1.0 if rope is None else rope
        _compare_learners(what[0], against, picture, region, trials, seed, results, form)
        return
    of_table = ("against", "picture", "rope", "trials", "seed", "results")
    options.refuse_given(of_table, "results files; it goes with one table")
    _compare_sets([Path(word) for word in what], form)


def _compare_learners(
    name: str,
    against: str | None,
    picture: Path | None,
    region: float,
    trials: int | None,
    seed: int,
    results: Path | None,
    form: str,
) -> None:
    from okbench.learners.registry import versions
    from okbench.papers.commands import run_command
    from okbench.papers.table_catalogue import find
    from okbench.reports.compare.pairs import comparisons
    from okbench.reports.compare.ranking import ranking
    from okbench.reports.compare.ranking_picture import draw_ranking
    from okbench.reports.compare.ranking_text import ranking_json, ranking_text
    from okbench.reports.load import load_table
    from okbench.reports.results_paths import RUNS
    from okbench.reports.tables.render import written
    from okbench.trials.plan.options import Options

    try:
        table = find(name, results=results or RUNS)
    except UsageError as error:
        if Path(name).is_dir() or name.endswith(".jsonl"):
            raise UsageError(
                f"{name} is one set of outcomes; name another to compare it with, or a table"
            ) from error
        raise
    place = options.folder_of(table, name, results)
    report = load_table(table, place, Options(trials=trials, seed=seed), None, versions()).report
    found, ranks = comparisons(report, against), ranking(report, against, region)
    advice = run_command(table, [name], trials=found.enough, seed=seed or None, results=results)
    text = ranking_json(found, ranks) if form == "json" else ranking_text(found, ranks, advice)
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


@click.command(epilog=MERGE_EPILOG)
@click.argument("places", type=options.PATH, nargs=-1, required=True)
@click.option("--into", type=options.PATH, required=True, help="Folder for the merged files.")
def merge(places: tuple[Path, ...], into: Path) -> None:
    """Merge the results files at PLACES, files or folders of them, table by table."""
    from okbench.reports.guard.merge import merge as merge_files

    for merged in merge_files(places, into):
        click.echo(f"{merged.path}: {merged.outcomes} outcomes from {merged.files} files")


@click.command(epilog=EXPORT_EPILOG)
@click.argument("places", type=options.PATH, nargs=-1, required=True)
@click.option("-o", "--output", type=options.PATH, required=True, help="File to write.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "json"]),
    help="Format of the file; json for verdicts only.  [default: by its ending]",
)
@click.option("--curves", is_flag=True, help="One row per point of the curves, not per trial.")
@click.option(
    "--verdicts", is_flag=True, help="One row per printed cell: its outcome, and what it rests on."
)
@click.option(
    "--croissant",
    is_flag=True,
    help="Croissant metadata (JSON-LD): the files with their checksums, and one record per cell.",
)
def export(
    places: tuple[Path, ...],
    output: Path,
    form: str | None,
    curves: bool,
    verdicts: bool,
    croissant: bool,
) -> None:
    """Write the outcomes at PLACES, files or folders, as one flat table with one row per trial.

    The columns are those of the DataFrame that okbench.load_results returns in Python.
    """
    from okbench.learners.registry import versions
    from okbench.reports.croissant import export_croissant
    from okbench.reports.tables.export import export as write_table
    from okbench.reports.tables.export import export_verdicts

    chosen = form or output.suffix.removeprefix(".").lower()
    if curves + verdicts + croissant > 1:
        raise UsageError("--curves, --verdicts and --croissant exclude each other")
    if croissant:
        if form:
            raise UsageError("--croissant has one format: give no --format")
        click.echo(f"{output}: {export_croissant(places, output)} records")
        return
    if verdicts:
        count = export_verdicts(places, chosen, output, versions())
    else:
        count = write_table(places, chosen, output, curves)
    click.echo(f"{output}: {count} rows")
