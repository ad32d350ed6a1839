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

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.gram_inverse import join, part, solve
from okbench.learners.compiled.lanes import dot, inlined

RIDGE = 1e-8  # added to the kernel of a vector with itself: repeated vectors have an inverse too
ROUNDS = 20  # at most so many for each vector; a few for all of them are usual

# Rows of `state`, a column a slot.
PLUS, MINUS, REACHED, SIDE = 0, 1, 2, 3
# Rows of `work`.
GIVEN, HALF, MOVE = 0, 1, 2


class Machine(NamedTuple):
    """The optimum and what it takes to follow it."""

    cost: float
    tolerance: float
    gram: Any  # slots × lanes
    state: Any  # weights in the classes, scores, +1 or -1 where free: the score aimed at
    root: Any  # of the inverse of the free vectors' Gram matrix
    free: Any  # their slots
    n_free: Any  # one number
    work: Any


@inlined
def ends(machine: Machine, slot: int) -> tuple[float, float, float]:
    """The least and the largest coefficient, and the kink between."""
    low = -machine.cost * machine.state[MINUS, slot]
    high = machine.cost * machine.state[PLUS, slot]
    return low, low + high, high


@compiled(fastmath=FUSED)
def release(machine: Machine, slot: int, side: float) -> None:
    """Let a held coefficient move towards the score `side`."""
    n, work = machine.n_free[0], machine.work
    for place in range(n):
        work[GIVEN, place] = machine.gram[slot, machine.free[place]]
    norm = solve(machine.root, work[GIVEN : GIVEN + 1], n, work[HALF : HALF + 1], work[MOVE:])
    join(machine.root, work[MOVE:], n, max(1.0 + RIDGE - norm, 0.5 * RIDGE))
    machine.free[n] = slot
    machine.n_free[0] = n + 1
    machine.state[SIDE, slot] = side


@compiled(fastmath=FUSED)
def hold(machine: Machine, place: int) -> None:
    """Fix the free coefficient at a place where it is."""
    n, free = machine.n_free[0], machine.free
    machine.state[SIDE, free[place]] = 0.0
    part(machine.root, n, place)
    for later in range(place + 1, n):
        free[later - 1] = free[later]
    machine.n_free[0] = n - 1


@compiled(fastmath=FUSED)
def advance(machine: Machine, coefficients: Any) -> bool:
    """Move the free coefficients to their solution, or until one reaches an end and is held."""
    n, work, state, free = machine.n_free[0], machine.work, machine.state, machine.free
    for place in range(n):
        slot = free[place]
        ridge = RIDGE * coefficients[0, slot]
        work[GIVEN, place] = state[SIDE, slot] - state[REACHED, slot] - ridge
    solve(machine.root, work[GIVEN : GIVEN + 1], n, work[HALF : HALF + 1], work[MOVE:])
    length, blocked, end = 1.0, -1, 0.0
    for place in range(n):
        slot, move = free[place], work[MOVE, place]
        low, kink, high = ends(machine, slot)
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
    machine: Machine, coefficients: Any, order: Any, size: int
) -> tuple[int, float, float]:
    """The held coefficient that wants to move most: its slot, towards which score, how far off."""
    worst, side, error = -1, 0.0, 0.0
    for place in range(size):
        slot = order[place]
        if machine.state[SIDE, slot] != 0.0:
            continue
        own = coefficients[0, slot]
        reached = machine.state[REACHED, slot] + RIDGE * own
        low, kink, high = ends(machine, slot)
        upwards = 1.0 if own < kink else -1.0
        if own < high and upwards - reached > error:
            worst, side, error = slot, upwards, upwards - reached
        downwards = 1.0 if own <= kink else -1.0
        if own > low and reached - downwards > error:
            worst, side, error = slot, downwards, reached - downwards
    return worst, side, error


@compiled(fastmath=FUSED)
def resolve_settings(machine: Machine, coefficients: Any, order: Any, size: int) -> None:
    """Restore the optimum, to within the tolerance in every score."""
    state = machine.state
    for place in range(size):
        slot = order[place]
        state[REACHED, slot] = dot(machine.gram, slot, coefficients, 0, state.shape[1])
    for _ in range(ROUNDS * size):
        if not advance(machine, coefficients):
            continue
        slot, side, error = most_wrong(machine, coefficients, order, size)
        if not error > machine.tolerance:
            return
        release(machine, slot, side)
