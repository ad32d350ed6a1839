"""The walk of the Twin Vector Machine: rows join a support vector machine whose closest merge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import Entries, aligned, kernel_row, padded
from okbench.learners.compiled.losses import is_positive
from okbench.learners.compiled.rules.tvm_machine import (
    MINUS,
    PLUS,
    SIDE,
    Machine,
    hold,
    restore_optimum,
)
from okbench.learners.compiled.supports import Supports, crowded, empty_slot, fill, leave
from okbench.learners.compiled.walks import (
    CRAMPED,
    CROWDED,
    FINISHED,
    RowStream,
    Work,
    find_kernel,
    meet,
)
from okbench.learners.contract import FloatArray


class TVMRule(NamedTuple):
    """A Twin Vector Machine in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    margin: float  # rows with a margin up to it join
    within_class: bool  # whether vectors of one class merge before others
    cost: float
    tolerance: float


class Bench(NamedTuple):
    """Scratch to merge two vectors in, and to solve for the coefficients."""

    draft: Entries
    solution: FloatArray

    @classmethod
    def of(cls, supports: Supports) -> Bench:
        slots = len(supports.order)
        room = len(supports.entries.values) // slots
        starts, stops = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        draft = Entries(np.empty(room), np.empty(room, np.int32), starts, stops, np.zeros(1))
        return cls(draft, aligned(3, padded(slots)))


@compiled(fastmath=FUSED)
def closest(supports: Supports, size: int, machine: Machine, within_class: bool) -> tuple[int, int]:
    """Places of the two closest vectors, of one class if there are such; the first of equals."""
    order, state = supports.order, machine.state
    first, second, nearest, related = 0, 1, -1.0, False
    for a in range(size):
        kind = state[PLUS, order[a]] >= state[MINUS, order[a]]
        for b in range(a):
            alike = within_class and kind == (state[PLUS, order[b]] >= state[MINUS, order[b]])
            near = machine.gram[order[a], order[b]]
            if (alike and not related) or (alike == related and near > nearest):
                first, second, nearest, related = b, a, near, alike
    return first, second


@compiled(fastmath=FUSED)
def mean(held: Entries, a: int, b: int, weight: float, draft: Entries) -> None:
    """weight × vector a + (1 - weight) × vector b into the draft."""
    e, f, n = held.starts[a], held.starts[b], 0
    norm = 0.0
    while e < held.stops[a] or f < held.stops[b]:
        left = e < held.stops[a] and (f == held.stops[b] or held.columns[e] <= held.columns[f])
        right = f < held.stops[b] and (e == held.stops[a] or held.columns[f] <= held.columns[e])
        draft.columns[n] = held.columns[e] if left else held.columns[f]
        value = 0.0
        if left:
            value += weight * held.values[e]
            e += 1
        if right:
            value += (1.0 - weight) * held.values[f]
            f += 1
        draft.values[n] = value
        norm += value * value
        n += 1
    draft.stops[0] = n
    draft.squared_norms[0] = norm


@compiled(fastmath=FUSED)
def merge_twins(
    supports: Supports, size: int, rule: TVMRule, machine: Machine, draft: Entries, kernel: Any
) -> None:
    """Put two vectors in one at their mean, with the weights and coefficients of both."""
    order, coefficients, state = supports.order, supports.coefficients, machine.state
    first, second = closest(supports, size, machine, rule.within_class)
    a, b = order[first], order[second]
    for place in range(machine.n_free[0] - 1, -1, -1):
        if machine.free[place] == a or machine.free[place] == b:
            hold(machine, place)
    ours, theirs = state[PLUS, a] + state[MINUS, a], state[PLUS, b] + state[MINUS, b]
    mean(supports.entries, a, b, ours / (ours + theirs), draft)
    joint = coefficients[0, a] + coefficients[0, b]
    state[PLUS, a] += state[PLUS, b]
    state[MINUS, a] += state[MINUS, b]
    met = min(supports.rows[a], supports.rows[b])
    leave(supports, size, second)
    empty_slot(supports, a)
    fill(supports, a, draft, 0, met)
    # the bounds have added up too, but for rounding
    lowest, highest = -rule.cost * state[MINUS, a], rule.cost * state[PLUS, a]
    coefficients[0, a] = min(max(joint, lowest), highest)
    kernel_row(draft, 0, supports.lanes, coefficients.shape[1], rule.sharpness, kernel, 0)
    remember(machine, a, kernel)


@compiled()
def remember(machine: Machine, slot: int, kernel: Any) -> None:
    """Keep a vector's kernel with all others."""
    kernel[0, slot] = 1.0
    for other in range(len(machine.gram)):
        machine.gram[slot, other] = machine.gram[other, slot] = kernel[0, other]


@compiled()
def is_cramped(rows: Entries, i: int, supports: Supports, size: int, n_features: int) -> bool:
    """Whether the slots might be too short for the mean of two vectors once row i has joined."""
    held = supports.entries
    longest = rows.stops[i] - rows.starts[i]
    for place in range(size):
        slot = supports.order[place]
        longest = max(longest, held.stops[slot] - held.starts[slot])
    return bool(min(2 * longest, n_features) > len(held.values) // len(supports.order))


@compiled(fastmath=FUSED)
def learn_tvm(
    stream: RowStream, first: int, supports: Supports, size: int, rule: TVMRule, machine: Machine,
    bench: Bench, work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    state, kernel = machine.state, work.kernel
    n_features = len(supports.lanes.place)
    rows, targets, _, position = stream
    lifted, kernel, _ = work
    updates = 0
    for i in range(first, len(targets)):
        _, _, _, margin = meet(stream, i, supports, size, rule, work)
        if not margin <= rule.margin:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        if is_cramped(rows, i, supports, size, n_features):
            return CRAMPED, i, size, updates
        updates += 1
        find_kernel(lifted, kernel, size)
        slot = supports.order[size]
        fill(supports, slot, rows, i, position + i)
        state[PLUS, slot] = 1.0 if is_positive(targets[i]) else 0.0
        state[MINUS, slot] = 1.0 - state[PLUS, slot]
        state[SIDE, slot] = 0.0
        remember(machine, slot, kernel)
        size += 1
        if size > rule.budget:
            merge_twins(supports, size, rule, machine, bench.draft, kernel)
            size -= 1
        restore_optimum(
            machine, rule.cost, rule.tolerance, supports.coefficients, supports.order, size,
            bench.solution,
        )  # fmt: skip
    return FINISHED, len(targets), size, updates
