"""The walk of the Projectrons: once the budget is full, rows are projected onto the supports."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import Entries, dot, padded
from okbench.learners.compiled.losses import step
from okbench.learners.compiled.rules.budget import (
    CROWDED,
    FINISHED,
    Supports,
    add,
    crowded,
    fill,
    score,
)


class Projecting(NamedTuple):
    """A Projectron in numbers."""

    budget: int
    loss: int
    epsilon: float
    step: float
    sharpness: float  # -1 / (2 width²)
    guard: float  # rows with a residual below it are projected though there is room
    on_margin: bool  # whether correct rows inside the margin are projected too
    exact_norm: bool  # whether the projection's norm comes from the Gram matrix


@compiled(fastmath=FUSED)
def project(inverse: Any, kernel: Any, size: int, projection: Any) -> float:
    """p = K⁻¹ k for the kernel row k of a row; what of the row is left, 1 - k·p."""
    width = padded(size)  # inverse and projection are 0 beyond size
    for s in range(size):
        projection[0, s] = dot(inverse, s, kernel, 0, width)
    return float(1.0 - dot(kernel, 0, projection, 0, width))


@compiled(fastmath=FUSED)
def extend(inverse: Any, gram: Any, kernel: Any, size: int, projection: Any, rest: float) -> None:
    """K and K⁻¹ with one support more: K⁻¹ + (1/rest) (p, -1)(p, -1)ᵀ."""
    for s in range(size):
        share = projection[0, s] / rest
        for t in range(size):
            inverse[s, t] += share * projection[0, t]
        inverse[s, size] = inverse[size, s] = -share
        gram[s, size] = gram[size, s] = kernel[0, s]
    inverse[size, size] = 1.0 / rest
    gram[size, size] = 1.0


@compiled(fastmath=FUSED)
def margin_step(
    rule: Projecting, loss: float, rest: float, gram: Any, kernel: Any, projection: Any, size: int
) -> float:
    """How far Projectron++ moves along p on a margin error; 0 when that does not pay."""
    width = padded(size)
    norm = 0.0  # of the projection, squared
    if rule.exact_norm:
        for s in range(size):
            norm += projection[0, s] * dot(gram, s, projection, 0, width)
    else:
        norm = dot(kernel, 0, projection, 0, width)
    length = min(loss / norm, 1.0)
    limit = 0.25 * math.sqrt((rule.budget + 1.0) / math.log(rule.budget + 1.0))
    gain = 2.0 * loss - length * norm - 2.0 * limit * math.sqrt(max(rest, 0.0))
    return length if length * gain >= 0.0 else 0.0


@compiled(fastmath=FUSED)
def walk(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Projecting, inverse: Any, gram: Any, projection: Any, scores: Any, kernel: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    updates = 0
    for i in range(first, len(targets)):
        score(rows, i, supports, size, rule.sharpness, kernel, scores)
        gain, plus, minus, margin = step(rule.loss, scores, i, targets[i], rule.epsilon)
        short = 1.0 - margin
        # With one column a score of exactly 0 is left alone, with several a tie is not.
        inside = short > 0.0 and (short < 1.0 or len(coefficients) > 1)
        if gain == 0.0 and not (rule.on_margin and size > 0 and inside):
            continue
        joins = gain != 0.0 and size < rule.budget
        if joins and crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        rest = project(inverse, kernel, size, projection)
        if gain != 0.0:
            change = rule.step * gain
        else:
            change = margin_step(rule, short, rest, gram, kernel, projection, size)
            if len(coefficients) == 1:
                change *= targets[i]
        if joins and rest != 0.0 and (rest >= rule.guard or rule.guard == 0.0):
            extend(inverse, gram, kernel, size, projection, rest)
            slot = supports.order[size]
            fill(supports, slot, rows, i, position + i)
            add(coefficients, slot, plus, minus, change)
            size += 1
        else:
            for s in range(size):
                add(coefficients, s, plus, minus, change * projection[0, s])
        updates += change != 0.0
    return FINISHED, len(targets), size, updates
