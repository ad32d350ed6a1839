"""The walk of an expansion that keeps every support.

A block of rows are lanes that all supports sweep over, in the order they joined; then the rows are
walked, and one that joins sweeps over the block itself. Each score is so the same sum, added up in
the same order, as if the rows had come one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.compiled.elementary import FUSED, exp
from okbench.learners.compiled.jit import compiled
from okbench.learners.compiled.lanes import (
    Entries,
    Lanes,
    clear_lane,
    inlined,
    padded,
    products,
    products_of_four,
    set_lane,
)
from okbench.learners.compiled.losses import step
from okbench.learners.contract import FloatArray

BLOCK = 256  # rows that are lanes together
LIFT = 2.0**64  # of the sums: subnormal numbers decide signs, but cost a hundred times the others
ROOT_OF_NOTHING = 1.5717277847026288e-162  # a kernel below its square is 0
VANISHING = 1e-100  # a common factor of all coefficients is multiplied out before it underflows


class Expanding(NamedTuple):
    """Supports in the order they joined, in arrays with room for more."""

    entries: Entries
    gains: FloatArray  # added to the column `plus`, taken from the column `minus`
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
        n_entries = 4 * (n_supports - size + 1) + int(rows.stops[last - 1] - rows.starts[first])
        n_entries += int(self.entries.stops[size - 1]) if size else 0
        entries = self.entries
        if n_entries > len(entries.values):
            entries = entries._replace(
                values=_longer(entries.values, n_entries),
                columns=_longer(entries.columns, n_entries),
            )
        if n_supports <= len(self.gains):
            return self._replace(entries=entries)
        entries = entries._replace(
            starts=_longer(entries.starts, n_supports),
            stops=_longer(entries.stops, n_supports),
            squared_norms=_longer(entries.squared_norms, n_supports),
        )
        return Expanding(entries, *(_longer(array, n_supports) for array in self[1:]))


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros(max(length, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


class Motion(NamedTuple):
    """An unbounded learner in numbers."""

    loss: int
    step: float
    sharpness: float  # -1 / (2 width²)
    keep: float = 1.0  # what every coefficient is multiplied by at every row
    widening: float = 0.0  # of the silent tube, at a row that joins
    narrowing: float = 0.0  # and at one that does not


@compiled(fastmath=FUSED)
def spread(
    inner: Any, k: int, norm: float, norms: Any, width: int, sharpness: float, gain: float,
    plus: int, minus: int, sums: Any,
) -> None:  # fmt: skip
    """Add a support to the sums of all lanes; its inner products with them are inner[k]."""
    lifted, half_sharpness = gain * LIFT, 0.5 * sharpness
    for j in range(width):
        root = exp(half_sharpness * ((norm + norms[j]) - 2.0 * inner[k, j]))
        change = 0.0 if root < ROOT_OF_NOTHING else (lifted * root) * root
        sums[plus, j] += change
        if minus >= 0:
            sums[minus, j] -= change


@compiled()
def in_groups(n_entries: int) -> int:
    """Entries in whole groups of four, which is how `products` takes them."""
    return (n_entries + 3) // 4 * 4


@inlined
def are_full(starts: Any, stops: Any, s: int, n_features: int) -> bool:
    """Whether the four supports from s on have every column."""
    n_entries = 0
    for t in range(s, s + 4):
        n_entries += stops[t] - starts[t]
    return bool(n_entries == 4 * n_features)


@compiled(fastmath=FUSED)
def sweep(
    supports: Expanding, first: int, last: int, lanes: Lanes, width: int, sharpness: float,
    inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Add supports[first:last] to the sums of all lanes, in order; four full ones at a time."""
    values, columns, starts, stops, support_norms = supports.entries
    _, gains, plus, minus, _ = supports
    matrix, place, _, _, _, norms = lanes
    s = first
    while s < last:
        start, stop, count = starts[s], stops[s], 1
        if s + 4 <= last and are_full(starts, stops, s, len(place)):
            count, stop = 4, start + in_groups(len(place))
            products_of_four(values, columns, start, stop, matrix, place, width, inner)
        else:
            products(values, columns, start, stop, matrix, place, width, inner, 0)
        for k in range(count):
            spread(
                inner, k, support_norms[s + k], norms, width, sharpness, gains[s + k],
                plus[s + k], minus[s + k], sums,
            )  # fmt: skip
        s += count


@compiled()
def meet(
    rows: Entries, first: int, last: int, supports: Expanding, size: int, lanes: Lanes,
    sharpness: float, inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Make rows[first:last] the lanes and add all supports to their sums."""
    width = padded(last - first)
    for i in range(first, last):
        set_lane(lanes, i - first, rows, i)
    for column in range(len(sums)):
        for j in range(width):
            sums[column, j] = 0.0
    sweep(supports, 0, size, lanes, width, sharpness, inner, sums)


@compiled()
def part(rows: Entries, first: int, last: int, lanes: Lanes) -> None:
    """Clear the lanes again."""
    for i in range(first, last):
        clear_lane(lanes, i - first, rows, i)


@compiled()
def append(supports: Expanding, size: int, rows: Entries, i: int) -> None:
    """Copy row i behind the last support and the zeros that fill up its last group of four."""
    held = supports.entries
    start = 0
    if size > 0:
        start = held.starts[size - 1] + in_groups(held.stops[size - 1] - held.starts[size - 1])
    n_entries = rows.stops[i] - rows.starts[i]
    for e in range(n_entries):
        held.values[start + e] = rows.values[rows.starts[i] + e]
        held.columns[start + e] = rows.columns[rows.starts[i] + e]
    for e in range(start + n_entries, start + in_groups(n_entries)):
        held.values[e], held.columns[e] = 0.0, held.columns[e - 1]
    held.starts[size], held.stops[size] = start, start + n_entries
    held.squared_norms[size] = rows.squared_norms[i]


@compiled()
def walk(
    rows: Entries, first: int, last: int, targets: Any, position: int, supports: Expanding,
    size: int, lanes: Lanes, motion: Motion, state: Any, inner: Any, sums: Any, scores: Any,
) -> int:  # fmt: skip
    """Learn rows[first:last], which are the lanes; how many supports there are then."""
    width = padded(last - first)
    for i in range(first, last):
        for column in range(len(sums)):
            scores[i, column] = state[1] * (sums[column, i - first] / LIFT)
        gain, plus, minus, _ = step(motion.loss, scores, i, targets[i], state[0])
        state[1] *= motion.keep
        if state[1] < VANISHING:
            supports.gains[:size] *= state[1]
            sums *= state[1]
            state[1] = 1.0
        if gain == 0.0:
            state[0] -= motion.narrowing
            continue
        state[0] += motion.widening
        append(supports, size, rows, i)
        supports.gains[size] = motion.step * gain / state[1]
        supports.plus[size], supports.minus[size] = plus, minus
        supports.rows[size] = position + i
        sweep(supports, size, size + 1, lanes, width, motion.sharpness, inner, sums)
        size += 1
    return size


@compiled()
def learn(
    rows: Entries, first: int, last: int, targets: Any, position: int, supports: Expanding,
    size: int, lanes: Lanes, motion: Motion, state: Any, inner: Any, sums: Any, scores: Any,
) -> int:  # fmt: skip
    """Learn rows[first:last] and fill in their scores; how many supports there are then.

    state is (epsilon, the common factor of all coefficients).
    """
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        meet(rows, start, stop, supports, size, lanes, motion.sharpness, inner, sums)
        size = walk(
            rows, start, stop, targets, position, supports, size, lanes, motion, state, inner,
            sums, scores,
        )  # fmt: skip
        part(rows, start, stop, lanes)
    return size


@compiled()
def ask(
    rows: Entries, supports: Expanding, size: int, lanes: Lanes, sharpness: float, state: Any,
    inner: Any, sums: Any, scores: Any,
) -> None:  # fmt: skip
    """Fill in the scores of rows; nothing is learned."""
    for start in range(0, len(scores), BLOCK):
        stop = min(start + BLOCK, len(scores))
        meet(rows, start, stop, supports, size, lanes, sharpness, inner, sums)
        for i in range(start, stop):
            for column in range(len(sums)):
                scores[i, column] = state[1] * (sums[column, i - start] / LIFT)
        part(rows, start, stop, lanes)
