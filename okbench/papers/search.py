"""How a paper chose its settings, and the settings that were chosen so here.

A table says how to search:

    tune:
      step: {values: [2, 0.2, 0.02]}                    # every value is tried
      decay:                                            # and, if there are several, every
        values: [1 / rows, 16 / rows]                   # combination a learner takes
        except: [RRF]                                   # but not for these learners
      together: {value: 60, inferred: ours}             # beyond: one setting after the other
      ties: smallest                                    # of equally good values; else the largest
      subset: {value: 0.1, inferred: not stated}        # of the rows
      at_least: {value: 1000, inferred: not stated}     # rows, where there are as many
      runs: {value: 3, inferred: not stated}            # permutations per value

`subset: {value: 0.1, datasets: {poker: 0.01}, learners: {OGD: 0.5}}` takes another share of some.
With `of: table1` the search of the table beside holds here too, except for the keys that are given
again.

A table with test rows is searched by cross-validation on its training rows:

    tune:
      cost: {powers: {of: 2, from: -5, to: 15, by: 2}}  # 2^-5, 2^-3, …, 2^15
      width:                                            # of other learners another range
        - {powers: {of: 2, from: -5, to: 15, by: 2}, only: [LIBSVM, RKS]}
        - {powers: {of: 2, from: -15, to: 5, by: 4}, only: [RRF]}
      folds: 5
      subset:                                           # of the training rows
        value: 1
        datasets: {skin: 0.1}
        learners: {LIBSVM: {value: 0.1, datasets: {skin: 0.01}}}
      runs: {value: 1, learners: {RKS: 5}}              # repeats of each fold
      iterations:                                       # for --vary alone
        {values: [5000, 10000], only: [BKM], search: false, inferred: ours}

There `at_least` and `runs` are 1 where they are left out. `except`, `only` and `learners` name
learners by their own names, not by a table's.

What `okbench tune` chose stands in a file of its own: `table5.tuned.yaml` beside `table5.yaml`
counts wherever that table is read; any other file has to be named. Its `cells` are written as a
table's are and overrule them; a setting without a source is marked as tuned. Its `tried` says how
many seconds each search took (`seconds`), and its `given up` which searches were ended because they
would have taken longer than `na_after` in the table's protocol: such a cell is shown as NA. A
search that was smaller than the table's (`okbench tune --subset 0.1`) says so in `cut`.

Any other `table5.NAME.yaml` beside a table is an alternative, `--settings NAME`: other settings of
some of its cells, with sources of their own, on top of all that counts otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import cast, get_args

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.cell_settings import Layer, read_layer
from okbench.papers.expressions import is_expression
from okbench.papers.provenance import SOURCES, read_source
from okbench.papers.sweeps import read_values
from okbench.papers.table_parts import CellKey, table_beside
from okbench.papers.table_types import Equal, Range, Search, Searched, Setting, Shares
from okbench.papers.values import Value, read_value

ReadCells = Callable[[Node | None], list[tuple[CellKey, Node]]]

TUNED = ".tuned.yaml"
_HOW = ("subset", "at_least", "runs")
_MORE = {"subset": {"datasets", "learners"}, "runs": {"learners"}}  # beside the usual value
_ONCE = ("at_least", "runs")  # 1 in a search by folds, unless given
GIVEN_UP = "given up"
_OVERLAY = {"table", "cells", "search", "tried", "versions", GIVEN_UP}
_LONGEST = 1000  # powers that a range may have


def read_search(node: Node | None, path: Path, datasets: Collection[str]) -> Search | None:
    """The search that the table in a file describes, if it does."""
    if node is None:
        return None
    fields = _with_other(node, path)
    folds = _figure(fields.pop("folds"), "folds", node) if "folds" in fields else None
    how = {
        name: _figure(fields.pop(name, None), name, node)
        for name in _HOW
        if name in fields or folds is None or name not in _ONCE
    }
    if "together" in fields:
        how["together"] = _figure(fields.pop("together"), "together", node)
    ties = fields.pop("ties").choice(get_args(Equal)) if "ties" in fields else "largest"
    if folds is not None:
        how["folds"] = folds
    if not fields:
        raise node.error("no setting is searched; add 'step: {values: […]}'")
    shares = _shares(how["subset"][0], datasets)
    counts = {name: _value(how[name][0]).integer(1) if name in how else 1 for name in _ONCE}
    return Search(
        tuple(range_ for name, each in fields.items() for range_ in _ranges(name, each)),
        subset=shares.usual,
        at_least=counts["at_least"],
        runs=counts["runs"],
        subsets=shares.of_datasets,
        together=_value(how["together"][0]).integer(1) if "together" in how else math.inf,
        reasons={name: reason for name, (_, reason) in how.items() if reason},
        folds=_value(folds[0]).integer(at_least=2) if folds else 0,
        shares_of={name: _shares(one, datasets) for name, one in _of(how, "subset", "learners")},
        runs_of={name: one.integer(at_least=1) for name, one in _of(how, "runs", "learners")},
        ties=cast(Equal, ties),
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


def _ranges(name: str, node: Node) -> tuple[Range, ...]:
    """The range of a setting, or several for different learners."""
    if node.kind != "list":
        return (_range(name, node),)
    if not node.elements():
        raise node.error("a setting is searched through one range or more")
    return tuple(_range(name, each) for each in node.elements())


def _range(name: str, node: Node) -> Range:
    fields = node.fields({"values", "powers", "except", "only", "search", *SOURCES})
    if ("values" in fields) == ("powers" in fields):
        raise node.error("a range has 'values: […]', or 'powers: {of: 2, from: -5, to: 15, by: 2}'")
    if "only" in fields and "except" in fields:
        raise fields["except"].error("name learners with 'only' or with 'except', not with both")
    if "values" in fields:
        values = read_values(fields["values"], _searched_value)
    else:
        values = _powers(fields["powers"])
    source, where = read_source(fields), node.where
    return Range(
        name,
        values,
        *source,
        where,
        spared=_texts(fields, "except"),
        only=_texts(fields, "only"),
        searched=fields["search"].boolean() if "search" in fields else True,
    )


def _texts(fields: Mapping[str, Node], key: str) -> tuple[str, ...]:
    return tuple(each.text() for each in fields[key].elements()) if key in fields else ()


def _powers(node: Node) -> tuple[Value, ...]:
    """Powers of a number, from the first exponent to the last: 2^-5, 2^-3, …, 2^15."""
    names = ("of", "from", "to", "by")
    fields = node.fields(names, required=names[:3])
    base, first, last = fields["of"].number(), fields["from"].integer(), fields["to"].integer()
    by = fields["by"].integer(at_least=1) if "by" in fields else 1
    if not base > 0 or base == 1:
        raise fields["of"].error(f"powers are of a number above 0 that is not 1, not of {base}")
    exponents = range(first, last + 1, by)
    if not 2 <= len(exponents) <= _LONGEST or exponents[-1] != last:
        raise node.error(
            f"the exponents go from 'from' to 'to' in steps of 'by', in at least 2 values and at "
            f"most {_LONGEST:,}; {first} to {last} by {by} does not"
        )
    try:
        values = tuple(base ** float(exponent) for exponent in exponents)
    except OverflowError:
        values = (math.inf,)
    if not all(0 < value < math.inf for value in values):
        raise node.error(f"{base}^{first} to {base}^{last} are not all numbers above 0")
    return values


def _searched_value(node: Node) -> Value:
    """A number, arithmetic that gives one, or a list of values."""
    if node.kind == "list":
        return read_value(node)
    value = node.scalar()
    return value if isinstance(value, str) and is_expression(value) else node.number()


def _shares(node: Node, datasets: Collection[str]) -> Shares:
    """The share of the rows of most datasets, and those of the others."""
    others = _part(node, "datasets")
    for name, share in others:
        if name not in datasets:
            hint = did_you_mean(name, datasets)
            raise share.error(f"'{name}' is no dataset of this table.{hint}")
    return Shares(_share(_value(node)), {name: _share(share) for name, share in others})


def _of(how: Mapping[str, tuple[Node, str]], name: str, part: str) -> tuple[tuple[str, Node], ...]:
    """What a figure of the search is for single learners, by their names."""
    return _part(how[name][0], part) if name in how else ()


def _part(node: Node, name: str) -> tuple[tuple[str, Node], ...]:
    fields = dict(node.items()) if node.kind == "mapping" else {}
    return fields[name].items() if name in fields else ()


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
    fields = _overlay(path, table)
    return {key: _tuned(node) for key, node in cells(fields["cells"])}


def read_searched(path: Path, table: str, cells: ReadCells) -> dict[CellKey, Searched]:
    """How long the searches took whose settings a file gives, and which of them were given up."""
    fields = _overlay(path, table)
    found: dict[CellKey, Searched] = {}
    for key, node in cells(_if_any(fields.get("tried"))):
        if "seconds" in (tried := dict(node.items())):
            cut = tried["cut"].text() if "cut" in tried else ""
            found[key] = Searched(_seconds(tried["seconds"]), cut=cut)
    for key, node in cells(_if_any(fields.get(GIVEN_UP))):
        parts = node.fields({"seconds", "reason"}, required=["seconds", "reason"])
        found[key] = Searched(_seconds(parts["seconds"]), parts["reason"].text())
    return found


def _overlay(path: Path, table: str) -> dict[str, Node]:
    fields = read_yaml(path).fields(_OVERLAY, required=["table", "cells"])
    if fields["table"].text() != table:
        whose = fields["table"].text()
        raise fields["table"].error(f"these settings are those of {whose}, not of {table}")
    return fields


def _if_any(node: Node | None) -> Node | None:
    """A part of a file, unless nothing is written below its name."""
    return None if node is None or (node.kind == "scalar" and node.scalar() is None) else node


def _seconds(node: Node) -> float:
    seconds = float(node.number())
    if not 0 <= seconds < math.inf:
        raise node.error(f"seconds are a number from 0 on, not {seconds}")
    return seconds


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
    known = {"value", *_MORE.get(name, ()), *SOURCES}
    return node, read_source(node.fields(known, required=["value"]))[1]


def _value(node: Node) -> Node:
    return dict(node.items())["value"] if node.kind == "mapping" else node
