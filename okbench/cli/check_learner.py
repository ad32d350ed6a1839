"""okbench check-learner: test a learner against the contract."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import redirect_stdout
from textwrap import indent
from typing import Any

import click

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli.choices import LEARNER, TIME

EPILOG = """\b
Examples:
  okbench check-learner FOGD
  okbench check-learner mine:MyLearner     the class MyLearner in mine.py
  okbench check-learner mine:MyLearner --time-limit 10m
"""


@click.command("check-learner", epilog=EPILOG)
@click.argument("learner", type=LEARNER)
@click.option(
    "--time-limit",
    type=TIME,
    default="60s",
    show_default=True,
    help="End a check after this time, and go on with the next: 90s, 30m or 2h. After two such"
    " checks the others are not run.",
)
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="Test it with this setting: a number, a word or a list such as [0.5, 1].",
)
@click.option("--debug", is_flag=True, help="Print the traceback of every error it raises.")
def check_learner(learner: str, time_limit: float, given: tuple[str, ...], debug: bool) -> None:
    """Test LEARNER, a name or module:Class, with the checks that every learner here passes.

    The exit code is 1 if a check fails. A check that does not apply is skipped. The code of LEARNER
    is run, and the learner is pickled and unpickled: by naming it here you trust it. The checks run
    in a process of their own, which is ended, with all that the learner has started, when one of
    them takes too long.
    """
    from okbench.learners.checks.guarded_checks import MOST_ENDLESS, run_guarded_checks

    with redirect_stdout(sys.stderr):  # what the learner's module prints
        results = list(run_guarded_checks(learner, time_limit, _settings(given)))
    width = max(len(result.name) for result in results)
    first: dict[str, str] = {}
    for result in results:
        reason = result.reason
        if result.status == "failed" and first.setdefault(reason, result.name) != result.name:
            reason = f"the same error as in {first[reason]}"
        click.echo(f"{result.status:<8} {result.name:<{width}}  {reason}".rstrip())
        if debug and result.traceback:
            click.echo(indent(result.traceback, " " * 9).rstrip())
    counts = Counter(result.status for result in results)
    click.echo(", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    if counts["failed"]:
        repeats = counts["failed"] - len(first)
        more = f", {repeats} of them with the error of an earlier one" if repeats else ""
        failed = "1 check" if counts["failed"] == 1 else f"{counts['failed']} checks"
        if counts["not run"]:
            more += (
                f". The others were not run, because {MOST_ENDLESS} checks did not return"
                "  (--time-limit gives each more time)"
            )
        raise OkbenchError(f"{learner} does not keep the contract: {failed} failed{more}")


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    """The settings by name, from texts such as `width=2`."""
    from okbench.papers.values import parse_value

    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--set {text}: write NAME=VALUE, such as --set width=2")
        settings[name] = parse_value(value)
    return settings
