"""okbench site: stored outcomes as web pages."""

from __future__ import annotations

from pathlib import Path

import click

from okbench.cli import options
from okbench.cli.choices import TABLE

EPILOG = """\b
Examples:
  okbench site                              all of runs/, to site/index.html
  okbench site --results results --to public
  okbench site table5 mine.yaml             only these tables
"""


@click.command(epilog=EPILOG)
@click.argument("tables", type=TABLE, nargs=-1)
@options.results
@click.option(
    "--to",
    type=options.PATH,
    default=Path("site"),
    show_default=True,
    help="Folder for the pages.",
)
def site(tables: tuple[str, ...], results: Path, to: Path) -> None:
    """Write the stored outcomes of TABLES, or of all tables, as web pages.

    The pages need no network and no server. This runs nothing.
    """
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.site.build import build

    written = build(results, to, [find(name, results=results) for name in tables], versions())
    click.echo(f"{written.index}: {', '.join(written.tables)} ({written.bytes / 1e6:.1f} MB)")
