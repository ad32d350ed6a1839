"""The shelf of tables: what there is to run, and a table by its name.

A table is named by its place under configs/ (`lsokl/table5`). Its last part alone (`table5`) means
it too when no other paper has the same, or when its file claims the name with `short:`. The table
of a user's own rows (`own/my.csv`) is a file beside its outcomes, which `okbench run --data` wrote;
its last part means it when no table of a paper has the same.
"""

from __future__ import annotations

from pathlib import Path

from okbench.base.errors import ConfigError, UsageError, did_you_mean
from okbench.base.shipped import shipped
from okbench.papers.additions import Additions
from okbench.papers.search import TUNED, is_overlay
from okbench.papers.table_file import read_card, read_table
from okbench.papers.table_names import checked_name, file_of
from okbench.papers.table_types import Card, Table

OWN = "own"  # the folder of tables of a user's own rows
_RUNS = Path("runs")
_NOTHING = Additions()


def names(folder: Path | None = None) -> list[Card]:
    """Every table there is: those of no paper first, then paper by paper."""
    shelf = folder or shipped("configs")
    files = [
        (path.relative_to(shelf).with_suffix(""), path)
        for path in shelf.rglob("*.yaml")
        if not is_overlay(path)
    ]
    files.sort(key=lambda file: (len(file[0].parts), file[0].parts))
    cards = [read_card(path, place.as_posix()) for place, path in files]
    claimed: dict[str, str] = {}
    for card in cards:
        if card.short and claimed.setdefault(card.short.casefold(), card.name) != card.name:
            both = f"{claimed[card.short.casefold()]} and {card.name}"
            raise ConfigError(f"two tables claim the short name '{card.short}': {both}")
    return cards


def own_tables(results: Path = _RUNS) -> dict[str, Path]:
    """The tables of a user's own rows that a results folder has, else those in runs/, by name."""
    return {
        f"{OWN}/{path.stem}": path
        for folder in (_RUNS, results)
        for path in sorted(folder.glob(f"{OWN}/*.yaml"))
        if not path.name.endswith(TUNED)
    }


def own_cards() -> list[Card]:
    """What a listing shows of the tables of a user's own rows, also of one that is damaged."""
    return [_own_card(path, name) for name, path in own_tables().items()]


def _own_card(path: Path, name: str) -> Card:
    try:
        return read_card(path, name)
    except ConfigError as error:
        return Card(name, "", f"cannot be read: {error}", (), ())


def find(
    name: str,
    folder: Path | None = None,
    *,
    tuned: Path | None = None,
    results: Path = _RUNS,
    more: Additions = _NOTHING,
) -> Table:
    """The table of a name, full or short, in any case, or the one in a `.yaml` file named so, with
    the columns of `more`.

    `tuned` is a file of settings to count instead of the tuned ones beside the table, or the name
    of an alternative beside it. `results` is the folder where the table of a user's own rows is,
    with the settings that were searched for it.
    """
    own = own_tables(results)
    if name in own:
        return read_table(own[name], name, tuned, more)
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        full = checked_name(path.stem, f"{path}: its name")
        found = read_table(path, full, tuned, more)
        searched = file_of(results, full, TUNED)
        if tuned is None and has_own_rows(found) and searched.is_file():
            return read_table(path, full, searched, more)
        return found
    shelf = folder or shipped("configs")
    full = _full_name(name, names(shelf), list(own))
    return read_table(own.get(full, shelf / f"{full}.yaml"), full, tuned, more)


def has_own_rows(table: Table) -> bool:
    """Whether a table has rows of a file that it names."""
    return any(row.file is not None for row in table.datasets)


def _full_name(name: str, cards: list[Card], own: list[str]) -> str:
    asked = name.casefold()
    by_full = {full.casefold(): full for full in [*own, *(card.name for card in cards)]}
    if asked in by_full:
        return by_full[asked]
    claimed = [card.name for card in cards if card.short and card.short.casefold() == asked]
    papers = claimed or [card.name for card in cards if _last_part(card.name) == asked]
    same = [*(full for full in own if _last_part(full) == asked), *papers]
    if len(same) > 1:
        raise UsageError(f"'{name}' could be {' or '.join(same)}; say which")
    if not same:
        known = [*by_full.values(), *map(_last_part, by_full.values())]
        raise UsageError(f"no table '{name}'.{did_you_mean(name, known)}  (okbench list)")
    return same[0]


def _last_part(full: str) -> str:
    return full.casefold().rpartition("/")[2]
