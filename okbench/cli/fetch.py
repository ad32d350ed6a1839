"""okbench fetch: download datasets and verify them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import FetchError, UsageError
from okbench.cli.choices import SOURCES, kind_of, unknown_name

if TYPE_CHECKING:
    from okbench.datasets.fetch.fetching import FetchResult, Progress

EPILOG = """\b
Examples:
  okbench fetch cod-rna a9a
  okbench fetch table5                  every dataset of a table
  okbench fetch --all --to bundle       a copy for a machine without network
  okbench fetch --all --mirror bundle   from that copy
"""


@click.command(epilog=EPILOG)
@click.argument("names", nargs=-1, type=SOURCES)
@click.option("--all", "everything", is_flag=True, help="Fetch every dataset.")
@click.option(
    "--mirror",
    help="Folder or address to fetch from instead of the original ones.  [env: OKBENCH_MIRROR]",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    help="Folder for a copy, which is a mirror for a machine without network.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Downloads at the same time.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Compute the checksums of stored files and of prepared rows again; fetch nothing.",
)
def fetch(
    names: tuple[str, ...],
    everything: bool,
    mirror: str | None,
    to: Path | None,
    jobs: int,
    verify: bool,
) -> None:
    """Download the datasets NAMES, or all datasets of a table named there.

    A file is stored under its name only if its checksum is right. An interrupted download is
    resumed. A server is left when it sends less than 1 kB a second for a minute, and an address
    is given up after 6 tries without progress or 100 in all. A file whose length the server does
    not state ends at what its entry allows (its size, or what its rows and columns can take;
    16 GB at most), or when 1 GB of the disk is left. A dataset that needs a login is listed with
    the steps to get it; this is an error only if the dataset itself is named.
    """
    from okbench.datasets.fetch.fetching import fetch as bring
    from okbench.datasets.fetch.fetching import verify as hash_again

    if everything == bool(names):
        raise UsageError("name datasets or tables, or give --all")
    wanted = _datasets(names, everything)
    with _progress() as watch:
        if verify:
            results = hash_again(wanted, progress=watch)
        else:
            results = bring(wanted, mirror=mirror, to=to, jobs=jobs, progress=watch)
    _print_results(results, "no stored file to verify" if verify else "no file to fetch")
    unwanted = ("failed",) if everything else ("failed", "missing")
    named = _datasets([name for name in names if kind_of(name) == "dataset"], everything)
    lacking = [
        result.file
        for result in results
        if result.state in unwanted
        or (result.state == "by hand" and result.dataset in named and not everything)
    ]
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        raise FetchError(
            f"{len(lacking)} of {len(results)} files {verb} missing or damaged; see the lines above"
        )


def _datasets(names: Sequence[str], everything: bool) -> list[str]:
    """The datasets meant by names of datasets and tables."""
    from okbench.datasets.catalogue import dataset_catalogue
    from okbench.papers.table_catalogue import find

    found = list(dataset_catalogue.dataset_names()) if everything else []
    for name in names:
        match kind_of(name):
            case "dataset":
                found.append(dataset_catalogue.spec(name).name)
            case "table":
                found += [row.name for row in find(name).datasets]
            case _:
                raise unknown_name(name, ("dataset", "table"))
    return list(dict.fromkeys(found))


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A progress bar per file on stderr; silent if stderr is not a terminal."""
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


def _print_results(results: Sequence[FetchResult], nothing: str) -> None:
    """One line per file on stdout, then the counts."""
    from okbench.datasets.fetch.fetching import by_hand_steps

    width = max((len(result.file) for result in results), default=0)
    for result in results:
        size = f"{result.bytes / 1e6:9.2f} MB" if result.bytes else " " * 12
        said = result.message.removeprefix(f"{result.file}: ")
        what = result.checked if result.ok else said.partition("\n")[0].removesuffix(":")
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
