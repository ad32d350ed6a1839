"""A user's own rows on the command line: how their file is read, the definition of their table that
is stored beside the outcomes, and the search for its settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from okbench.base.errors import UsageError
from okbench.base.shared_types import SCALES, Task
from okbench.cli.choices import ADDED, BUCKETS, SETTINGS, WORDS
from okbench.cli.options import ORDERS, say, together

if TYPE_CHECKING:
    from okbench.papers.additions import AddedLearner, Additions
    from okbench.papers.table_types import RowsFile, Table
    from okbench.trials.plan.options import Options
    from okbench.trials.plan.own_definition import OwnTable

column_options = together(
    click.option(
        "--target", help="Column to predict: its name, or its place from 0.  [default: the last]"
    ),
    click.option(
        "--task",
        type=click.Choice(get_args(Task)),
        help="What is learned.  [default: guessed from the target]",
    ),
    click.option(
        "--categorical",
        type=WORDS,
        help="Columns that hold categories although they look like numbers.",
    ),
    click.option("--drop", type=WORDS, help="Columns to leave out."),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "mean"]),
        default="refuse",
        show_default=True,
        help="Refuse missing values, or replace each by the mean of the rows before it.",
    ),
)
scale_option = click.option(
    "--scale",
    type=click.Choice(list(SCALES)),
    help="Scale the columns: to mean 0 and deviation 1 (standard), or to 0 to 1 (unit). This is"
    " fitted on a sample of 1,000 rows, or with --in-order on the rows before each."
    "  [default: standard; rows that are mostly zero stay as they are]",
)
run_options = together(
    scale_option,
    click.option(
        "--hash",
        type=BUCKETS,
        help="Hash the columns to so many, with signs: 2^18. For rows of millions of columns.",
    ),
    click.option(
        "--in-order",
        is_flag=True,
        help="Make one pass in the order of the file, instead of 20 random permutations.",
    ),
)
READING_NAMES = ("target", "task", "categorical", "drop", "missing", "scale", "hash", "in_order")
additions = together(
    click.option(
        "--with",
        "with_learners",
        type=ADDED,
        multiple=True,
        metavar="LEARNERS",
        help="Add learners to the table: module:Class for one of your own, and FOGD[width=2] for"
        " a learner with other settings. They are never judged by the paper's numbers.",
    ),
    click.option(
        "--set",
        "with_settings",
        type=SETTINGS,
        multiple=True,
        metavar="LEARNER.SETTING=VALUE",
        help="Add a learner of the table with another setting: FOGD.width=2. Of a learner that is"
        " added, or runs on your own rows, the setting itself is changed.",
    ),
)


def additions_of(
    with_learners: tuple[tuple[str, ...], ...], with_settings: tuple[str, ...]
) -> Additions:
    """What --with and --set mean."""
    from okbench.learners.registry import catalogue
    from okbench.papers.additions import read_additions

    more = read_additions([one for several in with_learners for one in several], with_settings)
    if not more:
        return more
    names = {name.casefold(): name for name in catalogue()}
    spelled = [replace(one, name=names.get(one.name.casefold(), one.name)) for one in more.learners]
    return replace(more, learners=tuple(spelled))


def labels_with_added(
    learners: tuple[str, ...] | None, table: Table, more: Additions
) -> tuple[str, ...] | None:
    """The learners asked for: those that the command adds are among them."""
    if learners is None or not more:
        return learners
    return (*learners, *(column.label for column in table.learners if column.added))


def rows_file(data: Path, scale: str | None, in_order: bool, **reading: Any) -> RowsFile:
    """What the options for columns mean."""
    from okbench.papers.rows_file import RUNNING, shown_path
    from okbench.papers.table_types import RowsFile

    chosen = "running" if in_order else ""
    if scale is not None:
        chosen = RUNNING.get(SCALES[scale], "none") if in_order else SCALES[scale]
    for name in ("categorical", "drop"):
        reading[name] = tuple(reading[name] or ())
    reading["hash"] = reading.get("hash") or 0
    return RowsFile(shown_path(data), scale=chosen, **reading)


def own_table(
    data: Path,
    in_order: bool,
    learners: tuple[str, ...] | None,
    more: Additions,
    runs: int | None,
    searched: bool,
    order: str | None = None,
    **reading: Any,
) -> OwnTable:
    """The table of a user's own rows that the options describe; what was guessed goes to stderr."""
    from okbench.papers.additions import read_added
    from okbench.trials.plan.own_definition import OwnTable

    if in_order and order:
        raise UsageError("--in-order excludes --order: it is an order of its own")
    named: tuple[AddedLearner, ...] | None = None
    if learners is not None:
        named = tuple(map(read_added, learners))
    file = rows_file(data, in_order=in_order, **reading)
    own = OwnTable(file, in_order, runs, named, more, searched, ORDERS[order] if order else None)
    for note in own.notes:
        say(note)
    return own


def defined(own: OwnTable, results: Path, keep: bool) -> tuple[Table, tuple[str, ...]]:
    """The table of own rows and the labels of its learners. The definition is kept beside the
    outcomes, with the learners that ran there before on the same rows."""
    from okbench.base.config_nodes import parse_yaml
    from okbench.base.whole_files import write_whole
    from okbench.papers.search import TUNED
    from okbench.papers.table_catalogue import OWN
    from okbench.papers.table_file import table_of
    from okbench.papers.table_names import file_of
    from okbench.trials.plan.options import Options
    from okbench.trials.plan.own_definition import earlier_learners
    from okbench.trials.plan.planning import refuse_invalid_settings, trials_by_cell
    from okbench.trials.plan.user_table import load_of

    name = f"{OWN}/{own.file.path.name}"
    place = file_of(results, name, ".yaml")
    text = own.text(place)
    before = earlier_learners(place, parse_yaml(text, name, place).plain())
    if before:
        text = own.text(place, before)
    root, labels = parse_yaml(text, name, place), tuple(own.columns())
    # settings that were searched for other rows stand beside `place` until it is written
    apart = place if before is not None else place.parent / "apart" / place.name
    table = table_of(root, apart, name)
    # refuses what cannot run before anything is written
    refuse_invalid_settings(table, Options(learners=labels))
    trials_by_cell(table, load_of(table), Options(learners=labels, trials=1))
    if keep:
        if before is None:
            file_of(results, name, TUNED).unlink(missing_ok=True)
        write_whole(place, text.encode("utf-8"))
    return table, labels


def searched_first(table: Table, results: Path, options: Options) -> bool:
    """Search the settings that the chosen learners leave open; whether there were any."""
    from okbench.base.quantities import spoken_time
    from okbench.cli.run import progress
    from okbench.trials.plan.user_table import load_of, missing_of
    from okbench.trials.search.own_search import is_searched, search_settings
    from okbench.trials.store.files import Store

    if not is_searched(table, options):
        return False
    with progress(Store.of(results, f"{table.name}.tune")) as watch:
        found = search_settings(table, load_of(table), missing_of(table), results, options, watch)
    click.echo(
        f"search for settings of {found.learners} learner{'s' * (found.learners != 1)}:"
        f" {found.trials} trials on {found.rows:,} rows, {spoken_time(found.seconds)} in the"
        " learners, not counted below  (--no-tune leaves it out)",
        err=True,
    )
    return True
