"""The walk of BPA-S: a full budget gives the slot whose loss hurts least to the new row."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import LIFT, Entries, clear_lane
from okbench.learners.compiled.losses import AGGRESSIVE, NO_COLUMN, step
from okbench.learners.compiled.rules.budget import (
    CROWDED,
    FINISHED,
    Supports,
    add,
    crowded,
    fill,
    lifted_score,
)


class Aggression(NamedTuple):
    """BPA-S in numbers."""

    budget: int
    sharpness: float  # -1 / (2 width²)
    aggressiveness: float  # the longest step, and the price of a loss


# Slots often tie, and the first must win: the objective is computed without any licence.
@compiled()
def cheapest(
    coefficients: Any, size: int, kernel: Any, scores: Any, i: int, target: float, change: float,
    plus: int, minus: int, price: float, sums: Any,
) -> int:  # fmt: skip
    """The slot whose support it costs least to replace by row i, the first of equals."""
    before, after, product, own, rival = 0, 1, 2, 3, 4  # rows of sums, a column a slot
    sums[:rival, :size] = 0.0
    sums[rival, :size] = -math.inf
    for column in range(len(coefficients)):
        shift = change if column == plus else (-change if column == minus else 0.0)
        reaches = own if column == plus else rival
        for slot in range(size):
            old, near = coefficients[column, slot], kernel[0, slot] / LIFT
            new = old * near + shift
            sums[before, slot] += old * old
            sums[after, slot] += new * new
            sums[product, slot] += old * new
            reached = scores[i, column] - old * near + new
            if reaches == own or reached > sums[rival, slot]:
                sums[reaches, slot] = reached
    best, lowest = 0, math.inf
    for slot in range(size):
        lead = target * sums[own, slot]
        if minus != NO_COLUMN:
            lead = sums[own, slot] - sums[rival, slot]
        crossed = 2.0 * (kernel[0, slot] / LIFT) * sums[product, slot]
        damage = 0.5 * (sums[before, slot] + sums[after, slot] - crossed)
        cost = damage + price * max(0.0, 1.0 - lead)
        if cost < lowest:
            best, lowest = slot, cost
    return best


@compiled(fastmath=FUSED)
def walk(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Aggression, sums: Any, scores: Any, kernel: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    updates = 0
    for i in range(first, len(targets)):
        lifted_score(rows, i, supports, size, rule.sharpness, kernel, scores)
        gain, plus, minus, _ = step(AGGRESSIVE, scores, i, targets[i], 0.0)
        if gain == 0.0:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        change = max(-rule.aggressiveness, min(rule.aggressiveness, gain))
        updates += 1
        slot = size
        if size == rule.budget:
            slot = cheapest(
                coefficients, size, kernel, scores, i, targets[i], change, plus, minus,
                rule.aggressiveness, sums,
            )  # fmt: skip
            clear_lane(supports.lanes, slot, supports.entries, slot)
        else:
            size += 1
        fill(supports, slot, rows, i, position + i)
        # What the row stands in for stays: the old coefficients times their kernel with it.
        for column in range(len(coefficients)):
            coefficients[column, slot] *= kernel[0, slot] / LIFT
        add(coefficients, slot, plus, minus, change)
    return FINISHED, len(targets), size, updates
