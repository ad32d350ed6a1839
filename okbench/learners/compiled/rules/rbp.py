"""The walk of the randomized budget Perceptron: a support drawn at random leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import inlined
from okbench.learners.compiled.supports import Supports, crowded, leave
from okbench.learners.compiled.walks import CROWDED, FINISHED, UNDRAWN, RowStream, Work, join, meet


class RBPRule(NamedTuple):
    """RBP in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    step: float


@inlined
def drawn_place(uniform: float, budget: int) -> int:
    """Which of `budget` supports a uniform in [0, 1) stands for, by age."""
    return min(int(budget * uniform), budget - 1)


@compiled(fastmath=FUSED)
def learn_rbp(
    stream: RowStream, first: int, supports: Supports, size: int, rule: RBPRule, uniforms: Any,
    work: Work,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates, draws used)."""
    rows, targets, _, position = stream
    updates = 0
    drawn = 0
    for i in range(first, len(targets)):
        gain, plus, minus, _ = meet(stream, i, supports, size, rule, work)
        if gain == 0.0:
            continue
        if size == rule.budget and not uniforms[drawn] < 1.0:
            return UNDRAWN, i, size, updates, drawn
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates, drawn
        updates += 1
        if size == rule.budget:
            leave(supports, size, drawn_place(uniforms[drawn], rule.budget))
            drawn += 1
            size -= 1
        join(rows, i, position + i, supports, supports.order[size], plus, minus, rule.step * gain)
        size += 1
    return FINISHED, len(targets), size, updates, drawn
