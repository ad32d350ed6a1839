"""The shelf of tables: what there is to run, and a table by its name.

A table is named by its place under configs/ (`lsokl/table5`). Its last part alone (`table5`) means
it too when no other paper has the same, or when its file claims the name with `short:`.
"""

from __future__ import annotations

from pathlib import Path

from okbench.base.errors import ConfigError, UsageError, did_you_mean
from okbench.base.shipped import shipped
from okbench.papers.search import is_overlay
from okbench.papers.table_file import read_card, read_table
from okbench.papers.table_names import checked_name
from okbench.papers.table_types import Card, Table


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


def find(name: str, folder: Path | None = None, *, tuned: Path | None = None) -> Table:
    """The table of a name, full or short, in any case, or the one in a `.yaml` file named so.

    `tuned` is a file of settings to count instead of the tuned ones beside the table, or the name
    of an alternative beside it.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        return read_table(path, checked_name(path.stem, f"{path}: its name"), tuned)
    shelf = folder or shipped("configs")
    full = _full_name(name, names(shelf))
    return read_table(shelf / f"{full}.yaml", full, tuned)


def _full_name(name: str, cards: list[Card]) -> str:
    asked = name.casefold()
    by_full = {card.name.casefold(): card.name for card in cards}
    by_claim = {card.short.casefold(): card.name for card in cards if card.short}
    if asked in by_full or asked in by_claim:
        return by_full.get(asked) or by_claim[asked]
    same = [full for folded, full in by_full.items() if folded.rpartition("/")[2] == asked]
    if len(same) > 1:
        raise UsageError(f"'{name}' could be {' or '.join(same)}; say which")
    if not same:
        known = [*by_full.values(), *(full.rpartition("/")[2] for full in by_full.values())]
        raise UsageError(f"no table '{name}'.{did_you_mean(name, known)}  (okbench list)")
    return same[0]
