"""Options that several commands share, each with one name, one type and one help text."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from okbench.cli.choices import DATASETS, LEARNERS, STATUSES, TIME

if TYPE_CHECKING:
    from okbench.papers.table_types import Orders

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
TABLE_FORMATS = ("terminal", "md", "csv", "json", "latex")


def together(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator; the help lists them in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(decorators):
            command = option(command)
        return command

    return decorate


seed = click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the permutations and of every random draw.",
)
trials_and_seed = together(
    click.option(
        "--trials",
        type=int,
        help="Number of permutations per cell, instead of the number in the table.",
    ),
    seed,
)
datasets_and_learners = together(
    click.option("--datasets", type=DATASETS, help="Only these datasets, separated by commas."),
    click.option("--learners", type=LEARNERS, help="Only these learners, separated by commas."),
)
which_trials = together(datasets_and_learners, trials_and_seed)

results = click.option(
    "--results",
    type=PATH,
    default=Path("runs"),
    show_default=True,
    help="Folder of stored outcomes.",
)
results_or_baselines = click.option(
    "--results",
    type=PATH,
    help="Folder of stored outcomes.  [default: runs, or the baselines of the project where runs"
    " has no outcomes of the table]",
)
settings = click.option(
    "--settings",
    type=FILE,
    metavar="NAME|FILE",
    help="Other settings of the table by their name (default, fitted or searched),"
    " or a file of settings chosen by okbench tune.",
)
ORDERS: Mapping[str, Orders] = {"permutations": "seeded", "blocks": "block-shuffled"}
order = click.option(
    "--order",
    type=click.Choice(list(ORDERS)),
    help="How rows are met: in permutations of all of them, or, for rows beyond the memory, in"
    " permuted blocks whose rows are permuted inside a window. Outcomes of the two are kept apart."
    "  [default: as the table says]",
)
vary = click.option(
    "--vary",
    type=click.Choice(["inferred"]),
    help="Instead of the table: the settings that the paper does not give, varied through the"
    " ranges it searched, and whether its numbers can be reached there.",
)
table_format = click.option(
    "--format",
    "form",
    type=click.Choice(TABLE_FORMATS),
    default="terminal",
    show_default=True,
    help="Format of the table.",
)
text_or_json = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)


def folder_of(table: str, results: Path | None) -> Path:
    """The folder to read of a table whose trials have this name. If the baselines answer because
    nothing was run, stderr says so."""
    from okbench.reports.results_paths import RUNS, outcomes_of

    found = outcomes_of(table, results)
    if results is None and found != RUNS:
        click.echo(
            f"There are no outcomes of {table} in {RUNS}{os.sep}. These are the baselines of the"
            f" project, in {found}.",
            err=True,
        )
    return found


def every_core(jobs: int | None) -> int:
    """How many trials run at the same time if --jobs is not given."""
    return (os.cpu_count() or 1) if jobs is None else jobs


def _allow(context: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> None:
    from okbench.learners.registry import allow

    allow(*names)


allow_learner = click.option(
    "--allow-learner",
    metavar="MODULE[:CLASS]",
    multiple=True,
    expose_value=False,
    callback=_allow,
    help="Allow a user-defined learner that a file names. Its code is run.",
)
how_to_run = together(
    click.option(
        "-j", "--jobs", type=int, help="Trials that run at the same time.  [default: all cores]"
    ),
    click.option(
        "--time-limit",
        type=TIME,
        help="End a trial after this time in the learner: 90s, 30m or 2h. A call that does not"
        " return is ended 10 % later, or 1 s."
        "  [default: the table's own limit, if it has one]",
    ),
    click.option(
        "--retry",
        type=STATUSES,
        help="Run trials again that ended so: failed, timeout, memory, diverged, interrupted.",
    ),
    click.option(
        "--force", is_flag=True, help="Run trials that are expected not to fit into the memory."
    ),
)
