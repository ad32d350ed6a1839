"""Isolation maps of learners that are fitted to the same rows one after the other.

Maps by nearest points whose points are all rows have the products of rows with them in common; what
is left for each map is to compare. So the maps of all psi of a search take at most about twice as
long as that of the largest. Every map has the cells that it has alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import Draws
from okbench.learners.isolation.array_libraries import Lines
from okbench.learners.isolation.maps import Cells, IsolationMap, MakePoints, MapSettings, cell_type
from okbench.learners.isolation.nearest import PointTable, points_of
from okbench.learners.isolation.references import as_table
from okbench.learners.rows import Block, digest_of
from okbench.learners.settings import fields_of

MOST_BYTES = 2**30  # of cells that are kept for the other maps


class OnMap(MapSettings):
    """A learner on an isolation map, which it may make together with those of others."""

    shared_settings: ClassVar[tuple[str, ...]] = ("psi",)  # which `share` takes different values of

    draws: Draws

    _shared: tuple[SharedMaps, int] | None = None  # with other learners, and its number among them

    @staticmethod
    def share(learners: Sequence[OnMap]) -> None:
        """Have learners that differ in psi, and are fitted to the same rows, share products."""
        shared = SharedMaps(
            [each._new_map() for each in learners], [each.draws for each in learners]
        )
        for number, each in enumerate(learners):
            each._shared = shared, number

    @property
    def device(self) -> str | None:
        """The library and the device that multiplied rows with points, where it was done."""
        made = self._made
        return made.device if made else None

    @property
    def remark(self) -> str | None:
        """That there were fewer rows than psi, where it is so."""
        made = self._made
        return made.remark if made else None

    @property
    def map_seconds(self) -> float | None:
        """How long it took to make the map and to map rows."""
        made = self._made
        return made.seconds if made else None

    @property
    def _made(self) -> IsolationMap | None:
        """The map, once there is one."""
        return getattr(self, "_map", None)

    def _map_settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in fields_of(MapSettings)}

    def _new_map(self) -> IsolationMap:
        """The map before it is fitted."""
        return IsolationMap(**self._map_settings())

    def _map_of(self, block: Block) -> IsolationMap:
        """The map that is made of these rows."""
        if self._shared is None:
            return self._new_map().fit(block.matrix, self.draws)
        shared, number = self._shared
        return shared.fit(number, block)


class SharedMaps:
    """Maps that differ in psi alone, each with its own draws, which are left as they are if the map
    is made with the others."""

    def __init__(self, maps: Sequence[IsolationMap], draws: Sequence[Draws]) -> None:
        self._maps, self._draws = tuple(maps), tuple(draws)
        self._rows = b""

    def fit(self, number: int, block: Block) -> IsolationMap:
        """The map of this number, made of these rows. When the first of the maps is asked for, all
        are made of its rows."""
        rows = digest_of(block)
        if not self._rows:
            self._rows = rows
            self._fit_all(block)
        elif self._rows != rows:
            return copy(self._maps[number]).fit(block.matrix, self._draws[number])
        return self._maps[number]

    def _fit_all(self, block: Block) -> None:
        largest = max(self._maps, key=lambda made: made.psi)
        points = largest.partitionings * min(largest.psi, len(block))
        make: MakePoints = points_of
        if largest.map == "nearest" and points >= len(block):  # else the others add as much again
            table = as_table(block)
            make = make if table is None else SharedPoints(PointTable.of(table)).take
        for made, draws in zip(self._maps, self._draws, strict=True):
            made.fit(block.matrix, deepcopy(draws), make)


class SharedPoints:
    """The rows of a table as the points of several maps. Cells that are found for one of them are
    found for all, and kept by the content of the rows."""

    def __init__(self, table: PointTable) -> None:
        self.table = table
        self._several: list[Lines] = []
        self._found: dict[bytes, list[Cells]] = {}
        self._held = 0

    def take(self, block: Block, samples: NDArray[np.int64]) -> PointsOfOne:
        """Take in a map with these rows as its points: partitionings × points."""
        self._several.append(samples.astype(np.int32))
        return PointsOfOne(self._several[-1], self.table, self, len(self._several) - 1)

    def cells(self, block: Block, library: str, number: int) -> Cells:
        """The cells of rows in the map of this number."""
        rows = digest_of(block)
        if rows not in self._found:
            alone = self._held >= MOST_BYTES
            several = self._several[number : number + 1] if alone else self._several
            found = [
                np.empty((len(block), len(lines)), dtype=cell_type(lines.shape[1]))
                for lines in several
            ]
            self.table.cells(block, library, several, found)
            if alone:
                return found[0]
            self._found[rows] = found
            self._held += sum(cells.nbytes for cells in found)
        return self._found[rows][number]


@dataclass(frozen=True)
class PointsOfOne:
    """The points of one map among those that share them."""

    lines: Lines
    table: PointTable
    shared: SharedPoints
    number: int

    def cells(self, block: Block, library: str, out: NDArray[Any]) -> None:
        """Fill in the cells of rows: rows × partitionings."""
        out[:] = self.shared.cells(block, library, self.number)
