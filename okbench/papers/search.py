"""How a paper chose its settings, and the settings that were chosen so here.

A table says how to search:

    tune:
      step: {values: [2, 0.2, 0.02]}                    # every value is tried
      decay:                                            # and, if there are several, every
        values: [1 / rows, 16 / rows]                   # combination a learner takes
        except: [RRF]                                   # but not for these learners
      together: {value: 60, inferred: ours}             # beyond: one setting after the other
      subset: {value: 0.1, inferred: not stated}        # of the rows
      at_least: {value: 1000, inferred: not stated}     # rows, where there are as many
      runs: {value: 3, inferred: not stated}            # permutations per value

`subset: {value: 0.1, datasets: {poker: 0.01}}` takes another share of some. With `of: table1`
the search of the table beside holds here too, except for the keys that are given again.

What `okbench tune` chose stands in a file of its own: `table5.tuned.yaml` beside `table5.yaml`
counts wherever that table is read; any other file has to be named. Its `cells` are written as a
table's are and overrule them; a setting without a source is marked as tuned.

Any other `table5.NAME.yaml` beside a table is an alternative, `--settings NAME`: other settings of
some of its cells, with sources of their own, on top of all that counts otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from glob import escape
from pathlib import Path

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.cell_settings import Layer, read_layer
from okbench.papers.expressions import is_expression
from okbench.papers.provenance import SOURCES, read_source
from okbench.papers.sweeps import read_values
from okbench.papers.table_parts import CellKey, table_beside
from okbench.papers.table_types import Range, Search, Setting
from okbench.papers.values import Value, read_value

ReadCells = Callable[[Node | None], list[tuple[CellKey, Node]]]

TUNED = ".tuned.yaml"
_HOW = ("subset", "at_least", "runs")
_OVERLAY = {"table", "cells", "search", "tried", "versions"}


def read_search(node: Node | None, path: Path, datasets: Collection[str]) -> Search | None:
    """The search that the table in a file describes, if it does."""
    if node is None:
        return None
    fields = _with_other(node, path)
    how = {name: _figure(fields.pop(name, None), name, node) for name in _HOW}
    if "together" in fields:
        how["together"] = _figure(fields.pop("together"), "together", node)
    if not fields:
        raise node.error("no setting is searched; add 'step: {values: […]}'")
    share, subsets = _shares(how["subset"][0], datasets)
    return Search(
        tuple(_range(name, range_) for name, range_ in fields.items()),
        subset=share,
        at_least=_value(how["at_least"][0]).integer(at_least=1),
        runs=_value(how["runs"][0]).integer(at_least=1),
        subsets=subsets,
        together=_value(how["together"][0]).integer(1) if "together" in how else math.inf,
        reasons={name: reason for name, (_, reason) in how.items() if reason},
    )


def _with_other(node: Node, path: Path) -> dict[str, Node]:
    """The keys of a search, and those of the search it names with `of`."""
    fields = dict(node.items())
    if "of" not in fields:
        return fields
    of = fields.pop("of")
    other = dict(read_yaml(table_beside(path, of)).items()).get("tune")
    if other is None or "of" in dict(other.items()):
        raise of.error(f"'{of.text()}' has no 'tune:' of its own; name a table that has")
    return {**dict(other.items()), **fields}


def _range(name: str, node: Node) -> Range:
    fields = node.fields({"values", "except", *SOURCES}, required=["values"])
    values = read_values(fields["values"], _searched_value)
    spared = (
        tuple(each.text() for each in fields["except"].elements()) if "except" in fields else ()
    )
    return Range(name, values, *read_source(fields), where=node.where, spared=spared)


def _searched_value(node: Node) -> Value:
    """A number, arithmetic that gives one, or a list of values."""
    if node.kind == "list":
        return read_value(node)
    value = node.scalar()
    return value if isinstance(value, str) and is_expression(value) else node.number()


def _shares(node: Node, datasets: Collection[str]) -> tuple[float, dict[str, float]]:
    """The share of the rows of most datasets, and those of the others."""
    fields = dict(node.items()) if node.kind == "mapping" else {}
    others = fields["datasets"].items() if "datasets" in fields else ()
    for name, share in others:
        if name not in datasets:
            hint = did_you_mean(name, datasets)
            raise share.error(f"'{name}' is no dataset of this table.{hint}")
    return _share(_value(node)), {name: _share(share) for name, share in others}


def _share(node: Node) -> float:
    share = node.number()
    if not 0 < share <= 1:
        raise node.error(f"a share of the rows is above 0 and at most 1, not {share}")
    return float(share)


def alternatives_beside(path: Path) -> dict[str, Path]:
    """The files of other settings that belong to a table's file, by their names."""
    found = {
        one.name.removeprefix(f"{path.stem}.").removesuffix(".yaml"): one
        for one in sorted(path.parent.glob(f"{escape(path.stem)}.*.yaml"))
        if not one.name.endswith(TUNED)
    }
    return {name: one for name, one in found.items() if "." not in name and not _is_table(one)}


def is_overlay(path: Path) -> bool:
    """Whether a file holds settings of the table beside it, and is no table itself."""
    stem, dot, _ = path.stem.rpartition(".")
    beside = bool(dot) and path.with_name(f"{stem}.yaml").is_file()
    return path.name.endswith(TUNED) or (beside and not _is_table(path))


def _is_table(path: Path) -> bool:
    """Whether a file with a point in its name is a table all the same, as `my.csv.yaml` is."""
    root = read_yaml(path)
    return root.kind == "mapping" and "learners" in dict(root.items())


def chosen_overlays(path: Path, settings: Path | None) -> tuple[Path, ...]:
    """The files whose settings overrule a table's: those tuned for it, and the alternative of a
    name; or the one file that is asked for."""
    beside = path.with_name(path.stem + TUNED)
    tuned = (beside,) if beside.is_file() else ()
    if settings is None:
        return tuned
    if settings.is_file():
        return (settings,)
    known = alternatives_beside(path)
    if str(settings) not in known:
        names = f"; {path.name} has {', '.join(known)}" if known else ""
        hint = did_you_mean(str(settings), known)
        raise UsageError(f"no file and no named settings '{settings}'{names}.{hint}")
    return (*tuned, known[str(settings)])


def read_tuned(path: Path, table: str, cells: ReadCells) -> dict[CellKey, Layer]:
    """The settings that a file gives for the cells of a table; `cells` knows which it has."""
    root = read_yaml(path)
    fields = root.fields(_OVERLAY, required=["table", "cells"])
    if fields["table"].text() != table:
        whose = fields["table"].text()
        raise fields["table"].error(f"these settings are those of {whose}, not of {table}")
    return {key: _tuned(node) for key, node in cells(fields["cells"])}


def _tuned(node: Node) -> dict[str, Setting]:
    return {
        name: replace(
            setting,
            source="tuned" if setting.source == "printed" else setting.source,
            reason=setting.reason or f"given in {setting.where}",
        )
        for name, setting in read_layer(node.items()).items()
    }


def _figure(node: Node | None, name: str, search: Node) -> tuple[Node, str]:
    """A number of the search, and the reason for it when the paper does not give it."""
    if node is None:
        raise search.error(f"'{name}' is missing; add '{name}: …'")
    if node.kind != "mapping":
        return node, ""
    more = {"datasets"} if name == "subset" else set()
    return node, read_source(node.fields({"value", *more, *SOURCES}, required=["value"]))[1]


def _value(node: Node) -> Node:
    return dict(node.items())["value"] if node.kind == "mapping" else node
