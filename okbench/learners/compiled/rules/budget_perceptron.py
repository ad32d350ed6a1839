"""The walk of the Budget Perceptron: the support that the others classify best leaves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import kernel_row
from okbench.learners.compiled.losses import add_step, margin_without, towards
from okbench.learners.compiled.supports import Supports, crowded, leave
from okbench.learners.compiled.walks import (
    CROWDED,
    FINISHED,
    RowStream,
    Work,
    find_kernel,
    join,
    meet,
)
from okbench.learners.contract import FloatArray

# Of a step: margins that are equal but for rounding are common, with two supports always.
TIE = 1e-10


class BudgetPerceptronRule(NamedTuple):
    """A Budget Perceptron in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
    step: float
    margin: float  # rows with a margin up to it join


class Margins(NamedTuple):
    """What the margins of the supports are made of."""

    labels: FloatArray  # slot → target
    reached: FloatArray  # columns × lanes: scores at the supports


@compiled(fastmath=FUSED)
def most_redundant(supports: Supports, size: int, margins: Margins, tie: float) -> int:
    """How many joins younger than the oldest the support is that keeps the largest margin without
    its own coefficients; the oldest of equals."""
    coefficients, order = supports.coefficients, supports.order
    labels, reached = margins
    best, largest = 0, -math.inf
    for place in range(size):
        slot = order[place]
        margin = margin_without(reached, coefficients, slot, labels[slot])
        if margin > largest + tie:
            best, largest = place, margin
    return best


@compiled(fastmath=FUSED)
def withdraw(supports: Supports, slot: int, sharpness: float, reached: Any, kernel: Any) -> None:
    """Take what the support in `slot` adds out of the scores at all supports."""
    coefficients = supports.coefficients
    width = coefficients.shape[1]
    kernel_row(supports.entries, slot, supports.lanes, width, sharpness, kernel, 0)
    for column in range(len(coefficients)):
        for lane in range(width):
            reached[column, lane] -= coefficients[column, slot] * kernel[0, lane]


@compiled(fastmath=FUSED)
def learn_budget_perceptron(
    stream: RowStream, first: int, supports: Supports, size: int, rule: BudgetPerceptronRule,
    margins: Margins, work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    labels, reached = margins
    rows, targets, scores, position = stream
    lifted, kernel, other = work
    updates = 0
    for i in range(first, len(targets)):
        _, plus, minus, margin = meet(stream, i, supports, size, rule, work)
        if not margin <= rule.margin:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        find_kernel(lifted, kernel, size)
        full = size == rule.budget
        place = size
        if full:
            place = most_redundant(supports, size, margins, TIE * rule.step)
        slot = supports.order[place]
        if full:
            withdraw(supports, slot, rule.sharpness, reached, other)
        for column in range(len(coefficients)):  # an empty slot has coefficients of 0
            leaving = coefficients[column, slot] * kernel[0, slot]
            reached[column, slot] = scores[i, column] - leaving
        if full:
            leave(supports, size, place)
            size -= 1
        labels[slot] = targets[i]
        kernel[0, slot] = 1.0
        change = towards(minus, targets[i], rule.step)
        join(rows, i, position + i, supports, slot, plus, minus, change)
        for lane in range(coefficients.shape[1]):
            add_step(reached, lane, plus, minus, change * kernel[0, lane])
        size += 1
    return FINISHED, len(targets), size, updates
