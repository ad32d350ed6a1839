"""How a paper chose its settings, and the settings that were chosen so here.

A table says how to search:

    tune:
      step: {values: [2, 0.2, 0.02]}                    # every value is tried
      subset: {value: 0.1, inferred: not stated}        # of the rows
      at_least: {value: 1000, inferred: not stated}     # rows, where there are as many
      runs: {value: 3, inferred: not stated}            # row orders a value

What `okbench tune` chose stands in a file of its own: `table5.tuned.yaml` beside `table5.yaml`
counts wherever that table is read; any other file has to be named. Its `cells` are written as a
table's are and overrule them; all of them are marked as tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from okbench.papers.nouns import Search, Setting, Sweep
from okbench.papers.settings import SOURCES, Layer, read_layer, read_source
from okbench.papers.sweeps import read_values
from okbench.papers.yamlfile import Node, read_yaml

CellKey = tuple[str, str]
ReadCells = Callable[[Node | None], list[tuple[CellKey, Node]]]

TUNED = ".tuned.yaml"
_HOW = ("subset", "at_least", "runs")
_OVERLAY = {"table", "cells", "search", "tried", "versions"}


def read_search(node: Node | None) -> Search | None:
    """The search a table describes, if it does."""
    if node is None:
        return None
    fields = dict(node.items())
    how = {name: _figure(fields.pop(name, None), name, node) for name in _HOW}
    if len(fields) != 1:
        raise node.error(f"one setting is searched, besides {', '.join(_HOW)}")
    ((name, range_),) = fields.items()
    parts = range_.fields({"values", *SOURCES}, required=["values"])
    sweep = Sweep(name, read_values(parts["values"]), *read_source(parts), where=range_.where)
    subset = how["subset"][0].number()
    if not 0 < subset <= 1:
        raise how["subset"][0].error(f"a share of the rows is above 0 and at most 1, not {subset}")
    return Search(
        sweep,
        subset=float(subset),
        at_least=how["at_least"][0].integer(at_least=1),
        runs=how["runs"][0].integer(at_least=1),
        reasons={name: reason for name, (_, reason) in how.items() if reason},
    )


def tuned_beside(path: Path) -> Path | None:
    """The file of tuned settings that belongs to a table's file, when there is one."""
    beside = path.with_name(path.stem + TUNED)
    return beside if beside.is_file() else None


def read_tuned(path: Path | None, table: str, cells: ReadCells) -> dict[CellKey, Layer]:
    """The settings tuned for the cells of a table; `cells` knows which cells it has."""
    if path is None:
        return {}
    root = read_yaml(path)
    fields = root.fields(_OVERLAY, required=["table", "cells"])
    if fields["table"].text() != table:
        whose = fields["table"].text()
        raise fields["table"].error(f"these settings were tuned for {whose}, not for {table}")
    return {key: _tuned(node) for key, node in cells(fields["cells"])}


def _tuned(node: Node) -> dict[str, Setting]:
    return {
        name: replace(setting, source="tuned", reason=setting.reason or f"said in {setting.where}")
        for name, setting in read_layer(node.items()).items()
    }


def _figure(node: Node | None, name: str, search: Node) -> tuple[Node, str]:
    """A number of the search, and the reason for it when the paper does not give it."""
    if node is None:
        raise search.error(f"'{name}' is missing; add '{name}: …'")
    if node.kind != "mapping":
        return node, ""
    fields = node.fields({"value", *SOURCES}, required=["value"])
    return fields["value"], read_source(fields)[1]
