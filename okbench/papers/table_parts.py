"""The parts of a table's file: its protocol, its rows and columns, and what is said of cells."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import cast, get_args

from okbench.base.config_nodes import Node
from okbench.base.errors import did_you_mean
from okbench.base.quantities import TIMES, amount
from okbench.papers.cell_settings import read_layer
from okbench.papers.sweeps import read_sweeps
from okbench.papers.table_types import (
    Bound,
    DatasetRow,
    Figure,
    LearnerColumn,
    Lines,
    Metric,
    Orders,
    Protocol,
    ProtocolKind,
    Quantity,
    Setting,
    Sweep,
)

CellKey = tuple[str, str]
_ROW_KEYS = {"variant", "rows", "orders"}
_COLUMN_KEYS = {"learner", "sweep"}
_FARTHEST = 2.0  # an approximate kernel is from -1 to 1, an exact one above 0 and up to 1


def read_protocol(node: Node) -> Protocol:
    """How trials are run and scored."""
    known = {"kind", "metric", "runs", "orders", "block", "time_limit"}
    fields = node.fields(known, ["kind", "metric", "runs"])
    kind = cast(ProtocolKind, fields["kind"].choice(get_args(ProtocolKind)))
    if (kind == "block-stream") != ("block" in fields):
        raise node.error("'block' (rows at a time) goes with kind: block-stream, and only with it")
    metric = cast(Metric, fields["metric"].choice(get_args(Metric)))
    if (kind == "approximation") != (metric == "exceedance"):
        raise fields["metric"].error("exceedance goes with kind: approximation, and only with it")
    return Protocol(
        kind,
        metric=metric,
        runs=fields["runs"].integer(at_least=1),
        orders=_orders(fields.get("orders")) or "seeded",
        block=fields["block"].integer(at_least=1) if "block" in fields else 0,
        time_limit=_time(fields["time_limit"]) if "time_limit" in fields else math.inf,
    )


def read_dataset(name: str, node: Node) -> tuple[DatasetRow, dict[str, Setting]]:
    """A row and what it sets."""
    fields = _optional_items(node)
    row = DatasetRow(
        name,
        variant=text_of(fields, "variant"),
        where=node.where,
        rows=fields["rows"].integer(at_least=1) if "rows" in fields else None,
        orders=_orders(fields.get("orders")),
    )
    settings = [(key, value) for key, value in fields.items() if key not in _ROW_KEYS]
    return row, read_layer(settings, shared=True)


def read_learner(
    label: str, node: Node, kind: ProtocolKind
) -> tuple[LearnerColumn, dict[str, Setting], tuple[Sweep, ...]]:
    """A column, what it sets, and what it is swept over. `tolerance` is the column's own where
    kernels are measured, and elsewhere a setting like any other."""
    fields = _optional_items(node)
    name, tolerance, reserved = text_of(fields, "learner") or label, 0.0, _COLUMN_KEYS
    if kind == "approximation":
        tolerance, reserved = _tolerance(node, fields.get("tolerance")), {*reserved, "tolerance"}
    column = LearnerColumn(label, name, node.where, tolerance=tolerance)
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


def table_beside(path: Path, of: Node) -> Path:
    """The file of another table, by its name, in the folder of this one."""
    beside = path.parent / f"{of.text()}.yaml"
    if beside.parent != path.parent or not beside.is_file():
        raise of.error(f"no table '{of.text()}' stands beside this file")
    return beside


def text_of(fields: Mapping[str, Node], key: str) -> str:
    """A text, or nothing where it is not said."""
    return fields[key].text() if key in fields else ""


class Keys:
    """The datasets and learners that a table has, by which its other parts are keyed."""

    def __init__(self, datasets: Collection[str], learners: Collection[str]) -> None:
        self._datasets = datasets
        self._learners = learners

    def cells(self, node: Node | None) -> list[tuple[CellKey, Node]]:
        """What a part says of single cells: dataset → learner → anything."""
        if node is None:
            return []
        return [
            ((dataset, label), value)
            for dataset, row in self._known(node, self._datasets, "dataset")
            for label, value in self.learners(row)
        ]

    def learners(self, node: Node | None) -> list[tuple[str, Node]]:
        """What a part says of learners: learner → anything."""
        return [] if node is None else self._known(node, self._learners, "learner")

    def listed(self, node: Node | None) -> frozenset[CellKey]:
        """The cells a part names: dataset → list of learners."""
        if node is None:
            return frozenset()
        found = set()
        for dataset, row in self._known(node, self._datasets, "dataset"):
            for element in row.elements():
                label = element.text()
                self._check(label, element, self._learners, "learner")
                found.add((dataset, label))
        return frozenset(found)

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


def _tolerance(column: Node, node: Node | None) -> float:
    if node is None:
        raise column.error("how far may its kernel be from the exact one? add 'tolerance: 0.1'")
    value = float(node.number())
    if not 0.0 < value < _FARTHEST:
        raise node.error(
            f"a tolerance is above 0 and below {_FARTHEST:g}, for no two kernels are further apart;"
            f" not {value:g}"
        )
    return value


def _bound(node: Node, protocol: Protocol, swept: Collection[str]) -> Bound:
    bound = cast(Bound, node.choice(get_args(Bound)))
    if protocol.kind != "approximation" or set(swept) != {"components"}:
        raise node.error(f"{bound} goes with kind: approximation and a sweep of components alone")
    return bound


def _time(node: Node) -> float:
    seconds = amount(node.text(), TIMES)
    if seconds is None:
        raise node.error(f"a time such as 90s, 30m or 2h is expected, not {node.described}")
    return seconds


def _optional_items(node: Node) -> dict[str, Node]:
    """The keys of a mapping, none where nothing is written: `OGD:` says all there is to say."""
    nothing = node.kind == "scalar" and node.scalar() is None
    return {} if nothing else dict(node.items())
