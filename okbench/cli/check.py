"""okbench check and okbench bless: guard results against getting worse."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli import options
from okbench.cli.choices import DATASETS, LEARNERS, TABLE

if TYPE_CHECKING:
    from okbench.reports.guard.check import BaselineCheck
    from okbench.reports.guard.speed import Allowed

_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA")  # of GitHub and of GitLab
_OF_BASELINE = ("baseline", "new", "subset", "tolerance", "keep")
FORMATS = ("text", "json", "junit", "md")
CHECK_EPILOG = """\b
Examples:
  okbench check results                    every baseline, compared with runs/
  okbench check results/demo.jsonl again   one, compared with another folder
  okbench check demo --format md           for a pull request
  okbench check demo --keep trend.jsonl    and keep the numbers of this commit
  okbench check --trend trend.jsonl --datasets hyperplane --learners FOGD
  okbench check --speed ../base . --table demo --datasets hyperplane
"""
BLESS_EPILOG = """\b
Examples:
  okbench bless demo --reason "first measurement"
  okbench bless table5 --datasets german --reason "FOGD is at version 2"
"""


@click.command(epilog=CHECK_EPILOG)
@click.argument("baseline", type=options.PATH, required=False)
@click.argument("new", type=options.PATH, required=False)
@click.option("--speed", nargs=2, metavar="BASE HEAD", help="Time two checkouts, or two Pythons.")
@click.option(
    "--keep",
    type=options.FILE,
    metavar="FILE",
    help="Add the numbers of this check to FILE, one JSON line per commit.",
)
@click.option(
    "--commit",
    help="With --keep: the commit.  [default: that of GitHub's or GitLab's job, or of git]",
)
@click.option(
    "--trend",
    type=options.FILE,
    metavar="FILE",
    help="Instead of a check: how the numbers in FILE changed over its commits.",
)
@click.option(
    "--table",
    type=TABLE,
    help="With --speed: the table to time.  [default: demo]  With --trend: the table to show.",
)
@click.option("--datasets", type=DATASETS, help="With --speed or --trend: only these datasets.")
@click.option("--learners", type=LEARNERS, help="With --speed or --trend: only these learners.")
@click.option("--rounds", type=int, help="With --speed: number of repetitions.  [default: 21]")
@click.option(
    "--slower",
    multiple=True,
    help="Ratio of seconds that is allowed: 1.3 for all learners, or FOGD=1.5 for one.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1e-9,
    show_default=True,
    help="Relative difference of losses that is allowed.",
)
@click.option("--subset", is_flag=True, help="Compare only the trials that NEW has.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Format of the findings.",
)
@click.option(
    "-o", "--output", type=options.PATH, help="File for the findings; the text goes to stdout."
)
@options.allow_learner
def check(
    baseline: Path | None,
    new: Path | None,
    speed: tuple[str, str] | None,
    slower: tuple[str, ...],
    tolerance: float,
    subset: bool,
    form: str,
    output: Path | None,
    keep: Path | None,
    commit: str | None,
    trend: Path | None,
    **timed: Any,
) -> None:
    """Compare the outcomes in NEW with those in BASELINE; exit with code 1 if one is worse.

    Both are results files, folders of them, or tables by their names or YAML files; BASELINE may
    also be the name of a paper, and NEW is runs/ by default. Mistakes, supports and curves must be
    equal trial by trial, losses within the tolerance, and bytes within a factor of 2. Seconds have
    a verdict only where both were measured alone (--timing), on the same machine, in at least 10
    trials. Cells that are not measured are counted apart; they do not pass without --subset.
    """
    from okbench.base.whole_files import write_whole
    from okbench.reports.guard.check_text import PAGES, failure
    from okbench.reports.guard.speed import Allowed
    from okbench.reports.tables.render import written

    allowed = Allowed.read(slower)
    if commit and not keep:
        raise UsageError("--commit goes with --keep")
    if trend:
        options.refuse_given((*_OF_BASELINE, "speed", "slower", "rounds"), "--trend")
        _show_trend(trend, form, output, timed)
        return
    if speed:
        options.refuse_given(_OF_BASELINE, "--speed")
        found = _check_speed(speed, allowed, **timed)
    elif baseline:
        options.refuse_given(tuple(timed), "a baseline; it needs --speed or --trend")
        found = _check_results(baseline, new, tolerance, subset, allowed)
    else:
        raise UsageError("name a baseline (okbench check results), or give --speed BASE HEAD")
    if keep:
        from okbench.reports.guard.trend import keep as keep_numbers

        keep_numbers(keep, found, commit or _commit())
    if output:
        write_whole(output, PAGES[form](found).encode("utf-8"))
    text = PAGES["text" if output else form](found)
    click.echo(written(text, sys.stdout.encoding), nl=False)
    if not found.passed:
        raise OkbenchError(failure(found))


def _show_trend(path: Path, form: str, output: Path | None, which: dict[str, Any]) -> None:
    from okbench.base.whole_files import write_whole
    from okbench.papers.table_catalogue import find
    from okbench.reports.guard.trend import TREND_PAGES, chosen, read_trend
    from okbench.reports.tables.render import written

    if form not in TREND_PAGES:
        raise UsageError(f"--trend has the formats {', '.join(TREND_PAGES)}, not {form}")
    table = which["table"] and find(which["table"]).trials_of
    kept = chosen(read_trend(path), table, which["datasets"], which["learners"])
    if output:
        write_whole(output, TREND_PAGES[form](kept).encode("utf-8"))
    text = TREND_PAGES["text" if output else form](kept)
    click.echo(written(text, sys.stdout.encoding), nl=False)


def _commit() -> str:
    """The commit that a server of continuous integration names, or that git has checked out."""
    named = next((os.environ[name] for name in _COMMITS if os.environ.get(name)), "")
    if named:
        return named
    try:
        words = ["git", "rev-parse", "HEAD"]
        found = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError("--keep needs the commit, and git names none here: --commit ID") from error
    return found.stdout.strip()


def _check_results(
    baseline: Path, new: Path | None, tolerance: float, subset: bool, allowed: Allowed
) -> BaselineCheck:
    from okbench.learners.registry import versions
    from okbench.reports.guard.check import check as check_contents
    from okbench.reports.guard.check import joined
    from okbench.reports.results_paths import pairs, read_file
    from okbench.trials.store.files import Store
    from okbench.trials.store.trials_of_lines import TrialsOfLines

    sized = {name for name, version in versions().items() if version is not None}
    found = []
    for pair in pairs(baseline, new):
        shared = TrialsOfLines(shared=True)
        before = read_file(pair.baseline, curves=True, trials=shared)
        has_curves = any(outcome.curve for outcome in before.measured)
        now = Store(pair.new).read(curves=has_curves, trials=shared)
        found.append(
            check_contents(
                pair.table,
                before,
                now,
                tolerance=tolerance,
                subset=subset,
                allowed=allowed,
                sized=sized,
            )
        )
    return joined(found)


def _check_speed(
    speed: tuple[str, str],
    allowed: Allowed,
    table: str | None,
    datasets: tuple[str, ...] | None,
    learners: tuple[str, ...] | None,
    rounds: int | None,
) -> BaselineCheck:
    from tqdm import tqdm

    from okbench.cli.speed_job import ROUNDS, compare_speed
    from okbench.papers.table_catalogue import find
    from okbench.trials.plan.options import Options

    cells = Options(datasets=datasets, learners=learners)
    with tqdm(disable=None, unit=" cells", dynamic_ncols=True) as bar:

        def watch(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        count = ROUNDS if rounds is None else rounds
        return compare_speed(*speed, find(table or "demo"), cells, count, allowed, watch)


@click.command(epilog=BLESS_EPILOG)
@click.argument("table", type=TABLE)
@click.option("--reason", required=True, help="Why these results are right; kept in the file.")
@options.which_trials
@click.option(
    "--into",
    type=options.PATH,
    default=Path("results"),
    show_default=True,
    help="Folder of the baselines.",
)
@options.results
def bless(table: str, reason: str, into: Path, results: Path, **which: Any) -> None:
    """Make the stored outcomes of TABLE the baseline with which `okbench check` compares.

    A baseline is a results file whose cells are complete, with the reason why its numbers are
    accepted ("blessed").
    """
    from okbench.learners.registry import versions
    from okbench.papers.commands import command
    from okbench.papers.table_catalogue import find
    from okbench.reports.guard.bless import bless as write_baseline
    from okbench.trials.plan.options import Options

    made = write_baseline(
        find(table, results=results), results, into, reason, Options(**which), versions()
    )
    before = f", {made.before} before" if made.before else ""
    click.echo(f"{made.path}: {made.trials} trials{before}  ({command('check', made.path)})")
