"""Surfaces of kernels: the kernel of one point with the points of a grid, as trials left it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from okbench.papers.table_types import Table
from okbench.reports.tables.cells import Expected
from okbench.trials.trial_types import Outcome

Values = tuple[float, ...]


@dataclass(frozen=True)
class Surface:
    """The kernel of a learner over two columns of a dataset; `values` has a line for each y."""

    dataset: str
    learner: str
    x: Values
    y: Values
    values: tuple[Values, ...]

    @property
    def title(self) -> str:
        return f"{self.learner} on {self.dataset}"

    @property
    def through_the_point(self) -> Values:
        """The line of values that has the point itself, where the kernel is largest."""
        return max(self.values, key=max)


def surfaces(
    table: Table, outcomes: Mapping[str, Outcome], expected: Expected
) -> Iterator[Surface]:
    """The surface of every cell that has one, in the order of the table."""
    for row in table.datasets:
        for column in table.learners:
            for id_ in expected.get((row.name, column.label), ()):
                kept = outcomes[id_].extra.get("surface") if id_ in outcomes else None
                if kept:
                    values = tuple(tuple(line) for line in kept["values"])
                    x, y = tuple(kept["x"]), tuple(kept["y"])
                    yield Surface(row.name, column.label, x, y, values)
                    break
