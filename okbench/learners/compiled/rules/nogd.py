"""The walk of NOGD before its map takes over: rows join until the budget is full."""

from __future__ import annotations

from typing import NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.supports import Supports, crowded
from okbench.learners.compiled.walks import CROWDED, FINISHED, FULL, RowStream, Work, join, meet


class NOGDRule(NamedTuple):
    """NOGD in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    step: float


@compiled(fastmath=FUSED)
def learn_nogd(
    stream: RowStream, first: int, supports: Supports, size: int, rule: NOGDRule, work: Work
) -> tuple[int, int, int, int]:
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates).

    Where the budget is full, the scores of the row that would exceed it are there already.
    """
    rows, targets, _, position = stream
    updates = 0
    for i in range(first, len(targets)):
        gain, plus, minus, _ = meet(stream, i, supports, size, rule, work)
        if gain == 0.0:
            continue
        if size == rule.budget:
            return FULL, i, size, updates
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        join(rows, i, position + i, supports, supports.order[size], plus, minus, rule.step * gain)
        size += 1
    return FINISHED, len(targets), size, updates
