"""A small support vector machine kept at its optimum while its examples change.

Every vector is an example of both classes, with a weight in each: the machine is the minimum of
½|f|² + C Σ (plus_i max(0, 1 - f(x_i)) + minus_i max(0, 1 + f(x_i))). In its dual a vector has one
coefficient c_i = C (a - b), a ≤ plus_i and b ≤ minus_i the multipliers of its two examples, and for
a given difference the larger both are the better: c_i lives on [-C minus_i, C plus_i], wants f = +1
below the kink C (plus_i - minus_i) and f = -1 above, where one of the two is at its bound.

Coefficients are free (within an interval, f at its target there) or held. The active-set method:
solve for the free ones, hold what runs into an end, release the held one that wants to move most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.gram_inverse import extend_root, reduce_root, solve
from okbench.learners.numeric.lanes import aligned, dot, inlined, padded

RIDGE = 1e-8  # added to the kernel of a vector with itself: repeated vectors have an inverse too
ROUNDS = 20  # at most so many for each vector; a few for all of them are usual

# Rows of `state`, one column per slot.
PLUS, MINUS, REACHED, SIDE = 0, 1, 2, 3
# Rows of `work`, which is scratch.
GIVEN, HALF, MOVE = 0, 1, 2


class Machine(NamedTuple):
    """The optimum and what it takes to follow it."""

    gram: FloatArray  # slots × lanes
    state: FloatArray  # weights in the classes, scores, +1 or -1 where free: the score aimed at
    root: FloatArray  # of the inverse of the free vectors' Gram matrix
    free: NDArray[np.int64]  # their slots
    n_free: NDArray[np.int64]  # one number

    @classmethod
    def empty(cls, slots: int) -> Machine:
        return cls(
            gram=aligned(slots, padded(slots)),
            state=aligned(4, padded(slots)),
            root=aligned(slots, padded(slots)),
            free=np.zeros(slots, dtype=np.int64),
            n_free=np.zeros(1, dtype=np.int64),
        )


@inlined
def ends(machine: Machine, cost: float, slot: int) -> tuple[float, float, float]:
    """The least and the largest coefficient, and the kink between."""
    low = -cost * machine.state[MINUS, slot]
    high = cost * machine.state[PLUS, slot]
    return low, low + high, high


@compiled(fastmath=FUSED)
def release(machine: Machine, slot: int, side: float, work: Any) -> None:
    """Let a held coefficient move towards the score `side`."""
    n = machine.n_free[0]
    for place in range(n):
        work[GIVEN, place] = machine.gram[slot, machine.free[place]]
    norm = solve(machine.root, work[GIVEN : GIVEN + 1], n, work[HALF : HALF + 1], work[MOVE:])
    extend_root(machine.root, work[MOVE:], n, max(1.0 + RIDGE - norm, 0.5 * RIDGE))
    machine.free[n] = slot
    machine.n_free[0] = n + 1
    machine.state[SIDE, slot] = side


@compiled(fastmath=FUSED)
def hold(machine: Machine, place: int) -> None:
    """Fix the free coefficient at a place where it is."""
    n, free = machine.n_free[0], machine.free
    machine.state[SIDE, free[place]] = 0.0
    reduce_root(machine.root, n, place)
    for later in range(place + 1, n):
        free[later - 1] = free[later]
    machine.n_free[0] = n - 1


@compiled(fastmath=FUSED)
def advance(machine: Machine, cost: float, coefficients: Any, work: Any) -> bool:
    """Move the free coefficients to their solution, or until one reaches an end and is held."""
    n, state, free = machine.n_free[0], machine.state, machine.free
    for place in range(n):
        slot = free[place]
        ridge = RIDGE * coefficients[0, slot]
        work[GIVEN, place] = state[SIDE, slot] - state[REACHED, slot] - ridge
    solve(machine.root, work[GIVEN : GIVEN + 1], n, work[HALF : HALF + 1], work[MOVE:])
    length, blocked, end = 1.0, -1, 0.0
    for place in range(n):
        slot, move = free[place], work[MOVE, place]
        low, kink, high = ends(machine, cost, slot)
        if state[SIDE, slot] > 0.0:
            high = kink
        else:
            low = kink
        limit = high if move > 0.0 else low
        if move != 0.0 and (limit - coefficients[0, slot]) / move < length:
            length, blocked, end = (limit - coefficients[0, slot]) / move, place, limit
    length = max(length, 0.0)
    for place in range(n):
        slot, move = free[place], length * work[MOVE, place]
        coefficients[0, slot] += move
        for lane in range(state.shape[1]):
            state[REACHED, lane] += move * machine.gram[slot, lane]
    if blocked < 0:
        return True
    coefficients[0, free[blocked]] = end
    hold(machine, blocked)
    return False


@compiled(fastmath=FUSED)
def most_wrong(
    machine: Machine, cost: float, coefficients: Any, order: Any, size: int
) -> tuple[int, float, float]:
    """The held coefficient that wants to move most: its slot, towards which score, how far off."""
    worst, side, error = -1, 0.0, 0.0
    for place in range(size):
        slot = order[place]
        if machine.state[SIDE, slot] != 0.0:
            continue
        own = coefficients[0, slot]
        reached = machine.state[REACHED, slot] + RIDGE * own
        low, kink, high = ends(machine, cost, slot)
        upwards = 1.0 if own < kink else -1.0
        if own < high and upwards - reached > error:
            worst, side, error = slot, upwards, upwards - reached
        downwards = 1.0 if own <= kink else -1.0
        if own > low and reached - downwards > error:
            worst, side, error = slot, downwards, reached - downwards
    return worst, side, error


@compiled(fastmath=FUSED)
def restore_optimum(
    machine: Machine, cost: float, tolerance: float, coefficients: Any, order: Any, size: int,
    work: Any,
) -> None:  # fmt: skip
    """Restore the optimum for C = cost, to within the tolerance in every score."""
    state = machine.state
    for place in range(size):
        slot = order[place]
        state[REACHED, slot] = dot(machine.gram, slot, coefficients, 0, state.shape[1])
    for _ in range(ROUNDS * size):
        if not advance(machine, cost, coefficients, work):
            continue
        slot, side, error = most_wrong(machine, cost, coefficients, order, size)
        if not error > tolerance:
            return
        release(machine, slot, side, work)
