"""okbench add, and the options with which `okbench run --data` reads the same kinds of file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from okbench.base.shared_types import Task
from okbench.cli.choices import WORDS
from okbench.cli.options import PATH, together

if TYPE_CHECKING:
    from okbench.trials.plan.user_table import OwnFile

EPILOG = """\b
Examples:
  okbench add rows.csv --name mine --target y
  okbench show mine
"""
SCALES: dict[str, Any] = {"none": "none", "unit": "running [0,1]", "standard": "running standard"}
TARGET = click.option(
    "--target", help="Column to predict: its name, or its place from 0.  [default: the last]"
)
TASK = click.option(
    "--task",
    type=click.Choice(get_args(Task)),
    help="What is learned.  [default: guessed from the target]",
)
reading_options = together(
    click.option("--data", type=PATH, help="File of your own rows, instead of a table."),
    TARGET,
    TASK,
    click.option(
        "--categorical",
        type=WORDS,
        help="Columns that hold categories although they look like numbers.",
    ),
    click.option("--drop", type=WORDS, help="Columns to leave out."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "mean"]),
        default="refuse",
        show_default=True,
        help="Refuse missing values, or replace each by the mean of the rows before it.",
    ),
    click.option(
        "--scale",
        type=click.Choice(list(SCALES)),
        default="none",
        show_default=True,
        help="Scale each row by the rows before it; this needs --in-order.",
    ),
    click.option(
        "--in-order",
        is_flag=True,
        help="Make one pass in the order of the file, instead of 20 random permutations.",
    ),
)
READING_NAMES = (
    "data", "target", "task", "categorical", "drop", "missing", "scale", "in_order",
)  # fmt: skip


def own_file(data: Path, target: str | None, scale: str, **reading: Any) -> OwnFile:
    """What those options mean."""
    from okbench.trials.plan.user_table import OwnFile

    for name in ("categorical", "drop"):
        reading[name] = reading[name] or ()
    return OwnFile(data, target, scale=SCALES[scale], **reading)


@click.command(epilog=EPILOG)
@click.argument("path", type=PATH)
@click.option("--name", required=True, help="Name of the new dataset.")
@TARGET
@TASK
def add(path: Path, name: str, target: str | None, task: Task | None) -> None:
    """Add the rows in the file PATH as a dataset, to be used wherever a dataset is named.

    The file is CSV, LIBSVM text, ARFF or .npy. It stays where it is.
    """
    from okbench.datasets.user.user_entry import add_user_dataset

    found = add_user_dataset(path, name, target, task)
    for note in found.notes:
        click.echo(note, err=True)
    rows = found.dataset
    click.echo(f"{name}: {rows.n_rows:,} rows, {rows.n_features} columns, {rows.task}")
