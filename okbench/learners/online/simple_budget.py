"""Learners on a budget of which the oldest support leaves, or one at random."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import Problem, SettingsError, Task
from okbench.learners.numeric.lanes import Entries, inlined
from okbench.learners.numeric.losses import HINGE, HINGE_CLOSED, RESIDUAL
from okbench.learners.numeric.supports import Supports, crowded, leave, scale
from okbench.learners.numeric.walks import (
    NEEDS_COLUMNS,
    OUT_OF_DRAWS,
    Met,
    Row,
    Work,
    join,
    learns_by,
)
from okbench.learners.registry import learner
from okbench.learners.settings import Number


@learner("RBP", paper="lsokl", version=1)
class RBP(BudgetedLearner):
    """Perceptron that removes a support at random when full (Cavallanti et al. 2007)."""

    step = Number(1.0, above=0.0, meaning="step size of the updates (η)")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")

    @property
    def draws_removals(self) -> bool:
        return True

    def rule(self, problem: Problem) -> RBPRule:
        return RBPRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=self.epsilon,
            formula=self.formula,
            step=self.step,
        )


@learner("BOGD", paper="lsokl", version=1)
class BOGD(BudgetedLearner):
    """Online gradient descent with decay that removes a support when full (Zhao et al. 2012).

    The authors' code differs by task. For two classes it removes at random, scales the others up by
    B / (B - 1) and rescales them to stay within clip × step; for more classes it removes the oldest
    and cuts coefficients off from above; for regression it removes the oldest and does not clip. By
    default decay and clip are what that code takes: 1/n² and 10; 1e-5 and none; 0.03.
    """

    step = Number(0.2, above=0.0, meaning="step size of the updates (η)")
    decay = Number[float | None](None, at_least=0.0, meaning="shrinking of coefficients at a row")
    clip = Number[float | None](None, above=0.0, meaning="bound of the coefficients, in steps")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")

    classification_loss = HINGE
    regression_loss = RESIDUAL

    def loss(self, task: Task) -> int:
        return HINGE_CLOSED if task == "binary" else super().loss(task)

    def rule(self, problem: Problem) -> BOGDRule:
        rule = BOGDRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=self.epsilon,
            formula=self.formula,
            step=self.step,
            keep=float(1.0 - self.step * self._decay(problem)),
        )
        if problem.task == "regression":
            return rule
        if problem.task == "multiclass":
            ceiling = math.inf if self.clip is None else float(self.clip * self.step)
            return rule._replace(ceiling=ceiling, cuts_off=True)
        return rule._replace(
            at_random=True,
            # with a budget of one nothing is left to scale up
            growth=self.budget / (self.budget - 1) if self.budget > 1 else 1.0,
            ceiling=float((10.0 if self.clip is None else self.clip) * self.step),
        )

    @property
    def draws_removals(self) -> bool:
        return self._rule.at_random

    def _decay(self, problem: Problem) -> float:
        if self.decay is not None:
            return self.decay
        if problem.task != "binary":
            return 1e-5 if problem.task == "multiclass" else 0.03
        if problem.n_rows is None:
            raise SettingsError(
                f"{self.name}: decay is 1/n² unless it is given, and the number of rows n is not "
                "known; set decay, or begin(Problem(..., n_rows=n))"
            )
        return 1.0 / problem.n_rows**2


class RBPRule(NamedTuple):
    """RBP in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
    step: float


@inlined
def drawn_place(uniform: float, budget: int) -> int:
    """Which of `budget` supports a uniform in [0, 1) stands for, by age."""
    return min(int(budget * uniform), budget - 1)


@learns_by(RBPRule)
def learn_rbp(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A full budget loses the support that a uniform draws."""
    gain, plus, minus, _ = met
    if size == rule.budget and not uniforms[n_removed] < 1.0:
        return OUT_OF_DRAWS, False
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    if size == rule.budget:
        leave(supports, size, drawn_place(uniforms[n_removed], rule.budget))
        size -= 1
    join(row, rows, supports, supports.order[size], plus, minus, rule.step * gain)
    return size + 1, True


class BOGDRule(NamedTuple):
    """BOGD in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
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


def has_loss_or_decays(rule: Any, met: Any, size: Any) -> bool:
    """Rows without a loss shrink the coefficients as well."""
    return bool((met[0] != 0.0) | (rule.keep != 1.0))


@learns_by(BOGDRule, when=has_loss_or_decays)
def learn_bogd(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """All coefficients decay; a full budget loses the oldest support, or one at random."""
    gain, plus, minus, _ = met
    coefficients = supports.coefficients
    full = size == rule.budget
    if gain != 0.0:
        if full and rule.at_random and not uniforms[n_removed] < 1.0:
            return OUT_OF_DRAWS, False
        if crowded(rows, row[0], supports.lanes):
            return NEEDS_COLUMNS, False
    if rule.keep != 1.0:
        scale(coefficients, rule.keep)
    if gain == 0.0:
        return size, False
    if full:
        leaver = 0
        if rule.at_random:
            leaver = drawn_place(uniforms[n_removed], rule.budget)
        leave(supports, size, leaver)
        size -= 1
        if rule.growth != 1.0:
            scale(coefficients, rule.growth)
    join(row, rows, supports, supports.order[size], plus, minus, rule.step * gain)
    if rule.ceiling != math.inf:
        if rule.cuts_off:
            cut_off(coefficients, rule.ceiling)
        elif full:
            rescale(coefficients, rule.ceiling)
    return size + 1, True
