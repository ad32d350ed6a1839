"""The parts of a table's file: its protocol, its rows and columns, and what it gives for cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any, cast, get_args

from okbench.base.config_nodes import Node
from okbench.base.errors import did_you_mean
from okbench.base.quantities import TIMES, amount
from okbench.papers.cell_settings import read_layer
from okbench.papers.rows_file import ROWS_KEYS, read_rows_file
from okbench.papers.sweeps import read_sweeps
from okbench.papers.table_types import (
    Bound,
    Clocked,
    DatasetRow,
    Figure,
    LearnerColumn,
    Lines,
    Orders,
    Protocol,
    Quantity,
    Setting,
    Shown,
    Sweep,
    Unit,
)
from okbench.protocols.contract import ProtocolKind
from okbench.protocols.metrics import METRICS, Metric
from okbench.protocols.registry import PROTOCOLS

CellKey = tuple[str, str]
_SHOWN = frozenset(field.name for field in dataclass_fields(Shown))
_LIMITS = ("time_limit", "na_after")
_ROW_KEYS = {"variant", "rows", "orders"}
_COLUMN_KEYS = {"learner", "sweep", "runs"}
_RUNS = ("runs", "printed_runs")


def read_protocol(node: Node) -> Protocol:
    """How trials are run and scored."""
    own = [kind.key for kind in PROTOCOLS.values() if kind.key and kind.key.place == "protocol"]
    known = {"kind", "metric", "orders", *_RUNS, *_LIMITS, *(key.name for key in own)}
    fields = node.fields(known, ["kind", "metric", "runs"])
    kind = PROTOCOLS[fields["kind"].choice(PROTOCOLS)]
    metric = METRICS[fields["metric"].choice(METRICS)]
    for key in own:
        if (key == kind.key) != (key.name in fields):
            raise node.error(key.missing)
    if metric.answer != kind.answer:
        raise fields["metric"].error(_mismatch(kind, metric))
    given: dict[str, Any] = {key.name: key.read(fields[key.name]) for key in own if key == kind.key}
    given |= {name: _time(fields[name]) for name in _LIMITS if name in fields}
    given |= {name: fields[name].integer(at_least=1) for name in _RUNS if name in fields}
    return Protocol(
        kind.name,
        metric=metric.name,
        orders=_orders(fields.get("orders")) or "seeded",
        **given,
    )


def read_dataset(name: str, node: Node) -> tuple[DatasetRow, dict[str, Setting]]:
    """A row and what it sets."""
    fields = _optional_items(node)
    own = "file" in fields
    reserved = {*_ROW_KEYS, *ROWS_KEYS} if own else _ROW_KEYS
    row = DatasetRow(
        name,
        variant=text_of(fields, "variant"),
        where=node.where,
        rows=fields["rows"].integer(at_least=1) if "rows" in fields else None,
        orders=_orders(fields.get("orders")),
        fingerprint=text_of(fields, "fingerprint") if own else "",
        file=read_rows_file(fields) if own else None,
        chance=float(fields["chance"].number()) if own and "chance" in fields else None,
    )
    settings = [(key, value) for key, value in fields.items() if key not in reserved]
    return row, read_layer(settings, shared=True)


def read_learner(
    label: str, node: Node, protocol: Protocol
) -> tuple[LearnerColumn, dict[str, Setting], tuple[Sweep, ...]]:
    """A column, what it sets, and what it is swept over. A key that the protocol asks of columns is
    the column's own; with any other protocol it is a setting like all others."""
    fields = _optional_items(node)
    name, reserved = text_of(fields, "learner") or label, _COLUMN_KEYS
    own: dict[str, Any] = {}
    key = PROTOCOLS[protocol.kind].key
    if key and key.place == "column":
        if key.name not in fields:
            raise node.error(key.missing)
        own, reserved = {key.name: key.read(fields[key.name])}, {*reserved, key.name}
    runs = fields["runs"].integer(at_least=1) if "runs" in fields else None
    column = LearnerColumn(label, name, node.where, runs=runs, **own)
    settings = [(key, value) for key, value in fields.items() if key not in reserved]
    return column, read_layer(settings), read_sweeps(fields.get("sweep"))


def read_figure(node: Node | None, protocol: Protocol, swept: Collection[str]) -> Figure | None:
    """What is drawn: `draw: {quantities: [metric, seconds], lines: datasets, bound: lemma-1}`.

    `swept` are the names that columns are swept over, an empty one for a column that is not.
    """
    if node is None:
        return None
    fields = node.fields({"quantities", "lines", "bound"}, required=["quantities"])
    known = get_args(Quantity)
    quantities = [element.choice(known) for element in fields["quantities"].elements()]
    if not quantities:
        raise fields["quantities"].error(f"a figure draws something: {', '.join(known)}")
    lines = fields["lines"].choice(get_args(Lines)) if "lines" in fields else "learners"
    return Figure(
        cast(tuple[Quantity, ...], tuple(quantities)),
        cast(Lines, lines),
        _bound(fields["bound"], protocol, swept) if "bound" in fields else None,
    )


def read_shown(node: Node | None, metric: Metric) -> Shown:
    """What a report shows: `report: {seconds: search + training, unit: hours, stars: 0.05}`."""
    fields = {} if node is None else node.fields(_SHOWN)
    choices = {"seconds": get_args(Clocked), "unit": get_args(Unit)}
    given: dict[str, Any] = {
        name: fields[name].choice(known) for name, known in choices.items() if name in fields
    }
    if "classes" in fields:
        given["classes"] = fields["classes"].boolean()
    if "stars" in fields:
        given["stars"] = float(fields["stars"].number())
        if not 0 < given["stars"] < 1:
            raise fields["stars"].error("a p value between 0 and 1 is expected: 'stars: 0.05'")
    if "margin" in fields:
        given["margin"] = float(fields["margin"].number())
        if not given["margin"] >= 1:
            raise fields["margin"].error("a factor of 1 or more is expected: 'margin: 1.5'")
        if not metric.forgetting or not metric.spacing:
            able = " or ".join(one.name for one in METRICS.values() if one.spacing)
            raise fields["margin"].error(f"a margin goes with metric: {able}")
    return Shown(**given)


def table_beside(path: Path, of: Node) -> Path:
    """The file of another table, by its name, in the folder of this one."""
    beside = path.parent / f"{of.text()}.yaml"
    if beside.parent != path.parent or not beside.is_file():
        raise of.error(f"no table '{of.text()}' stands beside this file")
    return beside


def text_of(fields: Mapping[str, Node], key: str) -> str:
    """A text, empty where the key is not there."""
    return fields[key].text() if key in fields else ""


class Keys:
    """The datasets and learners that a table has, by which its other parts are keyed."""

    def __init__(self, datasets: Collection[str], learners: Collection[str]) -> None:
        self._datasets = datasets
        self._learners = learners

    def cells(self, node: Node | None) -> list[tuple[CellKey, Node]]:
        """What a part gives for single cells: dataset → learner → anything."""
        if node is None:
            return []
        return [
            ((dataset, label), value)
            for dataset, row in self._known(node, self._datasets, "dataset")
            for label, value in self.learners(row)
        ]

    def learners(self, node: Node | None) -> list[tuple[str, Node]]:
        """What a part gives for learners: learner → anything."""
        return [] if node is None else self._known(node, self._learners, "learner")

    def listed(self, node: Node | None) -> frozenset[CellKey]:
        """The cells a part names: dataset → list of learners."""
        if node is None:
            return frozenset()
        return frozenset(
            (dataset, label)
            for dataset, row in self._known(node, self._datasets, "dataset")
            for label in self.labels(row)
        )

    def labels(self, node: Node) -> list[str]:
        """A list of learners."""
        labels = []
        for element in node.elements():
            labels.append(element.text())
            self._check(labels[-1], element, self._learners, "learner")
        return labels

    def _known(self, node: Node, known: Collection[str], kind: str) -> list[tuple[str, Node]]:
        for key, value in node.items():
            self._check(key, value, known, kind)
        return list(node.items())

    @staticmethod
    def _check(name: str, node: Node, known: Collection[str], kind: str) -> None:
        if name not in known:
            hint = did_you_mean(name, known)
            raise node.error(f"'{name}' is no {kind} of this table.{hint}")


def _orders(node: Node | None) -> Orders | None:
    return None if node is None else cast(Orders, node.choice(get_args(Orders)))


def _mismatch(kind: ProtocolKind, metric: Metric) -> str:
    """Why a metric does not go with a protocol, in words."""
    metrics = [other.name for other in METRICS.values() if other.answer == kind.answer]
    return f"kind: {kind.name} goes with metric: {' or '.join(metrics)}, not {metric.name}"


def _bound(node: Node, protocol: Protocol, swept: Collection[str]) -> Bound:
    bound = cast(Bound, node.choice(get_args(Bound)))
    if bound not in PROTOCOLS[protocol.kind].bounds or set(swept) != {"components"}:
        kinds = " or ".join(kind.name for kind in PROTOCOLS.values() if bound in kind.bounds)
        raise node.error(f"{bound} goes with kind: {kinds} and a sweep of components alone")
    return bound


def _time(node: Node) -> float:
    seconds = amount(node.text(), TIMES)
    if seconds is None:
        raise node.error(f"a time such as 90s, 30m or 2h is expected, not {node.described}")
    return seconds


def _optional_items(node: Node) -> dict[str, Node]:
    """The keys of a mapping, none where nothing is written: `OGD:` has nothing to set."""
    nothing = node.kind == "scalar" and node.scalar() is None
    return {} if nothing else dict(node.items())
