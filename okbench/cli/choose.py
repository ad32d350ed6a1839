"""okbench choose: which learner to use on rows of your own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from okbench.base.errors import UsageError, safe_to_show
from okbench.cli import options
from okbench.cli.choices import LEARNERS, SIZE, TIME
from okbench.cli.own_rows import additions, additions_of, column_options, rows_file, scale_option

if TYPE_CHECKING:
    from okbench.datasets.dataset_types import Dataset
    from okbench.trials.choose.standings import LeftOut, Search
    from okbench.trials.run.estimate import Guess

EPILOG = """\b
Examples:
  okbench choose --data my.csv --target y
  okbench choose --data big.parquet --target y --time 2m --memory 100M
  okbench choose --data my.csv --learners FOGD,mine:Mine --page choice.html
"""


@click.command(epilog=EPILOG)
@click.option("--data", type=options.PATH, required=True, help="File of your own rows.")
@column_options
@scale_option
@click.option("--in-order", is_flag=True, help="Learn the rows in the order of the file.")
@click.option(
    "--time",
    "seconds",
    type=TIME,
    default="2m",
    show_default=True,
    help="Time for search and race, after rows are read and learners compiled: 90s, 30m or 2h.",
)
@click.option(
    "--memory", type=SIZE, help="Most that a model may take: 100M or 2G.  [default: what is free]"
)
@click.option("--learners", type=LEARNERS, help="Only these learners.  [default: all of the task]")
@additions
@click.option(
    "--unbounded-rows",
    "unbounded",
    type=click.IntRange(0),
    default=20_000,
    show_default=True,
    help="Leave learners without a budget out if there are more rows than this.",
)
@click.option(
    "--tune/--no-tune",
    "searched",
    default=True,
    help="Search widths and steps on the first 1,000 rows, which the race leaves out.",
    show_default=True,
)
@options.seed
@click.option("--page", type=options.FILE, help="Write the result as a web page, too.")
@options.text_or_json
def choose(
    data: Path,
    in_order: bool,
    scale: str | None,
    learners: tuple[str, ...] | None,
    with_learners: tuple[tuple[str, ...], ...],
    with_settings: tuple[str, ...],
    seconds: float,
    memory: float | None,
    unbounded: int,
    searched: bool,
    seed: int,
    page: Path | None,
    form: str,
    **reading: Any,
) -> None:
    """Choose a learner for the rows in a file, within a time and a memory.

    All learners that fit are run on the same rows, cheapest first, in parts that grow. A learner is
    stopped if a paired test shows that it costs more on a part than the best one, or if it is so
    slow that the rows could not be finished. The answer is the frontier of metric, rows per second
    and memory, and the command that uses the best learner. If no learner is better than always the
    most frequent class, or the mean, none is recommended. The clock decides where learners stop;
    the metric of each on its rows is exact. Large files are read once, in pieces.
    """
    from okbench.papers.additions import read_added
    from okbench.reports.choose_page import write_page
    from okbench.reports.choose_text import json_of, text_of
    from okbench.trials.choose.choosing import Asked
    from okbench.trials.choose.choosing import choose as race

    if page is not None and page.suffix not in (".html", ".htm"):
        raise UsageError(f"{page}: a page is an .html file")
    more = additions_of(with_learners, with_settings)
    asked = Asked(
        None if learners is None else tuple(map(read_added, learners)),
        more, seconds, memory, unbounded, searched, in_order, seed,
    )  # fmt: skip
    file = rows_file(data, scale, in_order, **reading)
    with redirect_stdout(sys.stderr), Bar() as bar:  # what learners print is no result
        found, file = race(file, asked, bar)
    if page is not None:
        write_page(found, file, page)
        click.echo(f"{page} is the page", err=True)
    click.echo(json_of(found, file) if form == "json" else text_of(found, file))


class Bar:
    """Says on stderr what is going to run, and shows a bar with the learner and its row."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._bar = tqdm(disable=None, unit=" rows", dynamic_ncols=True, unit_scale=True)
        self._rows: dict[str, int] = {}

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def read(self, notes: Sequence[str]) -> None:
        for note in notes:
            self._say(note)

    def admitted(self, data: Dataset, labels: Sequence[str], left_out: Sequence[LeftOut]) -> None:
        self._say(
            f"{data.n_rows:,} rows × {data.n_features:,} columns, {data.task}: {len(labels)}"
            f" learners fit, {len(left_out)} are left out"
        )

    def searched(self, label: str) -> None:
        self._bar.set_description(f"preparing {label}")

    def estimated(self, search: Search, expected: Sequence[tuple[str, Guess]], rows: int) -> None:
        from okbench.base.quantities import spoken_bytes, spoken_time

        if search.trials:
            self._say(
                f"search for settings: {search.trials} trials on {search.rows:,} rows,"
                f" {spoken_time(search.seconds)} in the learners, not counted below"
            )
        for label, guess in expected:
            held = f", {spoken_bytes(guess.bytes)} after the search" if guess.bytes else ""
            self._say(f"  {label}: about {spoken_time(guess.seconds)} for {rows:,} rows{held}")
        self._bar.reset(total=rows * len(expected))

    def learned(self, label: str, row: int) -> None:
        self._bar.set_description(f"{label}, row {row:,}", refresh=False)
        self._bar.update(row - self._rows.get(label, 0))
        self._rows[label] = row

    def _say(self, line: str) -> None:
        self._bar.write(safe_to_show(line), file=sys.stderr)
