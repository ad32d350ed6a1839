"""The door: each command parses, calls one function of a room, and prints.

Results go to stdout; progress and messages go to stderr. Nothing heavy is imported at the top of
these modules, so that `okbench --help` and `okbench list` answer at once.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click

from okbench import __version__
from okbench.base.errors import OkbenchError, StoreError
from okbench.cli.check import bless, check
from okbench.cli.claims import claims
from okbench.cli.compare import compare, export, merge
from okbench.cli.doctor import doctor
from okbench.cli.fetch import fetch
from okbench.cli.learner import check_learner
from okbench.cli.listing import list_group
from okbench.cli.own import add
from okbench.cli.plot import plot
from okbench.cli.replay import record, replay
from okbench.cli.report import report
from okbench.cli.run import run
from okbench.cli.show import show
from okbench.cli.site import site
from okbench.cli.tune import tune

EPILOG = """\b
  okbench run demo                      a table on embedded data, no download
  okbench run table5 --dry-run          what the table would take
  okbench report table5 --format md     the table again, beside what the paper prints
  okbench check-learner mine:MyLearner  does my learner keep the contract?
"""


class InOrder(click.Group):
    """Commands listed in the order of a person's way through them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=InOrder, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="okbench %(version)s")
def okbench() -> None:
    """Reproduce the tables of five papers on large-scale online kernel learning."""


for command, summary in {
    list_group: "What can be run.",
    show: "A dataset or a trial, in full.",
    fetch: "Bring datasets here, verified.",
    add: "Give rows of your own a name.",
    tune: "Search the settings a paper does not give.",
    run: "Run what is not done of a table, and print it.",
    report: "Print a table from what was measured.",
    plot: "Draw a figure from what was measured.",
    compare: "Hold results, or learners, side by side.",
    site: "Everything measured, as pages to read.",
    claims: "Hold what a paper claims against outcomes.",
    check: "Did a result get worse? Exit code 1 says yes.",
    bless: "Make what was measured the baseline.",
    merge: "Put results of several runs together.",
    export: "Outcomes as CSV or Parquet.",
    replay: "Run single recorded runs.",
    record: "Write a trial down for another program.",
    check_learner: "Does a learner keep the contract?",
    doctor: "Is this machine fit to run?",
}.items():
    command.short_help = summary
    okbench.add_command(command)


def main() -> NoReturn:
    """Run a command; whatever a person can act on ends in one message and an exit code."""
    sys.path.append(str(Path.cwd()))  # where a stranger's learner most often is
    try:
        code = okbench.main(prog_name="okbench", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except OkbenchError as error:
        click.echo(f"Error: {error}", err=True)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        code = 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; nobody is left to be told.
        _say_no_more()
        code = 128 + signal.SIGPIPE
    except OSError as error:
        if error.filename is not None:
            raise
        _say_no_more()
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
        code = StoreError.exit_code
    sys.exit(code)


def _say_no_more() -> None:
    """What is left to print goes nowhere, or the interpreter would try again as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
