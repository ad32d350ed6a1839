"""The walk of the Forgetron: all supports shrink so far that the oldest can be dropped."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import dot, kernel_row
from okbench.learners.compiled.losses import agreement, is_mistake, own_column
from okbench.learners.compiled.supports import Supports, crowded, leave, scale
from okbench.learners.compiled.walks import CROWDED, FINISHED, RowStream, Work, join, meet

DAMAGE, MISTAKES = 0, 1  # of `damage`: the sum Q of what dropping supports cost, and the mistakes


class ForgetronRule(NamedTuple):
    """A Forgetron in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    step: float
    larger_root: bool  # of the shrinking equation, as in the reference code


@compiled()
def shrinking(delta: float, mu: float, excess: float, larger_root: bool) -> float:
    """The factor with which dropping the oldest does no more damage than the mistakes allow."""
    a, b = delta * delta - 2.0 * delta * mu, 2.0 * delta
    if a + b + excess <= 0.0:
        return 1.0
    if a == 0.0:
        return min(max(-excess / b, 0.0), 1.0)
    root = math.sqrt(b * b - 4.0 * a * excess)
    return (-b - root if a < 0.0 and larger_root else -b + root) / (2.0 * a)


# Of a sum of two products either may be fused with the addition, and LLVM chooses by what it has
# inlined around them. One that may not be fused leaves no choice.
@compiled()
def rounded_product(one: float, other: float) -> float:
    """A product that is rounded before it is added to anything."""
    return one * other


@compiled(fastmath=FUSED)
def shrink(supports: Supports, rule: ForgetronRule, damage: Any, kernel: Any) -> None:
    """Scale all coefficients so that the oldest support can be dropped."""
    coefficients = supports.coefficients
    oldest = supports.order[0]
    own = own_column(coefficients, oldest)
    width = coefficients.shape[1]
    kernel_row(supports.entries, oldest, supports.lanes, width, rule.sharpness, kernel, 0)
    weight, score = coefficients[own, oldest], dot(coefficients, own, kernel, 0, width)
    delta, mu = abs(weight), agreement(rule.loss, weight, score)
    excess = damage[DAMAGE] - (15.0 / 32.0) * damage[MISTAKES]
    factor = shrinking(delta, mu, excess, rule.larger_root)
    scale(coefficients, factor)
    crossed = rounded_product(2.0 * delta * factor, 1.0 - factor * mu)
    damage[DAMAGE] += (delta * factor) ** 2 + crossed


@compiled(fastmath=FUSED)
def learn_forgetron(
    stream: RowStream, first: int, supports: Supports, size: int, rule: ForgetronRule, damage: Any,
    work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    rows, targets, _, position = stream
    other = work.other
    updates = 0
    for i in range(first, len(targets)):
        gain, plus, minus, margin = meet(stream, i, supports, size, rule, work)
        if gain == 0.0:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        damage[MISTAKES] += is_mistake(rule.loss, margin, targets[i])
        join(rows, i, position + i, supports, supports.order[size], plus, minus, rule.step * gain)
        size += 1
        if size > rule.budget:
            shrink(supports, rule, damage, other)
            leave(supports, size, 0)
            size -= 1
    return FINISHED, len(targets), size, updates
