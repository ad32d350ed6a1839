"""okbench site: results as pages."""

from __future__ import annotations

from pathlib import Path

import click

from okbench.cli.choices import TABLE
from okbench.cli.report import RESULTS

EPILOG = """\b
  okbench site                              everything in runs/, to site/index.html
  okbench site --results results --to public
  okbench site table5 mine.yaml             these tables only
"""


@click.command(epilog=EPILOG)
@click.argument("tables", type=TABLE, nargs=-1)
@RESULTS
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    default=Path("site"),
    show_default=True,
    help="Folder to write.",
)
def site(tables: tuple[str, ...], results: Path, to: Path) -> None:
    """Write what was measured as pages that need no network. Runs nothing."""
    from okbench.learners.registry import versions
    from okbench.papers.table_catalogue import find
    from okbench.reports.site.build import build

    written = build(results, to, [find(name) for name in tables], versions())
    click.echo(f"{written.index}: {', '.join(written.tables)} ({written.bytes / 1e6:.1f} MB)")
