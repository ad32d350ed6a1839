"""The Budget Perceptron: the support that the others classify best leaves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.lanes import Entries, aligned, kernel_row, padded
from okbench.learners.numeric.losses import NOT_POSITIVE, add_step, margin_without, towards
from okbench.learners.numeric.supports import Supports, crowded, leave
from okbench.learners.numeric.walks import (
    NEEDS_COLUMNS,
    Met,
    Row,
    Work,
    find_kernel,
    join,
    learns_by,
)
from okbench.learners.registry import learner
from okbench.learners.settings import Number


@learner("BudgetPerceptron", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BudgetPerceptron(BudgetedLearner):
    """Perceptron that removes the support the others classify best (Crammer et al. 2003).

    Rows join whose margin is at most `margin`. When full, the support leaves whose margin without
    its own coefficients is the largest, the oldest of equals; the new row is not among the
    candidates and does not yet count in the margins. With several classes the margin is the lead
    of the own class over the best other one.
    """

    step = Number(1.0, above=0.0, meaning="step size of the updates (η)")
    margin = Number(0.0, at_least=0.0, meaning="rows with a margin of at most this are learned")

    needs_unit_norm = True

    def rule(self, problem: Problem) -> BudgetPerceptronRule:
        return BudgetPerceptronRule(
            budget=self.budget,
            loss=NOT_POSITIVE,
            epsilon=0.0,
            formula=self.formula,
            step=self.step,
            margin=self.margin,
        )

    def memory(self, problem: Problem) -> Margins:
        width = padded(self.budget + 1)
        return Margins(np.zeros(width), aligned(problem.n_columns, width))


# Of a step: margins that are equal but for rounding are common, with two supports always.
TIE = 1e-10


class BudgetPerceptronRule(NamedTuple):
    """A Budget Perceptron in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
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
def withdraw(supports: Supports, slot: int, formula: Any, reached: Any, kernel: Any) -> None:
    """Take what the support in `slot` adds out of the scores at all supports."""
    coefficients = supports.coefficients
    width = coefficients.shape[1]
    kernel_row(supports.entries, slot, supports.lanes, width, formula, kernel, 0)
    for column in range(len(coefficients)):
        for lane in range(width):
            reached[column, lane] -= coefficients[column, slot] * kernel[0, lane]


def is_within_margin(rule: Any, met: Any, size: Any) -> bool:
    """Whether the margin of a row is at most `margin`."""
    return bool(met[3] <= rule.margin)


@learns_by(BudgetPerceptronRule, when=is_within_margin)
def learn_budget_perceptron(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A full budget loses the support that the others classify best."""
    _, plus, minus, _ = met
    coefficients, (labels, reached) = supports.coefficients, memory
    kernel, target = work.kernel, row[1]
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    find_kernel(work.lifted, kernel, size)
    full = size == rule.budget
    place = size
    if full:
        place = most_redundant(supports, size, memory, TIE * rule.step)
    slot = supports.order[place]
    if full:
        withdraw(supports, slot, rule.formula, reached, work.other)
    for column in range(len(coefficients)):  # an empty slot has coefficients of 0
        leaving = coefficients[column, slot] * kernel[0, slot]
        reached[column, slot] = scores[row[0], column] - leaving
    if full:
        leave(supports, size, place)
        size -= 1
    labels[slot] = target
    kernel[0, slot] = 1.0
    change = towards(minus, target, rule.step)
    join(row, rows, supports, slot, plus, minus, change)
    for lane in range(coefficients.shape[1]):
        add_step(reached, lane, plus, minus, change * kernel[0, lane])
    return size + 1, True
