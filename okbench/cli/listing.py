"""okbench list: what can be run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

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
    from okbench.papers.tables import names

    _show(
        [{"name": card.name, "short": card.short, "title": card.title} for card in names()],
        form,
    )


@list_group.command("datasets")
@JSON
def list_datasets(form: str) -> None:
    """Datasets, and which of them are here."""
    from okbench.datasets.registry import names, spec

    _show(
        [
            {"name": entry.name, "task": entry.task, "features": entry.features}
            for entry in map(spec, names())
        ],
        form,
    )


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


def _show(rows: Sequence[dict[str, Any]], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    widths = {key: max((len(str(row[key])) for row in rows), default=0) for key in rows[0]}
    for row in rows:
        line = "  ".join(str(value).ljust(widths[key]) for key, value in row.items())
        click.echo(f"  {line.rstrip()}")
