"""The command line: each command parses its options, calls one function of a lower package, and
prints what it returns.

Results go to stdout; progress and messages go to stderr. Nothing heavy is imported at the top of
these modules, so that `okbench --help` and `okbench list` answer at once. `main` is the entry
point.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

import click

from okbench import __version__
from okbench.base.errors import OkbenchError, StoreError
from okbench.cli.add import add, init
from okbench.cli.check import bless, check
from okbench.cli.check_learner import check_learner
from okbench.cli.choose import choose
from okbench.cli.claims import claims
from okbench.cli.compare import compare, export, merge
from okbench.cli.doctor import doctor
from okbench.cli.fetch import fetch
from okbench.cli.listing import list_group
from okbench.cli.options import say
from okbench.cli.plot import plot
from okbench.cli.replay import record, replay
from okbench.cli.report import report
from okbench.cli.run import run
from okbench.cli.show import show
from okbench.cli.site import site
from okbench.cli.tune import tune

__all__ = ["main"]

EPILOG = """\b
Examples:
  okbench run demo                      run a table on embedded data
  okbench run table5 --dry-run          show what running the table would take
  okbench report table5 --format md     print it beside the paper's numbers
  okbench run --data my.csv --target y  compare the learners on your own rows
  okbench check-learner mine:MyLearner  test a learner of your own
"""


_SIGPIPE = 13  # which Windows does not name


class OutputClosedError(Exception):
    """The program that read our output ended, as `head` does."""


@contextmanager
def _output_may_close() -> Iterator[None]:
    """Give a broken pipe a name of its own: click would make it exit code 1."""
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosedError from error


class InOrder(click.Group):
    """Commands listed in the order in which a person needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def make_context(self, *words: Any, **more: Any) -> click.Context:
        with _output_may_close():  # --help is printed here
            return super().make_context(*words, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _output_may_close():
            found = super().invoke(ctx)
            sys.stdout.flush()
            return found


@click.group(cls=InOrder, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="okbench %(version)s")
def okbench() -> None:
    """Reproduce the tables of five papers on large-scale online kernel learning."""


for command, summary in {
    list_group: "List tables, datasets and learners.",
    show: "Show a dataset, table, learner or trial.",
    fetch: "Download datasets and verify them.",
    add: "Add a dataset of your own.",
    init: "Write a table of your own rows to edit.",
    tune: "Search the settings that a paper does not give.",
    run: "Run the trials of a table, and print it.",
    choose: "Choose a learner for your own rows.",
    report: "Print a table from stored outcomes.",
    plot: "Draw a figure from stored outcomes.",
    compare: "Compare results, or the learners of a table.",
    site: "Write stored outcomes as web pages.",
    claims: "Test the claims of a paper on outcomes.",
    check: "Check that no result got worse.",
    bless: "Make stored outcomes the baseline.",
    merge: "Merge the results files of several runs.",
    export: "Write outcomes as CSV or Parquet.",
    replay: "Repeat recorded trials.",
    record: "Record one trial for other programs.",
    check_learner: "Test a learner against the contract.",
    doctor: "Check this machine and the installation.",
}.items():
    command.short_help = summary
    okbench.add_command(command)


def main() -> NoReturn:
    """Run a command; an error that the user can act on ends in one message and an exit code."""
    sys.path.append(str(Path.cwd()))  # where a user's own learner is most often found
    try:
        code = okbench.main(prog_name="okbench", standalone_mode=False)
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"))
        code = error.exit_code
    except OkbenchError as error:
        say(f"Error: {error}{_command_to_allow(error)}")
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        code = 128 + signal.SIGINT
    except OutputClosedError:
        _discard_output()
        code = 128 + _SIGPIPE
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_output()
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
        code = StoreError.exit_code
    sys.exit(code)


def _command_to_allow(error: OkbenchError) -> str:
    """The command to repeat if the learners that were refused are to be allowed; else nothing."""
    refused: tuple[str, ...] = getattr(error, "learners_refused", ())
    options = [word for name in refused for word in ("--allow-learner", name)]
    return f":\n  {shlex.join(['okbench', *sys.argv[1:], *options])}" if options else ""


def _discard_output() -> None:
    """Discard what is not printed yet, or the interpreter tries to print it again as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
