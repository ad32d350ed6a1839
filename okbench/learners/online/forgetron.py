"""The Forgetron: all supports shrink so far that the oldest can be dropped."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import FloatArray, Problem, Task
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.lanes import Entries, dot, kernel_row
from okbench.learners.numeric.losses import NOT_POSITIVE, agreement, is_mistake, own_column
from okbench.learners.numeric.supports import Supports, crowded, leave, scale
from okbench.learners.numeric.walks import NEEDS_COLUMNS, Met, Row, Work, join, learns_by
from okbench.learners.registry import learner
from okbench.learners.settings import Choice, Number


@learner("Forgetron", paper="lsokl", version=1)
class Forgetron(BudgetedLearner):
    """Perceptron that shrinks its supports so that it can drop the oldest (Dekel et al. 2005).

    root: which root of the shrinking equation is taken where the two lie on either side of 1.
    "reference" is the authors' code, which takes the larger and so inflates; "correct" shrinks.
    """

    step = Number(1.0, above=0.0, meaning="step size of the updates (η)")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")
    root = Choice(
        "reference",
        ("reference", "correct"),
        meaning="which root of the equation of the shrinking factor is taken",
    )

    needs_unit_norm = True

    def loss(self, task: Task) -> int:
        # In the reference a positive row with a score of exactly 0 joins, though it is no mistake.
        return NOT_POSITIVE if task == "binary" else super().loss(task)

    def rule(self, problem: Problem) -> ForgetronRule:
        return ForgetronRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=self.epsilon,
            formula=self.formula,
            step=self.step,
            larger_root=self.root == "reference",
        )

    def memory(self, problem: Problem) -> FloatArray:
        return np.zeros(2)  # the damage so far, and the mistakes


DAMAGE, MISTAKES = 0, 1  # of `damage`: the sum Q of what dropping supports cost, and the mistakes


class ForgetronRule(NamedTuple):
    """A Forgetron in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
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
    kernel_row(supports.entries, oldest, supports.lanes, width, rule.formula, kernel, 0)
    weight, score = coefficients[own, oldest], dot(coefficients, own, kernel, 0, width)
    delta, mu = abs(weight), agreement(rule.loss, weight, score)
    excess = damage[DAMAGE] - (15.0 / 32.0) * damage[MISTAKES]
    factor = shrinking(delta, mu, excess, rule.larger_root)
    scale(coefficients, factor)
    crossed = rounded_product(2.0 * delta * factor, 1.0 - factor * mu)
    damage[DAMAGE] += (delta * factor) ** 2 + crossed


@learns_by(ForgetronRule)
def learn_forgetron(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """Once over the budget, all coefficients shrink and the oldest support leaves."""
    gain, plus, minus, margin = met
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    memory[MISTAKES] += is_mistake(rule.loss, margin, row[1])
    join(row, rows, supports, supports.order[size], plus, minus, rule.step * gain)
    size += 1
    if size > rule.budget:
        shrink(supports, rule, memory, work.other)
        leave(supports, size, 0)
        size -= 1
    return size, True
