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
      seconds: search + training    # or training; else all seconds inside the learner
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

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.errors import ConfigError, UsageError, did_you_mean
from okbench.base.shipped import shipped
from okbench.papers.additions import (
    Additions,
    bracketed,
    column_named,
    layer_of,
    with_settings,
)
from okbench.papers.cell_settings import Layer, read_layer, resolve
from okbench.papers.printed import printed_cell
from okbench.papers.search import (
    alternatives_beside,
    chosen_overlays,
    read_search,
    read_searched,
    read_tuned,
)
from okbench.papers.stated_growth import read_stated
from okbench.papers.sweeps import columns_of, read_sweeps
from okbench.papers.table_names import checked_name
from okbench.papers.table_parts import (
    CellKey,
    Keys,
    read_dataset,
    read_figure,
    read_learner,
    read_protocol,
    read_shown,
    table_beside,
    text_of,
)
from okbench.papers.table_types import (
    Card,
    DatasetRow,
    Figure,
    Kind,
    LearnerColumn,
    Protocol,
    Searched,
    Setting,
    StatedComplexity,
    Sweep,
    Table,
)
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS

_NOTHING = Additions()
_CONTOURS = Figure(("metric",))

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
        page = _Page(base, read_yaml(base), _fields(read_yaml(base)), fields["learners"], more)
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
    return _Page(path, root, fields, more=more).table(name, chosen_overlays(path, tuned))


@dataclass(frozen=True)
class _Page:
    """A table's file, on the way to a table."""

    path: Path
    root: Node
    fields: dict[str, Node]
    extension: Node | None = None  # learners of the file that extends this one
    more: Additions = _NOTHING

    def table(self, name: str, overlays: tuple[Path, ...]) -> Table:
        fields = self.fields
        kind, protocol = _kind(fields), read_protocol(fields["protocol"])
        datasets = {key: read_dataset(key, node) for key, node in fields["datasets"].items()}
        learners = {
            key: read_learner(key, node, protocol) for key, node in fields["learners"].items()
        }
        keys = Keys(datasets, learners)
        shared = read_sweeps(fields.get("sweep"))
        columns: list[Column] = [
            (swept_column, of_learner, swept)
            for column, of_learner, own in learners.values()
            for swept_column, swept in columns_of(column, own or shared)
        ]
        of_cells = self._of_cells(keys, name, overlays)
        searched = dict(self._searched(keys, name, overlays))
        given_up = frozenset(key for key, one in searched.items() if one.given_up)
        left_out, random = keys.listed(fields.get("left_out")) | given_up, self._random(keys)
        for column, of_learner, given, base in self._added(kind, protocol, learners):
            columns.append((replace(column, added=True), of_learner, given))
            for dataset in datasets if base is not None else ():
                of_cells[dataset, column.label] = of_cells.get((dataset, str(base)), [])
            left_out |= {(dataset, column.label) for dataset, label in left_out if label == base}
            if random is not None and (base is None or base in random):
                random |= {column.label}
        _refuse_twins([column for column, _, _ in columns])
        swept = {column.point.name if column.point else "" for column, _, _ in columns}
        if kind in ("sweep", "complexity") and not any(swept):
            raise self.root.error("no learner has a sweep; add 'sweep: {name: …, values: […]}'")
        shown = read_shown(fields.get("report"), METRICS[protocol.metric])
        rows = list(datasets.values())
        return Table(
            name=name,
            title=fields["title"].text(),
            paper=text_of(fields, "paper"),
            protocol=protocol,
            datasets=tuple(row for row, _ in datasets.values()),
            learners=tuple(column for column, _, _ in columns),
            settings=dict(self._resolved(rows, columns, of_cells)),
            printed={
                key: printed_cell(*key, node, shown.unit)
                for key, node in keys.cells(fields.get("printed"))
            },
            left_out=_by_column(left_out, columns),
            where=self.root.where,
            kind=kind,
            figure=_CONTOURS
            if kind == "contours"
            else read_figure(fields.get("draw"), protocol, swept),
            search=read_search(fields.get("tune"), self.path, datasets),
            stated=self._stated(keys),
            random=random,
            alternatives={
                other: self._alternative(keys, name, path, of_cells, rows, columns)
                for other, path in alternatives_beside(self.path).items()
                if path not in overlays
            },
            shown=shown,
            searched=_searched_by_column(searched, rows, columns),
        )

    def _searched(
        self, keys: Keys, name: str, overlays: tuple[Path, ...]
    ) -> Iterator[tuple[CellKey, Searched]]:
        """What the searches of the overlays took, cell by cell."""
        for overlay in overlays:
            yield from read_searched(overlay, name, keys.cells).items()

    def _added(
        self,
        kind: Kind,
        protocol: Protocol,
        learners: Mapping[str, tuple[LearnerColumn, Layer, tuple[Sweep, ...]]],
    ) -> Iterator[tuple[LearnerColumn, Layer, Layer, str | None]]:
        """The columns to add: what their learner has in this table, what is set for them alone, and
        the label of that learner, if it is one of the table."""
        written = list(self.extension.items()) if self.extension else []
        if not (written or self.more):
            return
        key = PROTOCOLS[protocol.kind].key
        if kind != "table" or (key and key.place == "column"):
            raise UsageError(f"{self.root.where}: learners can be added to a table of scores alone")
        columns = {label: column for label, (column, _, _) in learners.items()}
        layers: dict[str, tuple[Layer, Layer]] = {
            label: (layer, {}) for label, (_, layer, _) in learners.items()
        }
        for label, node in written:
            column, given, sweeps = read_learner(label, node, protocol)
            if sweeps:
                raise node.error("a learner that is added to a table has no sweep")
            base = column_named(column.learner, columns)
            of_learner, before = layers[base] if base else ({}, {})
            layers[label] = of_learner, {**before, **given}
            yield column, *layers[label], base
            columns[label] = column
        for one in with_settings(self.more, columns):
            base = column_named(one.name, columns)
            if base is not None and not one.settings:
                raise UsageError(
                    f"--with {one.name}: the table has it already; for another column write"
                    f" {one.name}[width=2]"
                )
            where = f"--with {one.name}{bracketed(one.settings)}"
            label = (base or one.class_name) + bracketed(one.settings)
            learner = columns[base].learner if base else one.name
            of_learner, before = layers[base] if base else ({}, {})
            given = {**before, **layer_of(one.settings, where)}
            yield LearnerColumn(label, learner, where), of_learner, given, base

    def _alternative(
        self,
        keys: Keys,
        name: str,
        overlay: Path,
        of_cells: dict[CellKey, list[Layer]],
        rows: Collection[tuple[DatasetRow, Layer]],
        columns: Collection[Column],
    ) -> dict[CellKey, dict[str, Setting]]:
        """The settings of the cells that an alternative names."""
        own = read_tuned(overlay, name, keys.cells)
        layers = {key: [*of_cells.get(key, []), layer] for key, layer in own.items()}
        resolved = dict(self._resolved(rows, columns, of_cells | layers))
        lines = {column.label: column.line for column, _, _ in columns}
        return {key: found for key, found in resolved.items() if (key[0], lines[key[1]]) in own}

    def _random(self, keys: Keys) -> frozenset[str] | None:
        if "random" not in self.fields:
            return None
        return frozenset(keys.labels(self.fields["random"]))

    def _resolved(
        self,
        datasets: Iterable[tuple[DatasetRow, Layer]],
        columns: Iterable[Column],
        of_cells: dict[CellKey, list[Layer]],
    ) -> Iterator[tuple[CellKey, dict[str, Setting]]]:
        """The settings of every cell; the narrower counts more, a sweep most."""
        wide: Layer = {}
        if "settings" in self.fields:
            wide = read_layer(self.fields["settings"].items(), shared=True)
        for row, of_dataset in datasets:
            for column, of_learner, swept in columns:
                own = of_cells.get((row.name, column.line), [])
                layers = [wide, of_dataset, of_learner, *own, swept]
                yield (row.name, column.label), resolve(layers, row.rows)

    def _of_cells(
        self, keys: Keys, name: str, overlays: tuple[Path, ...]
    ) -> dict[CellKey, list[Layer]]:
        """What is set for single cells, here and then in each file of settings."""
        found: dict[CellKey, list[Layer]] = {
            key: [read_layer(node.items())] for key, node in keys.cells(self.fields.get("cells"))
        }
        for overlay in overlays:
            for key, layer in read_tuned(overlay, name, keys.cells).items():
                found.setdefault(key, []).append(layer)
        return found

    def _stated(self, keys: Keys) -> dict[str, StatedComplexity]:
        if "stated" not in self.fields:
            return {}
        symbols = {key: node.text() for key, node in self.fields["symbols"].items()}
        return {
            label: read_stated(node, symbols)
            for label, node in keys.learners(self.fields["stated"])
        }


Column = tuple[LearnerColumn, Layer, Layer]  # with what its learner and its sweep set


def _searched_by_column(
    searched: Mapping[CellKey, Searched],
    rows: Iterable[tuple[DatasetRow, Layer]],
    columns: Iterable[Column],
) -> dict[CellKey, Searched]:
    """The searches of lines, which count for every column that a line is swept to."""
    return {
        (row.name, column.label): searched[row.name, column.line]
        for column, _, _ in columns
        for row, _ in rows
        if (row.name, column.line) in searched
    }


def _by_column(cells: frozenset[CellKey], columns: Iterable[Column]) -> frozenset[CellKey]:
    return frozenset(
        (dataset, column.label)
        for dataset, line in cells
        for column, _, _ in columns
        if column.line == line
    )


def _refuse_twins(columns: Iterable[LearnerColumn]) -> None:
    first: dict[str, LearnerColumn] = {}
    for column in columns:
        if first.setdefault(column.label, column) is not column:
            raise ConfigError(f"{column.where}: two columns are named '{column.label}'")


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
