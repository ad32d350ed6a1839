"""okbench list: the tables, datasets and learners that there are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import StoreError
from okbench.cli import options

if TYPE_CHECKING:
    from okbench.datasets.catalogue.specs import DatasetSpec

LEAST = 40  # columns of a terminal in which a text can be read

EPILOG = """\b
Examples:
  okbench list
  okbench list datasets --format json
"""


@click.group("list", invoke_without_command=True, epilog=EPILOG)
@click.pass_context
def list_group(ctx: click.Context) -> None:
    """List tables, datasets and learners: one kind, or all three."""
    if ctx.invoked_subcommand is None:
        for title, command in (
            ("Tables and figures", list_tables),
            ("Datasets", list_datasets),
            ("Learners", list_learners),
        ):
            click.secho(title, bold=True)
            ctx.invoke(command, form="text")
            click.echo()


@list_group.command(
    "tables", short_help="List the tables.", epilog="\b\nExample:\n  okbench list tables"
)
@options.text_or_json
def list_tables(form: str) -> None:
    """List the tables and figures that okbench can run, and those of your own rows."""
    from okbench.papers.table_catalogue import names, own_cards

    cards = [*names(), *own_cards()]
    _show([{"name": one.name, "short": one.short, "title": one.title} for one in cards], form)


@list_group.command(
    "datasets", short_help="List the datasets.", epilog="\b\nExample:\n  okbench list datasets"
)
@options.text_or_json
def list_datasets(form: str) -> None:
    """List the datasets: rows, columns, and how many of their files are stored here.

    A dataset that okbench computes itself has no files; it is "embedded".
    """
    from okbench.datasets.catalogue.dataset_catalogue import dataset_names, spec

    _show([_dataset_row(entry) for entry in map(spec, dataset_names())], form)


@list_group.command(
    "learners", short_help="List the learners.", epilog="\b\nExample:\n  okbench list learners"
)
@options.text_or_json
def list_learners(form: str) -> None:
    """List the learners: names in tables and on the command line, and classes in Python."""
    from okbench.learners.registry import catalogue

    _show(
        [
            {
                "name": entry.name,
                "class": entry.target.rpartition(":")[2],
                "paper": entry.paper,
                "tasks": ", ".join(entry.tasks),
                "summary": entry.summary,
            }
            for entry in catalogue().values()
        ],
        form,
    )


def _dataset_row(entry: DatasetSpec) -> dict[str, Any]:
    """A dataset, and which of its files are stored here, how large, and verified when."""
    from okbench.datasets.catalogue.dataset_catalogue import variant
    from okbench.datasets.data_folder import status

    row: dict[str, Any] = {
        "name": entry.name,
        "task": entry.task,
        "rows": variant(entry).rows,
        "columns": entry.features,
    }
    if entry.embedded:
        return {**row, "here": "embedded", "size": "", "verified": ""}
    try:
        held = status(entry)
    except StoreError as error:
        click.echo(f"{entry.name}: {error}", err=True)
        return {**row, "here": "damaged", "size": "", "verified": ""}
    here = "all" if held.complete else f"{held.files} of {held.of}" if held.files else "no"
    size = f"{held.bytes / 1e6:.2f} MB" if held.bytes else ""
    return {**row, "here": here, "size": size, "verified": held.verified}


def _show(rows: Sequence[dict[str, Any]], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    lines = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    right = [isinstance(value, int) for value in rows[0].values()]
    for number, line in enumerate(lines):
        cells = [
            word.rjust(width) if numeric else word.ljust(width)
            for word, width, numeric in zip(line, widths, right, strict=True)
        ]
        for part in _fitting(cells, widths):
            click.secho(part, dim=number == 0)


def _fitting(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The cells in lines of the terminal: the last one is wrapped, beside the others where it has
    room, and otherwise below them."""
    most = options.page_width()
    line = f"  {'  '.join(cells)}".rstrip()
    before = f"  {'  '.join(cells[:-1])}"
    if 2 * len(widths) + sum(widths) <= most:
        yield line
    elif most - len(before) - 2 >= LEAST:
        first, *more = wrap(cells[-1].strip(), most - len(before) - 2) or [""]
        yield f"{before}  {first}"
        yield from (" " * (len(before) + 2) + text for text in more)
    else:
        yield before.rstrip()
        yield from wrap(cells[-1].strip(), most, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)
