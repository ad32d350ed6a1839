"""okbench site: stored outcomes as web pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from okbench.cli import options
from okbench.cli.choices import TABLE

if TYPE_CHECKING:
    from okbench.reports.site.about import About, DatasetFacts, LearnerFacts

EPILOG = """\b
Examples:
  okbench site                              all of runs/, to site/index.html
  okbench site --results results --to public
  okbench site table5 mine.yaml             only these tables
"""


@click.command(epilog=EPILOG)
@click.argument("tables", type=TABLE, nargs=-1)
@options.results_or_baselines
@click.option(
    "--to",
    type=options.PATH,
    default=Path("site"),
    show_default=True,
    help="Folder for the pages.",
)
def site(tables: tuple[str, ...], results: Path | None, to: Path) -> None:
    """Write the stored outcomes of TABLES, or of all tables, as web pages.

    There are pages for tables, trials, claims, ranks, memory, learners and datasets. They need no
    network and no server. If runs/ has no outcomes of these tables, the pages show the baselines of
    the project. This runs nothing.
    """
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.results_paths import RUNS, outcomes_of_all
    from okbench.reports.site.build import build

    found = [find(name, results=results or RUNS) for name in tables]
    place = results or outcomes_of_all([table.trials_of for table in found])
    if results is None and place != RUNS:
        options.say_baselines(", ".join(table.name for table in found) or "any table", place)
    written = build(place, to, found, versions(), _about())
    click.echo(f"{written.index}: {', '.join(written.tables)} ({written.bytes / 1e6:.1f} MB)")


def _about() -> About:
    """What the registry and the entries say of okbench's own learners and of all datasets."""
    from okbench.reports.site.about import About

    return About(
        {facts.name: facts for facts in _learners()}, {facts.name: facts for facts in _datasets()}
    )


def _learners() -> Iterator[LearnerFacts]:
    import inspect

    from okbench.learners.registry import catalogue, is_ours, settings_of
    from okbench.learners.settings import meanings_of
    from okbench.reports.site.about import LearnerFacts, SettingFacts

    for entry in catalogue().values():
        if not is_ours(entry):
            continue  # a package of others may do anything as it is imported
        cls = entry.load()
        meanings = meanings_of(cls)
        settings = tuple(
            SettingFacts(
                name,
                "" if one.default is one.empty else f"{one.default}",
                meanings.get(name, ""),
            )
            for name, one in settings_of(cls).items()
        )
        yield LearnerFacts(
            entry.name,
            entry.summary,
            inspect.getdoc(cls) or "",
            entry.paper,
            entry.version,
            entry.tasks,
            settings,
        )


def _datasets() -> Iterator[DatasetFacts]:
    from okbench.datasets.catalogue.dataset_catalogue import dataset_names, spec
    from okbench.reports.site.about import DatasetFacts

    for name in dataset_names():
        entry = spec(name)
        variants = {variant.name: variant.note for variant in entry.variants.values()}
        yield DatasetFacts(
            entry.name,
            entry.task,
            entry.features,
            entry.cite,
            entry.licence,
            entry.page,
            {key: note for key, note in variants.items() if note},
        )
