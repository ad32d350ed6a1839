"""A table of the fields of its file: columns, cells and what is set for each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from okbench.base.config_nodes import Node
from okbench.base.errors import ConfigError, UsageError
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
    read_search,
    read_searched,
    read_tuned,
)
from okbench.papers.stated_growth import read_stated
from okbench.papers.sweeps import columns_of, read_sweeps
from okbench.papers.table_parts import (
    CellKey,
    Keys,
    read_dataset,
    read_figure,
    read_learner,
    read_protocol,
    read_shown,
    text_of,
)
from okbench.papers.table_types import (
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

_CONTOURS = Figure(("metric",))

Column = tuple[LearnerColumn, Layer, Layer]  # with what its learner and its sweep set


@dataclass(frozen=True)
class Page:
    """A table's file, on the way to a table. `extension` are learners of a file that extends it."""

    path: Path
    root: Node
    fields: dict[str, Node]
    kind: Kind
    more: Additions
    extension: Node | None = None

    def table(self, name: str, overlays: tuple[Path, ...]) -> Table:
        fields, kind = self.fields, self.kind
        protocol = read_protocol(fields["protocol"])
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
        for column, of_learner, given, base in self._added(protocol, learners):
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
        protocol: Protocol,
        learners: Mapping[str, tuple[LearnerColumn, Layer, tuple[Sweep, ...]]],
    ) -> Iterator[tuple[LearnerColumn, Layer, Layer, str | None]]:
        """The columns to add: what their learner has in this table, what is set for them alone, and
        the label of that learner, if it is one of the table."""
        written = list(self.extension.items()) if self.extension else []
        if not (written or self.more):
            return
        key = PROTOCOLS[protocol.kind].key
        if self.kind != "table" or (key and key.place == "column"):
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
