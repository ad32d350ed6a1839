"""okbench check and okbench bless: guard results against getting worse."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli.choices import DATASETS, LEARNERS, TABLE
from okbench.cli.report import RESULTS

if TYPE_CHECKING:
    from okbench.reports.guard.check import Check
    from okbench.reports.guard.speed import Allowed

FORMATS = ("text", "json", "junit", "md")
PLACE = click.Path(path_type=Path)
EPILOG = """\b
  okbench check results                       every baseline against runs/
  okbench check results/demo.jsonl again      one, against another folder
  okbench check demo --format md              for a pull request
  okbench check --speed ../base . --table demo --datasets hyperplane
"""


@click.command(epilog=EPILOG)
@click.argument("baseline", type=PLACE, required=False)
@click.argument("new", type=PLACE, required=False)
@click.option("--speed", nargs=2, metavar="BASE HEAD", help="Time two checkouts, or two Pythons.")
@click.option("--table", type=TABLE, show_default="demo", help="Timed by --speed.")
@click.option("--datasets", type=DATASETS, help="Timed by --speed: these alone.")
@click.option("--learners", type=LEARNERS, help="Timed by --speed: these alone.")
@click.option("--rounds", type=int, show_default="21", help="Of --speed.")
@click.option("--slower", multiple=True, help="Ratio of seconds allowed: 1.3, or FOGD=1.5.")
@click.option("--tolerance", type=float, default=1e-9, show_default=True, help="Of losses.")
@click.option("--subset", is_flag=True, help="Compare only the trials that NEW has.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("-o", "--output", type=PLACE, help="Write there, and the text to stdout.")
def check(
    baseline: Path | None,
    new: Path | None,
    speed: tuple[str, str] | None,
    slower: tuple[str, ...],
    tolerance: float,
    subset: bool,
    form: str,
    output: Path | None,
    table: str | None,
    datasets: tuple[str, ...] | None,
    learners: tuple[str, ...] | None,
    rounds: int | None,
) -> None:
    """Did a result get worse? Hold NEW (runs/ if not told) against BASELINE; exit 1 says yes.

    Both are results files or folders of them. Mistakes must be equal trial by trial, losses within
    the tolerance; seconds count only where both were timed alone on one machine.
    """
    from okbench.reports.guard.check_text import PAGES, summary
    from okbench.reports.guard.speed import Allowed
    from okbench.reports.results_paths import write_whole
    from okbench.reports.tables.render import written

    allowed = Allowed.read(slower)
    timed = {"table": table, "datasets": datasets, "learners": learners, "rounds": rounds}
    if speed and (baseline or subset):
        raise UsageError("--speed measures seconds itself: no baseline, no --subset goes with it")
    for name, value in timed.items():
        if value is not None and not speed:
            raise UsageError(f"--{name} says what --speed times, and goes with it alone")
    if speed:
        found = _check_speed(speed, table or "demo", datasets, learners, rounds, allowed)
    elif baseline:
        found = _check_results(baseline, new, tolerance, subset, allowed)
    else:
        raise UsageError("name a baseline (okbench check results), or --speed BASE HEAD")
    if output:
        write_whole(output, PAGES[form](found).encode("utf-8"))
    text = PAGES["text" if output else form](found)
    click.echo(written(text, sys.stdout.encoding), nl=False)
    if not found.passed:
        raise OkbenchError(summary(found))


def _check_results(
    baseline: Path, new: Path | None, tolerance: float, subset: bool, allowed: Allowed
) -> Check:
    from okbench.reports.guard.check import check as check_contents
    from okbench.reports.guard.check import joined
    from okbench.reports.results_paths import pairs, read_file
    from okbench.trials.store.files import Store

    return joined(
        [
            check_contents(
                pair.table,
                read_file(pair.baseline),
                Store(pair.new).read(curves=False),
                tolerance=tolerance,
                subset=subset,
                allowed=allowed,
            )
            for pair in pairs(baseline, new)
        ]
    )


def _check_speed(
    speed: tuple[str, str],
    table: str,
    datasets: tuple[str, ...] | None,
    learners: tuple[str, ...] | None,
    rounds: int | None,
    allowed: Allowed,
) -> Check:
    from tqdm import tqdm

    from okbench.cli.speed_job import ROUNDS, compare_speed
    from okbench.papers.table_catalogue import find
    from okbench.trials.plan.options import Options

    options = Options(datasets=datasets, learners=learners)
    with tqdm(disable=None, unit=" cells", dynamic_ncols=True) as bar:

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return compare_speed(*speed, find(table), options, rounds or ROUNDS, allowed, watch)


@click.command()
@click.argument("table", type=TABLE)
@click.option("--reason", required=True, help="Why these results are as they should be.")
@click.option("--datasets", type=DATASETS, help="These datasets only, separated by commas.")
@click.option("--learners", type=LEARNERS, help="These learners only.")
@click.option("--trials", type=int, help="This many row orders, not the table's own number.")
@click.option("--seed", type=int, default=0, show_default=True, help="Outcomes of this seed.")
@click.option("--into", type=PLACE, default=Path("results"), show_default=True, help="Baselines.")
@RESULTS
def bless(
    table: str,
    reason: str,
    datasets: tuple[str, ...] | None,
    learners: tuple[str, ...] | None,
    trials: int | None,
    seed: int,
    into: Path,
    results: Path,
) -> None:
    """Make what was measured of TABLE the baseline that `okbench check` guards."""
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.guard.bless import bless as write_baseline
    from okbench.trials.plan.options import Options

    options = Options(datasets=datasets, learners=learners, trials=trials, seed=seed)
    made = write_baseline(find(table), results, into, reason, options, versions())
    before = f", {made.before} before" if made.before else ""
    click.echo(f"{made.path}: {made.trials} trials{before}  (okbench check {made.path})")
