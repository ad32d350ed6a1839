"""okbench add and okbench init: a user's own rows as a dataset, and as a table to edit."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from okbench.base.errors import UsageError
from okbench.cli.choices import LEARNERS
from okbench.cli.options import FILE, PATH, say
from okbench.cli.own_rows import additions, additions_of, column_options, own_table, run_options

ADD_EPILOG = """\b
Examples:
  okbench add rows.csv --name mine --target y
  okbench add rows.csv --name mine --target y --drop id,date --missing mean
  okbench show mine
"""
INIT_EPILOG = """\b
Examples:
  okbench init my.csv --target y
  okbench init my.csv --target y --learners FOGD,RBP,mine:Mine -o mine.yaml
  okbench run my.yaml
"""


@click.command(epilog=ADD_EPILOG)
@click.argument("path", type=PATH)
@click.option("--name", required=True, help="Name of the new dataset.")
@column_options
def add(path: Path, name: str, **reading: Any) -> None:
    """Add the rows in the file PATH as a dataset, to be used wherever a dataset is named.

    The file is CSV, LIBSVM text, ARFF, .npy or Parquet. It stays where it is.
    """
    from okbench.datasets.user.user_entry import add_user_dataset

    for columns in ("categorical", "drop"):
        reading[columns] = reading[columns] or ()
    found = add_user_dataset(path, name, **reading)
    for note in found.notes:
        say(note)
    rows = found.dataset
    click.echo(f"{name}: {rows.n_rows:,} rows, {rows.n_features} columns, {rows.task}")


@click.command(epilog=INIT_EPILOG)
@click.argument("data", type=PATH)
@column_options
@run_options
@click.option("--learners", type=LEARNERS, help="Learners to compare.  [default: all of the task]")
@additions
@click.option("--trials", type=click.IntRange(1), help="Number of permutations.  [default: 20]")
@click.option("-o", "--output", type=FILE, help="File to write.  [default: my.yaml for my.csv]")
def init(
    data: Path,
    learners: tuple[str, ...] | None,
    with_learners: tuple[tuple[str, ...], ...],
    with_settings: tuple[str, ...],
    trials: int | None,
    output: Path | None,
    **reading: Any,
) -> None:
    """Write a table that compares learners on the rows in DATA, as YAML to edit and run.

    It is the table that `okbench run --data` would run, with a comment on every part.
    """
    from okbench.base.whole_files import write_whole
    from okbench.papers.commands import command

    path = output or Path(f"{data.name.partition('.')[0] or data.name}.yaml")
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{path}: a table is a .yaml file")
    if path.exists():
        raise UsageError(f"{path} is there already; remove it, or give another name with -o")
    more = additions_of(with_learners, with_settings)
    with redirect_stdout(sys.stderr):  # what learners print as they are imported
        own = own_table(data, learners=learners, more=more, runs=trials, searched=True, **reading)
        text = own.text(path, stored=False)
    write_whole(path, text.encode("utf-8"))
    click.echo(f"{path}  ({command('run', path, allow=own.user_defined)})")
