"""The walk of BPA-S: a full budget gives the slot whose loss hurts least to the new row."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import inlined
from okbench.learners.compiled.losses import add_step, margin_terms
from okbench.learners.compiled.supports import Supports, crowded, empty_slot, fill
from okbench.learners.compiled.walks import CROWDED, FINISHED, RowStream, Work, find_kernel, meet


class AggressiveRule(NamedTuple):
    """A budgeted passive-aggressive learner in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    aggressiveness: float  # the longest step; of BPA-S the price of a loss as well
    guard: float = 0.0  # vectors whose residual is below it count as dependent


@inlined
def bounded(gain: float, longest: float) -> float:
    """A gain, but no step longer than the longest."""
    return max(-longest, min(longest, gain))


ALIKE = 1e-13  # costs that differ by less, relative to the least and to a loss of 1, are equal


# Slots often tie, and the first must win: the objective is computed without any licence.
@compiled()
def cheapest(
    coefficients: Any, size: int, kernel: Any, scores: Any, i: int, target: float, change: float,
    plus: int, minus: int, price: float, sums: Any,
) -> int:  # fmt: skip
    """The slot whose support it costs least to replace by row i, the first of equals."""
    before, after, product, own, rival = 0, 1, 2, 3, 4  # rows of sums, one column per slot
    factor, least = margin_terms(minus, target)
    costs = sums[before]
    sums[:rival, :size] = 0.0
    sums[rival, :size] = least
    for column in range(len(coefficients)):
        shift = change if column == plus else (-change if column == minus else 0.0)
        reaches = own if column == plus else rival
        for slot in range(size):
            old, near = coefficients[column, slot], kernel[0, slot]
            new = old * near + shift
            sums[before, slot] += old * old
            sums[after, slot] += new * new
            sums[product, slot] += old * new
            reached = scores[i, column] - old * near + new
            if reaches == own or reached > sums[rival, slot]:
                sums[reaches, slot] = reached
    for slot in range(size):
        margin = factor * sums[own, slot] - sums[rival, slot]
        crossed = 2.0 * kernel[0, slot] * sums[product, slot]
        damage = 0.5 * (sums[before, slot] + sums[after, slot] - crossed)
        short = 1.0 - margin
        costs[slot] = damage + price * (short if short > 0.0 else 0.0)
    lowest = math.inf
    for slot in range(size):
        lowest = costs[slot] if costs[slot] < lowest else lowest
    highest, first = lowest + ALIKE * (lowest + price), 0
    while first < size - 1 and not costs[first] <= highest:  # costs may be no numbers
        first += 1
    return first


@compiled(fastmath=FUSED)
def learn_bpas(
    stream: RowStream, first: int, supports: Supports, size: int, rule: AggressiveRule, sums: Any,
    work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    rows, targets, scores, position = stream
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
        slot = size
        if size == rule.budget:
            slot = cheapest(
                coefficients, size, kernel, scores, i, targets[i], change, plus,
                minus, rule.aggressiveness, sums,
            )  # fmt: skip
            empty_slot(supports, slot)
        else:
            size += 1
        fill(supports, slot, rows, i, position + i)
        # What the row stands in for stays: the old coefficients times their kernel with it.
        for column in range(len(coefficients)):
            coefficients[column, slot] *= kernel[0, slot]
        add_step(coefficients, slot, plus, minus, change)
    return FINISHED, len(targets), size, updates
