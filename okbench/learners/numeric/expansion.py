"""The walk of an expansion that keeps every support.

A block of rows are lanes that all supports sweep over, in the order they joined; then the rows are
walked, and one that joins sweeps over the block itself. Each score is so the same sum, added up in
the same order, as if the rows had come one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, LIFT
from okbench.learners.numeric.kernels import lifted
from okbench.learners.numeric.lanes import (
    Entries,
    Lanes,
    aligned,
    clear_lane,
    inlined,
    padded,
    set_lane,
)
from okbench.learners.numeric.losses import step
from okbench.learners.numeric.vector_products import products
from okbench.learners.numeric.walks import RowStream

BLOCK = 104  # rows that are lanes together
TUBE, FACTOR = 0, 1  # of `state`: the residual a loss is silent up to, what all coefficients share
VANISHING = 1e-100  # a common factor of all coefficients is multiplied out before it underflows


class Expanding(NamedTuple):
    """Supports in the order they joined, in arrays with room for more."""

    entries: Entries
    gains: FloatArray  # added to the column `plus`, taken from `minus`; or supports × kernels
    plus: NDArray[np.int32]
    minus: NDArray[np.int32]
    rows: NDArray[np.int64]  # position in the stream

    @classmethod
    def empty(cls) -> Expanding:
        positions, columns = np.zeros(0, np.int64), np.zeros(0, np.int32)
        entries = Entries(np.zeros(0), columns, positions, positions, np.zeros(0))
        return cls(entries, np.zeros(0), columns, columns, positions)

    def with_room_for(self, size: int, rows: Entries, first: int, last: int) -> Expanding:
        """The same supports in arrays that can take up all of rows[first:last]."""
        n_supports = size + last - first
        n_entries = int(rows.stops[last - 1] - rows.starts[first])
        n_entries += int(self.entries.stops[size - 1]) if size else 0
        entries = self.entries
        if n_entries > len(entries.values):
            entries = entries._replace(
                values=longer(entries.values, n_entries),
                columns=longer(entries.columns, n_entries),
            )
        if n_supports <= len(self.gains):
            return self._replace(entries=entries)
        entries = entries._replace(
            starts=longer(entries.starts, n_supports),
            stops=longer(entries.stops, n_supports),
            squared_norms=longer(entries.squared_norms, n_supports),
        )
        return Expanding(entries, *(longer(array, n_supports) for array in self[1:]))


def longer(array: Any, length: int) -> Any:
    """The same array with room for at least this many items."""
    made = np.zeros((max(length, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    made[: len(array)] = array
    return made


class Motion(NamedTuple):
    """An unbounded learner in numbers."""

    loss: int
    step: float
    formula: Any  # the kernel in numbers
    keep: float = 1.0  # what every coefficient is multiplied by at every row
    widening: float = 0.0  # of the silent tube, at a row that joins
    narrowing: float = 0.0  # and at one that does not


class LaneWork(NamedTuple):
    """Scratch: a block of rows as lanes, their inner products with a support, their sums."""

    lanes: Lanes
    inner: FloatArray
    sums: FloatArray

    @classmethod
    def of(cls, n_features: int, n_columns: int) -> LaneWork:
        lanes = Lanes.empty(n_features, BLOCK, n_rows=1024)
        return cls(lanes, aligned(4, BLOCK), aligned(n_columns, BLOCK))

    def with_room_for(self, rows: Entries, first: int, last: int) -> LaneWork:
        """Lanes that any block of rows[first:last], cut from `first` on, can be together."""
        n_entries = most_entries(rows, first, last)
        if self.lanes.has_room_for(n_entries):
            return self
        return self._replace(lanes=self.lanes.widened(n_entries))


def most_entries(rows: Entries, first: int, last: int) -> int:
    """The most entries that a block of rows[first:last], cut from `first` on, has."""
    return max(
        (
            int(rows.stops[min(start + BLOCK, last) - 1] - rows.starts[start])
            for start in range(first, last, BLOCK)
        ),
        default=0,
    )


@compiled(fastmath=FUSED)
def spread(
    inner: Any, norm: float, norms: Any, width: int, formula: Any, gain: float, plus: int,
    minus: int, sums: Any,
) -> None:  # fmt: skip
    """Add a support to the sums of all lanes, of its inner products with them."""
    for j in range(width):
        change = gain * lifted(formula, norm, norms[j], inner[0, j])
        sums[plus, j] += change
        if minus >= 0:
            sums[minus, j] -= change


@compiled(fastmath=FUSED)
def sweep_lanes(
    supports: Expanding, first: int, last: int, lanes: Lanes, width: int,
    formula: Any, inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Add supports[first:last] to the sums of all lanes, in order."""
    values, columns, starts, stops, support_norms = supports.entries
    _, gains, plus, minus, _ = supports
    matrix, place, _, _, _, norms = lanes
    for s in range(first, last):
        products(values, columns, starts[s], stops[s], matrix, place, width, inner, 0)
        spread(inner, support_norms[s], norms, width, formula, gains[s], plus[s], minus[s], sums)


@inlined
def fill_lanes(
    rows: Entries, first: int, last: int, supports: Expanding, size: int, lanes: Lanes,
    formula: Any, inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Make rows[first:last] the lanes and add all supports to their sums."""
    width = padded(last - first)
    for i in range(first, last):
        set_lane(lanes, i - first, rows, i)
    for column in range(len(sums)):
        for j in range(width):
            sums[column, j] = 0.0
    # a plain 0 is a type of its own and would have it compiled twice
    sweep_lanes(supports, int(np.int64(0)), size, lanes, width, formula, inner, sums)


@inlined
def clear_lanes(rows: Entries, first: int, last: int, lanes: Lanes) -> None:
    """Clear the lanes again."""
    for i in range(first, last):
        clear_lane(lanes, i - first, rows, i)


@inlined
def append_support(supports: Expanding, size: int, rows: Entries, i: int) -> None:
    """Copy row i behind the last support."""
    held = supports.entries
    start = 0
    if size > 0:
        start = held.stops[size - 1]
    n_entries = rows.stops[i] - rows.starts[i]
    for e in range(n_entries):
        held.values[start + e] = rows.values[rows.starts[i] + e]
        held.columns[start + e] = rows.columns[rows.starts[i] + e]
    held.starts[size], held.stops[size] = start, start + n_entries
    held.squared_norms[size] = rows.squared_norms[i]


@compiled()
def multiply_out(gains: Any, size: int, sums: Any, state: Any) -> None:
    """Have the common factor in the coefficients and in the sums made of them."""
    for s in range(size):
        gains[s] *= state[FACTOR]
    for column in range(sums.shape[0]):
        for j in range(sums.shape[1]):
            sums[column, j] *= state[FACTOR]
    state[FACTOR] = 1.0


@inlined
def score_lane(lane: int, sums: Any, factor: float, scores: Any, i: int) -> None:
    """The scores of row i, from the sums of its lane."""
    for column in range(len(sums)):
        scores[i, column] = factor * (sums[column, lane] / LIFT)


@inlined
def learn_block(
    rows: Entries, first: int, last: int, targets: Any, position: int, supports: Expanding,
    size: int, lanes: Lanes, motion: Motion, state: Any, inner: Any, sums: Any, scores: Any,
) -> int:  # fmt: skip
    """Learn rows[first:last], which are the lanes; how many supports there are then."""
    width = padded(last - first)
    for i in range(first, last):
        score_lane(i - first, sums, state[FACTOR], scores, i)
        gain, plus, minus, _ = step(motion.loss, scores, i, targets[i], state[TUBE])
        state[FACTOR] *= motion.keep
        if state[FACTOR] < VANISHING:
            multiply_out(supports.gains, size, sums, state)
        if gain == 0.0:
            state[TUBE] -= motion.narrowing
            continue
        state[TUBE] += motion.widening
        append_support(supports, size, rows, i)
        supports.gains[size] = motion.step * gain / state[FACTOR]
        supports.plus[size], supports.minus[size] = plus, minus
        supports.rows[size] = position + i
        sweep_lanes(supports, size, size + 1, lanes, width, motion.formula, inner, sums)
        size += 1
    return size


@compiled()
def learn_expansion(
    stream: RowStream, first: int, last: int, supports: Expanding, size: int, motion: Motion,
    state: Any, work: LaneWork,
) -> int:  # fmt: skip
    """Learn rows[first:last] and fill in their scores; how many supports there are then."""
    rows, targets, scores, position = stream
    lanes, inner, sums = work
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        fill_lanes(rows, start, stop, supports, size, lanes, motion.formula, inner, sums)
        size = learn_block(
            rows, start, stop, targets, position, supports, size, lanes, motion, state, inner,
            sums, scores,
        )  # fmt: skip
        clear_lanes(rows, start, stop, lanes)
    return size


@compiled()
def score_expansion(
    rows: Entries, supports: Expanding, size: int, formula: Any, state: Any, work: LaneWork,
    scores: Any,
) -> None:  # fmt: skip
    """Fill in the scores of rows; nothing is learned."""
    lanes, inner, sums = work
    for start in range(0, len(scores), BLOCK):
        stop = min(start + BLOCK, len(scores))
        fill_lanes(rows, start, stop, supports, size, lanes, formula, inner, sums)
        for i in range(start, stop):
            score_lane(i - start, sums, state[FACTOR], scores, i)
        clear_lanes(rows, start, stop, lanes)
