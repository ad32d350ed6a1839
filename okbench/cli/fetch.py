"""okbench fetch: bring datasets here, verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import ConfigError, FetchError, UsageError
from okbench.cli.choices import SOURCES

if TYPE_CHECKING:
    from okbench.datasets.fetch.fetching import FetchResult, Progress

EPILOG = """\b
  okbench fetch cod-rna a9a
  okbench fetch table5                        every dataset of a table
  okbench fetch --all --mirror /media/bundle  from a folder, or another address
  okbench fetch --all --to bundle             a bundle for a machine with no network
"""


@click.command(epilog=EPILOG)
@click.argument("names", nargs=-1, type=SOURCES)
@click.option("--all", "everything", is_flag=True, help="Every dataset there is.")
@click.option("--mirror", help="Folder or address to fetch from instead; also OKBENCH_MIRROR.")
@click.option("--to", type=click.Path(path_type=Path), help="Make an offline bundle there, too.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=4, show_default=True)
@click.option("--verify", is_flag=True, help="Hash again what is here; fetch nothing.")
def fetch(
    names: tuple[str, ...],
    everything: bool,
    mirror: str | None,
    to: Path | None,
    jobs: int,
    verify: bool,
) -> None:
    """Bring datasets here: NAMES of datasets or of tables.

    A file gets its name only when its bytes are the right ones; what was cut off is resumed.
    """
    from okbench.datasets.fetch.fetching import fetch as bring
    from okbench.datasets.fetch.fetching import verify as hash_again

    wanted = _datasets(names, everything)
    with _progress() as watch:
        if verify:
            results = hash_again(wanted, progress=watch)
        else:
            results = bring(wanted, mirror=mirror, to=to, jobs=jobs, progress=watch)
    _tell(results, "nothing here to hash" if verify else "nothing to fetch: rows made here")
    unwanted = ("failed",) if everything else ("failed", "missing", "by hand")
    lacking = [result.file for result in results if result.state in unwanted]
    if lacking:
        raise FetchError(f"{len(lacking)} of {len(results)} files are lacking; their lines say why")


def _datasets(names: Sequence[str], everything: bool) -> list[str]:
    """The datasets meant by names of datasets and tables."""
    from okbench.datasets.catalogue import dataset_catalogue

    if everything == bool(names):
        raise UsageError("name datasets or tables, or say --all")
    found = list(dataset_catalogue.names()) if everything else []
    for name in names:
        try:
            found.append(dataset_catalogue.spec(name).name)
        except ConfigError:
            raise
        except UsageError as no_dataset:
            found += _datasets_of(name, no_dataset)
    return list(dict.fromkeys(found))


def _datasets_of(table: str, no_dataset: UsageError) -> list[str]:
    from okbench.papers.table_catalogue import find

    try:
        return [row.name for row in find(table).datasets]
    except ConfigError:
        raise
    except UsageError as no_table:
        raise UsageError(f"{no_dataset}\n{no_table}") from None


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A bar a file on stderr, with bytes and rate; silent when nobody is looking."""
    from tqdm import tqdm

    bars: dict[tuple[str, str], Any] = {}

    def watch(progress: Progress) -> None:
        if progress.message:
            click.echo(f"{progress.file}: {progress.message}", err=True)
            return
        key = (progress.dataset, progress.file)
        if key not in bars:
            bars[key] = tqdm(
                desc=progress.file, unit="B", unit_scale=True, disable=None, leave=False
            )
        bar = bars[key]
        bar.total = progress.total
        bar.update(progress.done - bar.n)

    try:
        yield watch
    finally:
        for bar in bars.values():
            bar.close()


def _tell(results: Sequence[FetchResult], nothing: str) -> None:
    """One line a file on stdout, then the counts."""
    from okbench.datasets.fetch.fetching import by_hand_steps

    width = max((len(result.file) for result in results), default=0)
    for result in results:
        size = f"{result.bytes / 1e6:9.2f} MB" if result.bytes else " " * 12
        what = result.checked if result.ok else result.message.removeprefix(f"{result.file}: ")
        line = f"{result.state:<8} {result.file:<{width}} {size}  {what}"
        click.echo(line.rstrip())
    for name in dict.fromkeys(result.dataset for result in results if result.state == "by hand"):
        steps = by_hand_steps(name)
        if steps:
            click.echo(f"\n{name} cannot be fetched unattended:", err=True)
        for number, step in enumerate(steps, start=1):
            click.echo(f"  {number}. {step}", err=True)
    counts = Counter(result.state for result in results)
    click.echo(", ".join(f"{count} {state}" for state, count in sorted(counts.items())) or nothing)
