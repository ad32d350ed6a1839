"""One table or figure of a paper, read from its YAML file.

    title: Online binary classification
    paper: lsokl                    # empty for a table of our own
    short: table5                   # a name that means this table alone (optional)
    protocol:
      kind: single-pass             # single-pass, train-test, block-stream, approximation, …
      metric: mistake_rate          # or another one of okbench.protocols.metrics
      runs: 20
      printed_runs: 1               # where the paper has another number of trials (optional)
      orders: seeded                # published, file or block-shuffled; a dataset may have others
      block: 1000                   # block-stream only
      time_limit: 2h                # of a trial, inside the learner (optional)
      na_after: 50d                 # search and training beyond it are NA (optional)
    settings:                       # of the table: for every learner that takes them
      width: 8
    datasets:
      german: {rows: 1000, orders: published}
      mnist: {variant: lsokl, budget: 200}
    learners:
      OGD:                          # the learner of that name, nothing to set
      FOGD: {components: 4 * budget, step: {value: 2e-3, default: of the authors' program}}
      mine: {learner: my_module:MyLearner, depth: 3}
      LIBSVM: {runs: 1}             # another number of trials than the protocol's
    cells:                          # of one learner on one dataset
      german: {OGD: {step: 0.2}}
    left_out:                       # what the paper does not run
      mnist: [OGD]
    random: [FOGD]                  # learners with random numbers of their own (optional)
    printed:                        # what the paper prints: metric, seconds
      german: {OGD: [29.5 % ± 0.5, 0.130]}

The narrower counts more: the table's settings, then the dataset's, the learner's, the cell's. A
setting is a value or a list of values (`widths: [0.5, 1, 2]`), alone or with its source
(`{value: [0.5, 1], found: …}`): `found` (in the authors' files), `searched`, `default` or `fitted`,
with the reason (see `provenance`); else the paper prints it. Arithmetic such as `4 * budget` refers
to other settings of the same cell and to `rows`.

`kind` is what is made of the trials: a `table` where there is no `kind`; a `sweep`, a figure with a
further axis (see `sweeps`); `contours`, a figure of kernels (protocol `kernel-surface`, metric
`kernel_value`); a `complexity` table, which compares orders of growth measured over
sweeps with those `stated`; or `curves`, a figure of the trials of another table beside it:

    title: Convergence of the mistake rate
    kind: curves
    of: table7
    draw: {quantities: [metric]}    # metric, seconds

A complexity table says which setting each letter of what is stated stands for:

    symbols: {B: budget, k: rank}
    stated:
      NOGD: {strategy: Approximation, time: O(kB), space: O(kB)}

With the protocol `approximation` and its metric `exceedance`, nothing is predicted: measured is the
share of pairs of rows whose kernel is `tolerance` or further from the exact one, and every learner
says how far that is. Over a sweep of components, `draw` may add what Nguyen et al. prove of it:

    draw: {quantities: [metric], bound: lemma-1}
    learners:
      near: {learner: RRF, tolerance: 0.1}

`report` says what a report shows besides metric and seconds. All its keys are optional:

    report:
      seconds: search + training    # or training, or without map, the time of feature maps; else
                                    # all seconds inside the learner
      unit: hours                   # of the printed times (seconds, minutes, hours)
      stars: 0.05                   # best against runner-up: the p value of a paired t test
      classes: true                 # balanced accuracy, and the most frequent class's share
      margin: 1.5                   # windowed_error: rows until it is near the best again

A table may be another one with more learners. Their settings start from those of the same learner
in that table, if it has one, and its printed numbers stay with its own learners:

    title: Mine beside table 5
    extends: lsokl/table5           # or the name of a table's file in the same folder
    learners:
      mine: {learner: my_module:MyLearner, depth: 3}
      FOGD of width 2: {learner: FOGD, width: 2}

The modules `rows_file` and `search` describe a user's own rows, and how settings are searched for.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.errors import UsageError, did_you_mean
from okbench.base.shipped import shipped
from okbench.papers.additions import Additions
from okbench.papers.search import chosen_overlays
from okbench.papers.table_names import checked_name
from okbench.papers.table_page import Page
from okbench.papers.table_parts import read_figure, table_beside, text_of
from okbench.papers.table_types import Card, Kind, Table

_NOTHING = Additions()

_NAMED = {"title", "paper", "short", "kind", "draw"}
_REQUIRED = ("title", "protocol", "datasets", "learners")
_PARTS = {"settings", "cells", "left_out", "printed", "random", "tune", "report"}
_KNOWN: dict[str, set[str]] = {
    "table": {*_REQUIRED, *_NAMED, *_PARTS} - {"draw"},
    "sweep": {*_REQUIRED, *_NAMED, *_PARTS, "sweep"} - {"printed", "random", "tune", "report"},
    "complexity": {*_REQUIRED, *_NAMED, "settings", "stated", "symbols"} - {"draw"},
    "contours": {*_REQUIRED, *_NAMED, "settings", "cells"} - {"draw"},
    "curves": {*_NAMED, "of"},
}
_EXTENSION = {"title", "short", "extends", "learners"}
_ASKED = {"table": (), "sweep": ("draw",), "complexity": ("stated", "symbols"), "contours": ()}


def read_card(path: Path, name: str) -> Card:
    """What a listing shows of the table in a file."""
    fields = _fields(read_yaml(path))
    rows_of = _fields(read_yaml(_other(path, fields["of"]))) if "of" in fields else fields
    learners = list(rows_of["learners"].items())
    if "extends" in fields:
        rows_of = _fields(read_yaml(_extended(fields["extends"])[0]))
        learners = [*rows_of["learners"].items(), *learners]
    return Card(
        name,
        short=text_of(fields, "short"),
        title=fields["title"].text(),
        datasets=tuple(key for key, _ in rows_of["datasets"].items()),
        learners=tuple(key for key, _ in learners),
    )


def read_table(
    path: Path, name: str, tuned: Path | None = None, more: Additions = _NOTHING
) -> Table:
    """The table in a file, every cell's settings resolved.

    `tuned` is a file of settings, or the name of an alternative; without it, the tuned settings
    beside the table are used. `more` are columns to add.
    """
    return table_of(read_yaml(path), path, name, tuned, more)


def table_of(
    root: Node, path: Path, name: str, tuned: Path | None = None, more: Additions = _NOTHING
) -> Table:
    """The same for a file that is read already, or is not written yet."""
    fields = _fields(root)
    if "extends" in fields:
        base, of = _extended(fields["extends"])
        page = _page(base, read_yaml(base), more, fields["learners"])
        table = page.table(of, chosen_overlays(base, tuned))
        return replace(table, name=name, title=fields["title"].text(), of=of, where=root.where)
    if "of" in fields:
        if more:
            raise UsageError(f"{name} draws the trials of another table; add learners to that one")
        other = _other(path, fields["of"])
        drawn = read_table(other, f"{name.rpartition('/')[0]}/{other.stem}".lstrip("/"), tuned)
        return replace(
            drawn,
            name=name,
            title=fields["title"].text(),
            kind="curves",
            of=drawn.name,
            figure=read_figure(fields["draw"], drawn.protocol, swept=()),
            search=None,
            where=root.where,
        )
    return _page(path, root, more).table(name, chosen_overlays(path, tuned))


def _page(path: Path, root: Node, more: Additions, extension: Node | None = None) -> Page:
    fields = _fields(root)
    return Page(path, root, fields, _kind(fields), more, extension)


def _fields(root: Node) -> dict[str, Node]:
    if root.kind == "mapping" and "extends" in dict(root.items()):
        fields = root.fields(_EXTENSION, ["title", "extends", "learners"])
        if not fields["learners"].items():
            raise fields["learners"].error("a table that extends another one adds learners")
        return fields
    kind = _kind(dict(root.items()))
    if kind == "curves":
        return root.fields(_KNOWN[kind], ["title", "of", "draw"])
    fields = root.fields(_KNOWN[kind], [*_REQUIRED, *_ASKED[kind]])
    for part in ("datasets", "learners"):
        if not fields[part].items():
            raise fields[part].error(f"a table needs {part}")
    return fields


def _kind(fields: dict[str, Node]) -> Kind:
    return cast(Kind, fields["kind"].choice(get_args(Kind))) if "kind" in fields else "table"


def _other(path: Path, of: Node) -> Path:
    """The file of the table that a figure draws the trials of."""
    other = table_beside(path, of)
    if "of" in dict(read_yaml(other).items()):
        raise of.error(f"'{of.text()}' draws another table's trials itself; name that table")
    return other


def _extended(node: Node) -> tuple[Path, str]:
    """The file and the name of the table that is extended: one that okbench ships, by its full
    name, or a file in the same folder."""
    name = node.text()
    if name.endswith((".yaml", ".yml")):
        path = node.path.parent / name
        name = Path(name).stem
    else:
        path = shipped("configs") / f"{name}.yaml"
    checked_name(name, node.where)
    if path.resolve() == node.path.resolve() or not path.is_file():
        shelf = shipped("configs")
        known = [one.relative_to(shelf).with_suffix("").as_posix() for one in shelf.rglob("*.yaml")]
        raise node.error(f"no table '{node.text()}' to extend.{did_you_mean(name, known)}")
    if not {"of", "extends"}.isdisjoint(dict(read_yaml(path).items())):
        raise node.error(f"'{node.text()}' has no learners of its own; extend the table behind it")
    return path, name
