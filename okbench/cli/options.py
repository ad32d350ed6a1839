"""Options that several commands share, each with one name, one type and one help text."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from okbench.base.errors import UsageError, safe_to_show
from okbench.cli.choices import DATASETS, LEARNERS, STATUSES, TIME

if TYPE_CHECKING:
    from okbench.papers.table_types import Orders, Table
    from okbench.trials.plan.options import ClusterOptions, Options

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
TABLE_FORMATS = ("terminal", "md", "csv", "json", "latex")


def say(message: str) -> None:
    """Print a message on stderr, without control characters out of names and values."""
    click.echo(safe_to_show(message), err=True)


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
layout = click.option(
    "--layout",
    type=click.Choice(["compare", "paper"]),
    help="compare: a line per cell, beside the printed number, with its outcome. paper: as papers"
    " set a table, metric and time of each dataset side by side.  [default: compare if the paper"
    " prints numbers; paper for LaTeX and for all other tables]",
)
text_or_json = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)


def folder_of(table: Table, named: str, results: Path | None) -> Path:
    """The folder to read of a table, which the command names so. If the baselines answer because
    nothing was run, stderr says so."""
    from okbench.papers.commands import run_command
    from okbench.reports.results_paths import RUNS, outcomes_of
    from okbench.trials.store.files import Store

    found = outcomes_of(table.trials_of, results)
    path = Store.of(found, table.trials_of).path
    if not path.exists():
        advice = run_command(table, [named], results=results)
        raise UsageError(f"there are no outcomes of {table.name}: no file {path}  ({advice})")
    if results is None and found != RUNS:
        say_baselines(table.trials_of, found)
    return found


def say_baselines(what: str, folder: Path) -> None:
    """Say on stderr that the baselines answer."""
    from okbench.reports.results_paths import RUNS

    click.echo(
        f"There are no outcomes of {what} in {RUNS}{os.sep}. These are the baselines of the"
        f" project, in {folder}.",
        err=True,
    )


def refuse_given(names: Collection[str], what: str) -> None:
    """Refuse these parameters if the command line gives one: they mean nothing for `what`."""
    context = click.get_current_context()
    for one in context.command.params:
        given = context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
        if given and one.name in names:
            shown = one.opts[0] if isinstance(one, click.Option) else one.human_readable_name
            raise UsageError(f"{shown} does not go with {what}")


def page_width() -> int:
    """The columns that a text may take: those of the terminal, or 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100


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
where_to_run = together(
    click.option(
        "--backend",
        default="",
        help="threads (for okbench's own learners without a limit; all others run in processes),"
        " processes, or the workers of a cluster: dask, ray.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="With --backend dask: the scheduler, tcp://HOST:8786.",
    ),
    click.option(
        "--address",
        metavar="ADDRESS",
        help="With --backend ray: the cluster, HOST:6379, ray://HOST:10001, or auto.",
    ),
    click.option(
        "--rows",
        type=click.Choice(["send", "fetch"]),
        help="With a cluster, rows that a machine lacks: send them from here, or have them fetched"
        " there from their official address, if they have one.  [default: send]",
    ),
    click.option(
        "--other-versions",
        type=click.Choice(["refuse", "record"]),
        help="With a cluster, a worker with another okbench, NumPy or learner: leave it out, or"
        " record how it differs.  [default: refuse]",
    ),
    click.option(
        "--wait-workers",
        type=TIME,
        help="With a cluster: end the run if there is no worker for this time: 90s, 30m or 2h. The"
        " same command continues it.  [default: 10m]",
    ),
)


def asked_of_run(
    jobs: int | None, retry: Any, backend: str, memory: float | None = None, **rest: Any
) -> Options:
    """What the options of a command ask of a run, here or on a cluster."""
    from okbench.trials.plan.options import Options

    names = ("scheduler", "address", "rows", "other_versions", "wait_workers")
    where = {name: rest.pop(name) for name in names}
    return Options(
        jobs=every_core(jobs),
        memory_limit=memory or math.inf,
        retry=frozenset(retry or ()),
        backend=backend,
        cluster=cluster_options(backend, jobs, **where),
        **rest,
    )


def cluster_options(
    backend: str,
    jobs: int | None,
    scheduler: str | None,
    address: str | None,
    rows: Any,
    other_versions: Any,
    wait_workers: float | None,
) -> ClusterOptions:
    """Where the cluster of a run is, and what is asked of its workers."""
    from okbench.trials.plan.options import CLUSTERS, ClusterOptions

    belongs: dict[str, tuple[Any, tuple[str, ...]]] = {
        "--scheduler": (scheduler, ("dask",)),
        "--address": (address, ("ray",)),
        "--rows": (rows, CLUSTERS),
        "--other-versions": (other_versions, CLUSTERS),
        "--wait-workers": (wait_workers, CLUSTERS),
    }
    for name, (value, backends) in belongs.items():
        if value is not None and backend not in backends:
            wanted = " or ".join(f"--backend {each}" for each in backends)
            raise UsageError(f"{name} belongs to {wanted}")
    if backend not in CLUSTERS:
        return ClusterOptions()
    asked = ClusterOptions(
        scheduler or address or "", rows or "send", other_versions or "refuse", jobs
    )
    return asked if wait_workers is None else replace(asked, wait_workers=wait_workers)
