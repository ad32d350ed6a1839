"""The walk of the Twin Vector Machine: rows join a support vector machine whose closest merge."""

from __future__ import annotations

from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import Entries, clear_lane, kernel_row
from okbench.learners.compiled.rules.budget import (
    CROWDED,
    FINISHED,
    Supports,
    crowded,
    fill,
    leave,
    score,
)
from okbench.learners.compiled.rules.tvm_machine import (
    MINUS,
    PLUS,
    SIDE,
    Machine,
    hold,
    resolve_settings,
)

CRAMPED = 5  # why a walk ended: the slots need room for longer vectors


class Twinning(NamedTuple):
    """A Twin Vector Machine in numbers."""

    budget: int
    margin: float  # rows with a margin up to it join
    sharpness: float  # -1 / (2 width²)
    within_class: bool  # whether vectors of one class merge before others


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
def merge(
    supports: Supports, size: int, rule: Twinning, machine: Machine, draft: Entries, kernel: Any
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
    clear_lane(supports.lanes, a, supports.entries, a)
    fill(supports, a, draft, 0, met)
    # the bounds have added up too, but for rounding
    lowest, highest = -machine.cost * state[MINUS, a], machine.cost * state[PLUS, a]
    coefficients[0, a] = min(max(joint, lowest), highest)
    lanes = supports.lanes
    kernel_row(
        draft.values, draft.columns, draft.starts[0], draft.stops[0], draft.squared_norms[0],
        lanes.matrix, lanes.place, lanes.squared_norms, coefficients.shape[1], rule.sharpness,
        kernel, 0,
    )  # fmt: skip
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
def walk(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Twinning, machine: Machine, draft: Entries, scores: Any, kernel: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    state = machine.state
    n_features = len(supports.lanes.place)
    updates = 0
    for i in range(first, len(targets)):
        score(rows, i, supports, size, rule.sharpness, kernel, scores)
        if not targets[i] * scores[i, 0] <= rule.margin:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        if is_cramped(rows, i, supports, size, n_features):
            return CRAMPED, i, size, updates
        updates += 1
        slot = supports.order[size]
        fill(supports, slot, rows, i, position + i)
        state[PLUS, slot] = 1.0 if targets[i] > 0.0 else 0.0
        state[MINUS, slot] = 1.0 - state[PLUS, slot]
        state[SIDE, slot] = 0.0
        remember(machine, slot, kernel)
        size += 1
        if size > rule.budget:
            merge(supports, size, rule, machine, draft, kernel)
            size -= 1
        resolve_settings(machine, supports.coefficients, supports.order, size)
    return FINISHED, len(targets), size, updates
