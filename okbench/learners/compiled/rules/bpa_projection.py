"""The walks of BPA-P and BPA-NN: what a removed support leaves behind is taken over by others.

Removing support r changes the model least, in norm, when r is projected onto those that take over.
What the projection leaves of it is then at right angles to the new row, which is among these: the
step and the loss after it are the same for every r. So Wang and Vucetic's objective is least for
the r of least |c_r|² times what is left of its kernel's norm.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.gram_inverse import column, diagonal, join, part, solve
from okbench.learners.compiled.lanes import Entries, clear_lane, inlined, kernel_row
from okbench.learners.compiled.losses import AGGRESSIVE, step
from okbench.learners.compiled.rules.budget import (
    CROWDED,
    FINISHED,
    Supports,
    add,
    crowded,
    fill,
    leave,
    score,
)


class Absorbing(NamedTuple):
    """BPA-P or BPA-NN in numbers."""

    budget: int
    sharpness: float  # -1 / (2 width²)
    aggressiveness: float  # the longest step
    guard: float  # vectors whose residual is below it count as dependent


class Neighbours(NamedTuple):
    """The support nearest to each support, by slots, and their kernel."""

    nearest: Any
    nearness: Any


@inlined
def bounded(gain: float, longest: float) -> float:
    return max(-longest, min(longest, gain))


@compiled(fastmath=FUSED)
def squared_norm(coefficients: Any, slot: int) -> float:
    total = 0.0
    for c in range(len(coefficients)):
        total += coefficients[c, slot] * coefficients[c, slot]
    return total


@compiled(fastmath=FUSED)
def replace(supports: Supports, size: int, root: Any, inverse: Any) -> None:
    """Project away the support it costs least to lose; the last of size, the new one, stays.

    K⁻¹ over all of them tells everything: r keeps 1 / K⁻¹_rr off the span of the others, and its
    projection onto them has the coefficients -K⁻¹_jr / K⁻¹_rr.
    """
    order, coefficients = supports.order, supports.coefficients
    diagonal(root, size, inverse)
    leaver, lowest = 0, math.inf
    for place in range(size - 1):
        cost = squared_norm(coefficients, order[place]) / inverse[0, place]
        if cost < lowest:
            leaver, lowest = place, cost
    column(root, size, leaver, inverse)
    for place in range(size):
        if place != leaver:
            share = -inverse[0, place] / inverse[0, leaver]
            for c in range(len(coefficients)):
                coefficients[c, order[place]] += share * coefficients[c, order[leaver]]
    part(root, size, leaver)
    leave(supports, size, leaver)


@compiled(fastmath=FUSED)
def walk_projecting(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Absorbing, root: Any, work: Any, scores: Any, kernel: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """BPA-P: learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients, order = supports.coefficients, supports.order
    ordered, half, projection = work[0:1], work[1:2], work[2:3]
    updates = 0
    for i in range(first, len(targets)):
        score(rows, i, supports, size, rule.sharpness, kernel, scores)
        gain, plus, minus, _ = step(AGGRESSIVE, scores, i, targets[i], 0.0)
        if gain == 0.0:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        change = bounded(gain, rule.aggressiveness)
        for place in range(size):
            ordered[0, place] = kernel[0, order[place]]
        rest = 1.0 - solve(root, ordered, size, half, projection)
        if rest < rule.guard:
            for place in range(size):
                add(coefficients, order[place], plus, minus, change * projection[0, place])
            continue
        join(root, projection, size, rest)
        fill(supports, order[size], rows, i, position + i)
        add(coefficients, order[size], plus, minus, change)
        if size == rule.budget:
            replace(supports, size + 1, root, projection)
        else:
            size += 1
    return FINISHED, len(targets), size, updates


@inlined
def shares(
    supports: Supports, slot: int, size: int, neighbours: Neighbours, kernel: Any, guard: float
) -> tuple[float, float, float]:
    """Shares of the nearest support and of the new row in a support's projection onto the two,
    and what that leaves of it."""
    near = kernel[0, slot]
    if size == 1:
        return 0.0, near, 1.0 - near * near
    neighbour = neighbours.nearest[slot]
    across, own = kernel[0, neighbour], neighbours.nearness[slot]
    apart = 1.0 - across * across
    if apart < guard:  # the two are one: the new row alone
        return 0.0, near, 1.0 - near * near
    theirs, ours = (own - near * across) / apart, (near - own * across) / apart
    return theirs, ours, 1.0 - own * theirs - near * ours


@inlined
def look_around(neighbours: Neighbours, slot: int, size: int, kernel: Any) -> None:
    """Find a slot's nearest support in its kernel row, the first of equals."""
    neighbours.nearness[slot] = -1.0
    for other in range(size):
        if other != slot and kernel[0, other] > neighbours.nearness[slot]:
            neighbours.nearest[slot], neighbours.nearness[slot] = other, kernel[0, other]


@compiled(fastmath=FUSED)
def meet(
    supports: Supports, newcomer: int, size: int, sharpness: float, neighbours: Neighbours,
    kernel: Any, other: Any,
) -> None:  # fmt: skip
    """Nearest supports once `newcomer`, whose kernel row is at hand, has taken its slot."""
    held, lanes = supports.entries, supports.lanes
    width = supports.coefficients.shape[1]
    look_around(neighbours, newcomer, size, kernel)
    for slot in range(size):
        if slot == newcomer:
            continue
        if neighbours.nearest[slot] == newcomer:  # the one that was there has left
            kernel_row(
                held.values, held.columns, held.starts[slot], held.stops[slot],
                held.squared_norms[slot], lanes.matrix, lanes.place, lanes.squared_norms, width,
                sharpness, other, 0,
            )  # fmt: skip
            look_around(neighbours, slot, size, other)
            continue
        ahead = kernel[0, slot] - neighbours.nearness[slot]
        if ahead > 0.0 or (ahead == 0.0 and newcomer < neighbours.nearest[slot]):
            neighbours.nearest[slot], neighbours.nearness[slot] = newcomer, kernel[0, slot]


@compiled(fastmath=FUSED)
def walk_neighbouring(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Absorbing, neighbours: Neighbours, other: Any, scores: Any, kernel: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """BPA-NN: learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    updates = 0
    for i in range(first, len(targets)):
        score(rows, i, supports, size, rule.sharpness, kernel, scores)
        gain, plus, minus, _ = step(AGGRESSIVE, scores, i, targets[i], 0.0)
        if gain == 0.0:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        slot = size
        if size == rule.budget:
            slot, lowest = 0, math.inf
            for place in range(size):
                rest = shares(supports, place, size, neighbours, kernel, rule.guard)[2]
                cost = squared_norm(coefficients, place) * rest
                if cost < lowest:
                    slot, lowest = place, cost
            theirs, ours, _ = shares(supports, slot, size, neighbours, kernel, rule.guard)
            for c in range(len(coefficients)):
                if theirs != 0.0:
                    coefficients[c, neighbours.nearest[slot]] += theirs * coefficients[c, slot]
                coefficients[c, slot] *= ours
            clear_lane(supports.lanes, slot, supports.entries, slot)
        else:
            neighbours.nearest[slot] = slot
            size += 1
        fill(supports, slot, rows, i, position + i)
        add(coefficients, slot, plus, minus, bounded(gain, rule.aggressiveness))
        meet(supports, slot, size, rule.sharpness, neighbours, kernel, other)
    return FINISHED, len(targets), size, updates
