"""The further axis of a figure: a learner at each value of a setting.

    sweep: {name: budget, values: [50, 100, 200], inferred: the paper's grid is not stated}

It is given for the whole figure or for a learner, whose own counts. A learner may have several,
each run apart. The name is that of a setting, or one that settings are computed from: with
`components: rho_f * budget`, a sweep of `rho_f` changes the components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from okbench.base.config_nodes import Node
from okbench.papers.cell_settings import Layer
from okbench.papers.provenance import SOURCES, read_source
from okbench.papers.table_types import LearnerColumn, Point, Setting, Sweep

Read = TypeVar("Read")


def read_sweeps(node: Node | None) -> tuple[Sweep, ...]:
    """One sweep or a list of them."""
    if node is None:
        return ()
    nodes = node.elements() if node.kind == "list" else (node,)
    return tuple(_read_sweep(each) for each in nodes)


def columns_of(
    column: LearnerColumn, sweeps: Sequence[Sweep]
) -> Iterator[tuple[LearnerColumn, Layer]]:
    """A column for every value of every sweep, with the setting it stands for."""
    if not sweeps:
        yield column, {}
    for sweep in sweeps:
        for value in sweep.values:
            point = Point(column.label, sweep.name, value)
            label = f"{column.label} {sweep.name}={_short(value)}"
            setting = Setting(value, sweep.source, sweep.reason, sweep.where, shared=True)
            yield replace(column, label=label, point=point), {sweep.name: setting}


def _short(value: int | float) -> str:
    """A value in six digits where these are all it has."""
    written = f"{value:g}"
    return written if float(written) == value else str(value)


def read_values(node: Node, read: Callable[[Node], Read]) -> tuple[Read, ...]:
    """Two different values or more, each as `read` reads it."""
    values = tuple(read(element) for element in node.elements())
    if len(values) < 2:
        raise node.error("two values or more make a range")
    if len(set(values)) < len(values):
        raise node.error("a value stands here twice; keep one")
    return values


def _read_sweep(node: Node) -> Sweep:
    fields = node.fields({"name", "values", *SOURCES}, required=["name", "values"])
    name, values = fields["name"].text(), read_values(fields["values"], Node.number)
    return Sweep(name, values, *read_source(fields), where=node.where)
