"""The support vectors of every learner on a budget: one table, and what may happen to its slots.

A slot is a lane of the table; the learners differ in which support leaves when a row must join a
full one. Where supports are rows of the stream, the table keeps each again as a sparse row,
so that its kernel with the others can be computed and its lane be cleared by its entries alone.
Supports that merging may fill have no sparse rows, and lanes that hold every column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.lanes import (
    Entries,
    Lanes,
    aligned,
    clear_lane,
    inlined,
    padded,
    set_lane,
)
from okbench.learners.numeric.vector_products import put_last

TILE = 32  # lanes that a search for the best partner takes at once


class Supports(NamedTuple):
    """Support vectors in budget + 1 slots, so that a row can join before another leaves."""

    lanes: Lanes
    entries: Entries  # the same vectors as sparse rows, one per slot, or none
    coefficients: FloatArray  # columns × lanes, 0 where no vector is
    order: NDArray[np.int32]  # slots, the oldest vector's first, then the free ones
    rows: NDArray[np.int64]  # slot → position in the stream

    @classmethod
    def empty(cls, n_features: int, n_columns: int, budget: int) -> Supports:
        """For supports that are rows of the stream."""
        slots = budget + 1
        lanes = Lanes.empty(n_features, slots, n_rows=1024)
        return cls._of(lanes, aligned(n_columns, padded(slots)), slots, n_sparse=slots)

    @classmethod
    def dense(cls, n_features: int, n_columns: int, budget: int) -> Supports:
        """For supports that merging may fill; the coefficients' lanes are whole tiles."""
        slots = budget + 1
        coefficients = aligned(n_columns, -(-slots // TILE) * TILE)
        return cls._of(Lanes.dense(n_features, slots), coefficients, slots, n_sparse=0)

    @classmethod
    def _of(cls, lanes: Lanes, coefficients: FloatArray, slots: int, n_sparse: int) -> Supports:
        starts, stops = np.zeros(n_sparse, dtype=np.int64), np.zeros(n_sparse, dtype=np.int64)
        return cls(
            lanes,
            Entries(np.empty(0), np.empty(0, np.int32), starts, stops, np.zeros(n_sparse)),
            coefficients,
            np.arange(slots, dtype=np.int32),
            np.full(slots, -1, dtype=np.int64),
        )

    def widened(self, n_columns: int) -> Supports:
        """The same supports in lanes with room for n_columns more columns."""
        return self._replace(lanes=self.lanes.widened(n_columns))

    def with_room_for(self, n_entries: int) -> Supports:
        """The same supports in slots that can hold rows of n_entries."""
        old, slots = self.entries, len(self.order)
        if slots * n_entries <= len(old.values):
            return self
        starts = np.arange(slots, dtype=np.int64) * n_entries
        lengths = old.stops - old.starts
        wider = Entries(
            np.empty(slots * n_entries),
            np.empty(slots * n_entries, dtype=np.int32),
            starts,
            starts + lengths,
            old.squared_norms,
        )
        for to, since, length in zip(starts, old.starts, lengths, strict=True):
            wider.values[to : to + length] = old.values[since : since + length]
            wider.columns[to : to + length] = old.columns[since : since + length]
        return self._replace(entries=wider)


@inlined
def crowded(rows: Entries, i: int, lanes: Lanes) -> bool:
    """Whether row i might need more columns than the lanes have room for."""
    n_entries = rows.stops[i] - rows.starts[i]
    # not `and`: a branch would have all arrays of the tuple counted as held and released
    return bool((lanes.n_free[0] < n_entries) & (len(lanes.matrix) <= len(lanes.place)))


@inlined
def fill(supports: Supports, slot: int, rows: Entries, i: int, position: int) -> None:
    """Put row i, met at `position` of the stream, into a clear slot."""
    held = supports.entries
    start = held.starts[slot]
    n_entries = rows.stops[i] - rows.starts[i]
    for e in range(n_entries):
        held.values[start + e] = rows.values[rows.starts[i] + e]
        held.columns[start + e] = rows.columns[rows.starts[i] + e]
    held.stops[slot] = start + n_entries
    held.squared_norms[slot] = rows.squared_norms[i]
    supports.rows[slot] = position
    set_lane(supports.lanes, slot, held, slot)


@inlined
def empty_slot(supports: Supports, slot: int) -> None:
    """Take the vector out of a slot; its coefficients and its place in the order stay."""
    clear_lane(supports.lanes, slot, supports.entries, slot)


@inlined
def leave(supports: Supports, size: int, place: int) -> None:
    """Free the slot of the support that is `place` joins younger than the oldest."""
    slot = supports.order[place]
    put_last(supports.order, place, size)
    empty_slot(supports, slot)
    for column in range(len(supports.coefficients)):
        supports.coefficients[column, slot] = 0.0


@compiled()
def scale(coefficients: Any, factor: float) -> None:
    """Multiply all coefficients."""
    for column in range(coefficients.shape[0]):
        for lane in range(coefficients.shape[1]):
            coefficients[column, lane] *= factor


@inlined
def squared_length(coefficients: Any, slot: int) -> float:
    """The squared length of a support's coefficients."""
    total = 0.0
    for column in range(len(coefficients)):
        total += coefficients[column, slot] * coefficients[column, slot]
    return total
