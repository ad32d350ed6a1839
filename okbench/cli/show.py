"""okbench show: a dataset or a trial, in full."""

from __future__ import annotations

from pathlib import Path

import click

from okbench.base.errors import UsageError
from okbench.cli.choices import SOURCES
from okbench.cli.report import RESULTS


@click.command()
@click.argument("name", type=SOURCES)
@click.option("--variant", default="", help="Of a dataset: one of the sizes papers made of it.")
@RESULTS
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def show(name: str, variant: str, results: Path, form: str) -> None:
    """Show a dataset (rows, ranges, provenance, who uses it) or the trial whose id begins so."""
    from okbench.cli.show_dataset import show_dataset
    from okbench.datasets.catalogue.dataset_catalogue import spec

    try:
        spec(name)
    except UsageError as no_dataset:
        from okbench.reports.results_paths import BASELINES
        from okbench.reports.tables.explain import describe_trial

        told = describe_trial(name, list(dict.fromkeys([results, BASELINES])))
        if told is None:
            told = f"{no_dataset} Nor does the id of a trial in {results} begin so"
            raise UsageError(told) from None
        click.echo(told.rstrip())
        return
    show_dataset(name, variant, form)
