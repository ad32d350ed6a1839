"""The walk of BOGD: all coefficients decay, and a support leaves, the oldest or one at random."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.rules.rbp import drawn_place
from okbench.learners.compiled.supports import Supports, crowded, leave, scale
from okbench.learners.compiled.walks import CROWDED, FINISHED, UNDRAWN, RowStream, Work, join, meet


class BOGDRule(NamedTuple):
    """BOGD in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    step: float
    keep: float  # what every coefficient is multiplied by at every row
    at_random: bool = False  # whether any support may leave, or the oldest does
    growth: float = 1.0  # what every coefficient is multiplied by when another was removed
    ceiling: float = math.inf  # of the coefficients
    cuts_off: bool = False  # at the ceiling, at every update; else all are rescaled after removals


@compiled()
def cut_off(coefficients: Any, ceiling: float) -> None:
    """No coefficient is above the ceiling."""
    for column in range(coefficients.shape[0]):
        for lane in range(coefficients.shape[1]):
            coefficients[column, lane] = min(coefficients[column, lane], ceiling)


@compiled()
def rescale(coefficients: Any, ceiling: float) -> None:
    """Multiply all coefficients so that the first column's largest is at the ceiling at most."""
    largest = 0.0
    for lane in range(coefficients.shape[1]):
        largest = max(largest, abs(coefficients[0, lane]))
    if largest > ceiling:
        scale(coefficients, ceiling / largest)


@compiled(fastmath=FUSED)
def learn_bogd(
    stream: RowStream, first: int, supports: Supports, size: int, rule: BOGDRule, uniforms: Any,
    work: Work,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates, draws used)."""
    coefficients = supports.coefficients
    rows, targets, _, position = stream
    updates = 0
    drawn = 0
    for i in range(first, len(targets)):
        gain, plus, minus, _ = meet(stream, i, supports, size, rule, work)
        full = size == rule.budget
        if gain != 0.0:
            if full and rule.at_random and not uniforms[drawn] < 1.0:
                return UNDRAWN, i, size, updates, drawn
            if crowded(rows, i, supports.lanes):
                return CROWDED, i, size, updates, drawn
        if rule.keep != 1.0:
            scale(coefficients, rule.keep)
        if gain == 0.0:
            continue
        updates += 1
        if full:
            leaver = 0
            if rule.at_random:
                leaver = drawn_place(uniforms[drawn], rule.budget)
                drawn += 1
            leave(supports, size, leaver)
            size -= 1
            if rule.growth != 1.0:
                scale(coefficients, rule.growth)
        join(rows, i, position + i, supports, supports.order[size], plus, minus, rule.step * gain)
        size += 1
        if rule.ceiling != math.inf:
            if rule.cuts_off:
                cut_off(coefficients, rule.ceiling)
            elif full:
                rescale(coefficients, rule.ceiling)
    return FINISHED, len(targets), size, updates, drawn
