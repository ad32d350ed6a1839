"""okbench list: what can be run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from okbench.datasets.catalogue.specs import DatasetSpec

JSON = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")


@click.group("list", invoke_without_command=True)
@click.pass_context
def list_group(ctx: click.Context) -> None:
    """What can be run: tables, datasets, learners."""
    if ctx.invoked_subcommand is None:
        for title, command in (
            ("Tables and figures", list_tables),
            ("Datasets", list_datasets),
            ("Learners", list_learners),
        ):
            click.secho(title, bold=True)
            ctx.invoke(command, form="text")
            click.echo()


@list_group.command("tables")
@JSON
def list_tables(form: str) -> None:
    """Tables and figures."""
    from okbench.papers.table_catalogue import names

    _show(
        [{"name": card.name, "short": card.short, "title": card.title} for card in names()],
        form,
    )


@list_group.command("datasets")
@JSON
def list_datasets(form: str) -> None:
    """Datasets, and which of them are here."""
    from okbench.datasets.catalogue.dataset_catalogue import names, spec

    _show([_dataset_row(entry) for entry in map(spec, names())], form)


@list_group.command("learners")
@JSON
def list_learners(form: str) -> None:
    """Learners."""
    from okbench.learners.registry import catalogue

    _show(
        [
            {
                "name": entry.name,
                "paper": entry.paper,
                "tasks": ", ".join(entry.tasks),
                "summary": entry.summary,
            }
            for entry in catalogue().values()
        ],
        form,
    )


def _dataset_row(entry: DatasetSpec) -> dict[str, Any]:
    """A dataset, and what is held of it: how many of its files, how much, checked when."""
    from okbench.datasets.data_folder import status

    row: dict[str, Any] = {"name": entry.name, "task": entry.task, "columns": entry.features}
    if entry.embedded:
        return {**row, "here": "made here", "size": "", "verified": ""}
    held = status(entry)
    here = "all" if held.complete else f"{held.files} of {held.of}" if held.files else "no"
    size = f"{held.bytes / 1e6:.2f} MB" if held.bytes else ""
    return {**row, "here": here, "size": size, "verified": held.verified}


def _show(rows: Sequence[dict[str, Any]], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    lines = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        told = "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True))
        click.secho(f"  {told.rstrip()}", dim=number == 0)
