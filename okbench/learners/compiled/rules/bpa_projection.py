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
from okbench.learners.compiled.gram_inverse import (
    extend_root,
    inverse_column,
    inverse_diagonal,
    reduce_root,
    solve,
)
from okbench.learners.compiled.lanes import inlined, kernel_row
from okbench.learners.compiled.losses import add_step
from okbench.learners.compiled.rules.bpas import AggressiveRule, bounded
from okbench.learners.compiled.supports import (
    Supports,
    crowded,
    empty_slot,
    leave,
    squared_length,
)
from okbench.learners.compiled.walks import (
    CROWDED,
    FINISHED,
    RowStream,
    Work,
    find_kernel,
    join,
    meet,
)


class Neighbours(NamedTuple):
    """The support nearest to each support, by slots, and their kernel."""

    nearest: Any
    nearness: Any


@compiled(fastmath=FUSED)
def project_leaver(supports: Supports, size: int, root: Any, inverse: Any) -> None:
    """Project away the support it costs least to lose; the last of size, the new one, stays.

    K⁻¹ over all of them is enough: r keeps 1 / K⁻¹_rr off the span of the others, and its
    projection onto them has the coefficients -K⁻¹_jr / K⁻¹_rr.
    """
    order, coefficients = supports.order, supports.coefficients
    inverse_diagonal(root, size, inverse)
    leaver, lowest = 0, math.inf
    for place in range(size - 1):
        cost = squared_length(coefficients, order[place]) / inverse[0, place]
        if cost < lowest:
            leaver, lowest = place, cost
    inverse_column(root, size, leaver, inverse)
    for place in range(size):
        if place != leaver:
            share = -inverse[0, place] / inverse[0, leaver]
            for c in range(len(coefficients)):
                coefficients[c, order[place]] += share * coefficients[c, order[leaver]]
    reduce_root(root, size, leaver)
    leave(supports, size, leaver)


@compiled(fastmath=FUSED)
def learn_bpap(
    stream: RowStream, first: int, supports: Supports, size: int, rule: AggressiveRule, root: Any,
    scratch: Any, work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """BPA-P: learn rows from `first` on: (why it ended, rows learned up to, size, updates).

    The rows of `scratch` are the kernel in the order of age, half a product, the projection.
    """
    coefficients, order = supports.coefficients, supports.order
    ordered, half, projection = scratch[0:1], scratch[1:2], scratch[2:3]
    rows, targets, _, position = stream
    lifted, kernel, _ = work
    updates = 0
    for i in range(first, len(targets)):
        gain, plus, minus, _ = meet(stream, i, supports, size, rule, work)
        if gain == 0.0:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        find_kernel(lifted, kernel, size)
        change = bounded(gain, rule.aggressiveness)
        for place in range(size):
            ordered[0, place] = kernel[0, order[place]]
        rest = 1.0 - solve(root, ordered, size, half, projection)
        if rest < rule.guard:
            for place in range(size):
                add_step(coefficients, order[place], plus, minus, change * projection[0, place])
            continue
        extend_root(root, projection, size, rest)
        join(rows, i, position + i, supports, order[size], plus, minus, change)
        if size == rule.budget:
            project_leaver(supports, size + 1, root, projection)
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
def find_nearest(neighbours: Neighbours, slot: int, size: int, kernel: Any) -> None:
    """Find a slot's nearest support in its kernel row, the first of equals."""
    neighbours.nearness[slot] = -1.0
    for other in range(size):
        if other != slot and kernel[0, other] > neighbours.nearness[slot]:
            neighbours.nearest[slot], neighbours.nearness[slot] = other, kernel[0, other]


@compiled(fastmath=FUSED)
def introduce(
    supports: Supports, newcomer: int, size: int, sharpness: float, neighbours: Neighbours,
    kernel: Any, other: Any,
) -> None:  # fmt: skip
    """Nearest supports once `newcomer`, whose kernel row is computed, has taken its slot."""
    width = supports.coefficients.shape[1]
    find_nearest(neighbours, newcomer, size, kernel)
    for slot in range(size):
        if slot == newcomer:
            continue
        if neighbours.nearest[slot] == newcomer:  # the one that was there has left
            kernel_row(supports.entries, slot, supports.lanes, width, sharpness, other, 0)
            find_nearest(neighbours, slot, size, other)
            continue
        ahead = kernel[0, slot] - neighbours.nearness[slot]
        if ahead > 0.0 or (ahead == 0.0 and newcomer < neighbours.nearest[slot]):
            neighbours.nearest[slot], neighbours.nearness[slot] = newcomer, kernel[0, slot]


@inlined
def hand_to_neighbours(
    supports: Supports, size: int, neighbours: Neighbours, kernel: Any, guard: float
) -> int:
    """Free the slot of the support it costs least to project onto its two neighbours.

    What the new row takes over stays in the slot, which will be its own.
    """
    coefficients = supports.coefficients
    slot, lowest = 0, math.inf
    for place in range(size):
        rest = shares(supports, place, size, neighbours, kernel, guard)[2]
        cost = squared_length(coefficients, place) * rest
        if cost < lowest:
            slot, lowest = place, cost
    theirs, ours, _ = shares(supports, slot, size, neighbours, kernel, guard)
    for column in range(len(coefficients)):
        if theirs != 0.0:
            coefficients[column, neighbours.nearest[slot]] += theirs * coefficients[column, slot]
        coefficients[column, slot] *= ours
    empty_slot(supports, slot)
    return slot


@compiled(fastmath=FUSED)
def learn_bpann(
    stream: RowStream, first: int, supports: Supports, size: int, rule: AggressiveRule,
    neighbours: Neighbours, work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """BPA-NN: learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    rows, targets, _, position = stream
    lifted, kernel, other = work
    updates = 0
    for i in range(first, len(targets)):
        gain, plus, minus, _ = meet(stream, i, supports, size, rule, work)
        if gain == 0.0:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        find_kernel(lifted, kernel, size)
        slot = size
        if size == rule.budget:
            slot = hand_to_neighbours(supports, size, neighbours, kernel, rule.guard)
        else:
            neighbours.nearest[slot] = slot
            size += 1
        join(rows, i, position + i, supports, slot, plus, minus, bounded(gain, rule.aggressiveness))
        introduce(supports, slot, size, rule.sharpness, neighbours, kernel, other)
    return FINISHED, len(targets), size, updates
