"""A person's own rows: okbench add, and the options of `okbench run --data`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from okbench.base.shared_types import Task
from okbench.cli.choices import WORDS

if TYPE_CHECKING:
    from okbench.trials.plan.user_table import OwnFile

SCALES: dict[str, Any] = {"none": "none", "unit": "running [0,1]", "standard": "running standard"}
TARGET = click.option("--target", help="Column to predict, by name or place; the last if not told.")
TASK = click.option("--task", type=click.Choice(get_args(Task)), help="Guessed if not told.")
READING = (
    click.option("--data", type=click.Path(path_type=Path), help="Rows of your own, not a table."),
    TARGET,
    TASK,
    click.option(
        "--categorical", type=WORDS, help="Columns of names, though they look like numbers."
    ),
    click.option("--drop", type=WORDS, help="Columns to leave out."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "mean"]),
        default="refuse",
        help="Values that are missing: refused, or the mean of the rows before.",
    ),
    click.option(
        "--scale",
        type=click.Choice(list(SCALES)),
        default="none",
        help="By the rows up to each; needs --in-order.",
    ),
    click.option(
        "--in-order", is_flag=True, help="One pass in the file's order, not 20 random ones."
    ),
)

READING_NAMES = (
    "data", "target", "task", "categorical", "drop", "missing", "scale", "in_order",
)  # fmt: skip


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a person's own rows are read."""
    for option in reversed(READING):
        command = option(command)
    return command


def own_file(data: Path, target: str | None, scale: str, **told: Any) -> OwnFile:
    """What those options mean."""
    from okbench.trials.plan.user_table import OwnFile

    for name in ("categorical", "drop"):
        told[name] = told[name] or ()
    return OwnFile(data, target, scale=SCALES[scale], **told)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="What the rows are called from now on.")
@TARGET
@TASK
def add(path: Path, name: str, target: str | None, task: Task | None) -> None:
    """Give the rows in PATH a name, to be used wherever a dataset is named."""
    from okbench.datasets.user.user_entry import add_user_dataset

    found = add_user_dataset(path, name, target, task)
    for note in found.notes:
        click.echo(note, err=True)
    rows = found.dataset
    click.echo(f"{name}: {rows.n_rows:,} rows, {rows.n_features} columns, {rows.task}")
