"""The walk of a budgeted kernel expansion: kernel row, score, loss, and what a full budget does."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import (
    LIFT,
    Entries,
    Lanes,
    aligned,
    clear_lane,
    dot,
    inlined,
    kernel_row,
    lifted_row,
    lower,
    padded,
    set_lane,
)
from okbench.learners.compiled.losses import NOT_POSITIVE, SIGN, step
from okbench.learners.compiled.vector_products import put_last
from okbench.learners.contract import FloatArray

# What happens when a row must join and the budget is full.
STOP = 0  # the walk ends before that row
REMOVE_AT_RANDOM = 1
REMOVE_OLDEST = 2
SHRINK_AND_REMOVE_OLDEST = 3  # the Forgetron's: shrink all so that the oldest can be dropped

# Why a walk ended.
FINISHED = 0
FULL = 1  # the budget is full and the rule is STOP
CROWDED = 2  # the lanes need room for more columns
UNDRAWN = 3  # a removal needs a draw that was not recorded


class Supports(NamedTuple):
    """Support vectors in budget + 1 slots, so that a row can join before another leaves."""

    lanes: Lanes
    entries: Entries  # the same vectors as sparse rows, one a slot
    coefficients: FloatArray  # columns × lanes, 0 where no vector is
    order: NDArray[np.int32]  # slots, the oldest vector's first, then the free ones
    rows: NDArray[np.int64]  # slot → position in the stream

    @classmethod
    def empty(cls, n_features: int, n_columns: int, budget: int) -> Supports:
        slots = budget + 1
        nothing = np.zeros(slots, dtype=np.int64)
        return cls(
            Lanes.empty(n_features, slots, n_rows=1024),
            Entries(np.empty(0), np.empty(0, np.int32), nothing, nothing.copy(), np.zeros(slots)),
            aligned(n_columns, padded(slots)),
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


class Rule(NamedTuple):
    """A budgeted learner in numbers."""

    budget: int
    overflow: int
    loss: int
    epsilon: float
    step: float
    sharpness: float  # -1 / (2 width²)
    keep: float = 1.0  # what every coefficient is multiplied by at every row
    growth: float = 1.0  # and by when another was removed
    ceiling: float = math.inf  # of the coefficients, after a removal
    larger_root: bool = True  # the Forgetron's shrinking as its reference code does it


@inlined
def score(
    rows: Entries, i: int, supports: Supports, size: int, sharpness: float, kernel: Any, scores: Any
) -> None:
    """Kernel of row i with the supports, and its scores."""
    lifted_score(rows, i, supports, size, sharpness, kernel, scores)
    lower(kernel, 0, padded(size + 1))


@inlined
def lifted_score(
    rows: Entries, i: int, supports: Supports, size: int, sharpness: float, kernel: Any, scores: Any
) -> None:
    """The same with LIFT times the kernel."""
    lanes, coefficients = supports.lanes, supports.coefficients
    width = padded(size + 1)  # joining before leaving, supports go round budget + 1 slots
    lifted_row(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], rows.squared_norms[i],
        lanes.matrix, lanes.place, lanes.squared_norms, width, sharpness, kernel, 0,
    )  # fmt: skip
    for column in range(len(coefficients)):
        scores[i, column] = dot(coefficients, column, kernel, 0, width) / LIFT


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
def leave(supports: Supports, size: int, place: int) -> None:
    """Free the slot of the support that is `place` joins younger than the oldest."""
    slot = supports.order[place]
    put_last(supports.order, place, size)
    clear_lane(supports.lanes, slot, supports.entries, slot)
    for column in range(len(supports.coefficients)):
        supports.coefficients[column, slot] = 0.0


@inlined
def add(coefficients: Any, slot: int, plus: int, minus: int, change: float) -> None:
    """Add to the coefficient of one column, and take from that of the other if there is one."""
    coefficients[plus, slot] += change
    if minus >= 0:
        coefficients[minus, slot] -= change


@inlined
def hindrance(stops: bool, undrawn: bool, is_crowded: bool) -> int:
    """Why a row cannot join, or FINISHED."""
    if stops:
        return FULL
    if undrawn:
        return UNDRAWN
    return CROWDED if is_crowded else FINISHED


@compiled()
def scale(coefficients: Any, factor: float) -> None:
    """Multiply all coefficients."""
    for column in range(coefficients.shape[0]):
        for lane in range(coefficients.shape[1]):
            coefficients[column, lane] *= factor


@compiled()
def cap(coefficients: Any, ceiling: float) -> None:
    """A single column is rescaled to its ceiling; several are cut off from above."""
    if len(coefficients) > 1:
        for column in range(coefficients.shape[0]):
            for lane in range(coefficients.shape[1]):
                coefficients[column, lane] = min(coefficients[column, lane], ceiling)
        return
    largest = 0.0
    for lane in range(coefficients.shape[1]):
        largest = max(largest, abs(coefficients[0, lane]))
    if largest > ceiling:
        scale(coefficients, ceiling / largest)


@compiled()
def shrinking(delta: float, mu: float, excess: float, larger_root: bool) -> float:
    """The Forgetron's factor: the damage of dropping the oldest stays within the mistakes' due."""
    a, b = delta * delta - 2.0 * delta * mu, 2.0 * delta
    if a + b + excess <= 0.0:
        return 1.0
    if a == 0.0:
        return min(max(-excess / b, 0.0), 1.0)
    root = math.sqrt(b * b - 4.0 * a * excess)
    return (-b - root if a < 0.0 and larger_root else -b + root) / (2.0 * a)


@compiled(fastmath=FUSED)
def shrink(supports: Supports, rule: Rule, state: Any, kernel: Any) -> None:
    """Scale all coefficients so that the oldest support can be dropped; state is (Q, mistakes)."""
    coefficients = supports.coefficients
    oldest = supports.order[0]
    own = 0  # the column of the oldest's own class
    for column in range(1, len(coefficients)):
        if coefficients[column, oldest] > coefficients[own, oldest]:
            own = column
    width = coefficients.shape[1]
    held, lanes = supports.entries, supports.lanes
    kernel_row(
        held.values, held.columns, held.starts[oldest], held.stops[oldest],
        held.squared_norms[oldest], lanes.matrix, lanes.place, lanes.squared_norms,
        width, rule.sharpness, kernel, 0,
    )  # fmt: skip
    weight, score = coefficients[own, oldest], dot(coefficients, own, kernel, 0, width)
    delta = abs(weight)
    mu = abs(score) if rule.loss >= SIGN else np.sign(weight) * score
    factor = shrinking(delta, mu, state[0] - (15.0 / 32.0) * state[1], rule.larger_root)
    scale(coefficients, factor)
    state[0] += (delta * factor) ** 2 + 2.0 * delta * factor * (1.0 - factor * mu)


@compiled(fastmath=FUSED)
def walk(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Rule, state: Any, uniforms: Any, scores: Any, kernel: Any,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates, draws used).

    The scores of the row at which a walk stopped early are already there.
    """
    coefficients = supports.coefficients
    updates = drawn = 0
    for i in range(first, len(targets)):
        lifted_score(rows, i, supports, size, rule.sharpness, kernel, scores)
        gain, plus, minus, margin = step(rule.loss, scores, i, targets[i], rule.epsilon)
        joins = gain != 0.0
        full = joins and size == rule.budget
        if joins:
            stops = full and rule.overflow == STOP
            undrawn = full and rule.overflow == REMOVE_AT_RANDOM and not uniforms[drawn] < 1.0
            reason = hindrance(stops, undrawn, crowded(rows, i, supports.lanes))
            if reason != FINISHED:
                return reason, i, size, updates, drawn
        if rule.keep != 1.0:
            scale(coefficients, rule.keep)
        if not joins:
            continue
        updates += 1
        # A score of exactly 0 predicts +1: for a positive row that is an update, not a mistake.
        state[1] += not (rule.loss == NOT_POSITIVE and margin == 0.0 and targets[i] > 0.0)
        if full and rule.overflow != SHRINK_AND_REMOVE_OLDEST:
            leaver = 0
            if rule.overflow == REMOVE_AT_RANDOM:
                leaver = min(int(rule.budget * uniforms[drawn]), size - 1)
                drawn += 1
            leave(supports, size, leaver)
            size -= 1
            if rule.growth != 1.0:
                scale(coefficients, rule.growth)
        slot = supports.order[size]
        fill(supports, slot, rows, i, position + i)
        add(coefficients, slot, plus, minus, rule.step * gain)
        size += 1
        if full and rule.overflow == SHRINK_AND_REMOVE_OLDEST:
            shrink(supports, rule, state, kernel)
            leave(supports, size, 0)
            size -= 1
        if rule.ceiling != math.inf and (full or len(coefficients) > 1):
            cap(coefficients, rule.ceiling)
    return FINISHED, len(targets), size, updates, drawn
