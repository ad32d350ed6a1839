"""okbench check-learner: does a learner keep the contract?"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from textwrap import indent

import click

from okbench.base.errors import OkbenchError
from okbench.cli.choices import LEARNER


@click.command("check-learner")
@click.argument("learner", type=LEARNER)
@click.option("--debug", is_flag=True, help="Show the whole traceback of whatever it raises.")
def check_learner(learner: str, debug: bool) -> None:
    """Put LEARNER, a name or module:Class, through the checks every learner here passes."""
    from collections import Counter

    from okbench.learners.checks import run_checks

    with redirect_stdout(sys.stderr):  # what the learner prints
        results = run_checks(learner)
    width = max(len(result.name) for result in results)
    for result in results:
        reason = f"  {result.reason}" if result.reason else ""
        click.echo(f"{result.status:<8} {result.name:<{width}}{reason}".rstrip())
        if debug and result.traceback:
            click.echo(indent(result.traceback, " " * 9).rstrip())
    counts = Counter(result.status for result in results)
    click.echo(", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    if counts["failed"]:
        raise OkbenchError(f"{learner} does not keep the contract")
