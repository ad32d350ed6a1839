"""The Projectrons: once the budget is full, rows are projected onto the supports."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.lanes import Entries, aligned, dot, inlined, padded
from okbench.learners.numeric.losses import add_step, is_inside, towards
from okbench.learners.numeric.supports import Supports, crowded
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


@learner("Projectron", paper="lsokl", version=1)
class Projectron(BudgetedLearner):
    """Perceptron that projects mistakes onto its supports when full (Orabona et al. 2009).

    As in the authors' code, every mistake joins until the budget is full, however dependent.

    guard: a mistake whose residual is below it is projected even so. 0 turns it off, as in the
    authors' code, where repeated rows then make the inverse Gram matrix explode; 1e-10 prevents it.
    A residual of exactly 0, which that code divides by, is projected in any case.
    """

    step = Number(1.0, above=0.0, meaning="step size of the updates (η)")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")
    guard = Number(0.0, at_least=0.0, meaning="residual of a row that counts as repeated")

    on_margin: ClassVar[bool] = False

    needs_unit_norm = True

    def rule(self, problem: Problem) -> ProjectronRule:
        return ProjectronRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=self.epsilon,
            formula=self.formula,
            step=self.step,
            guard=self.guard,
            on_margin=self.on_margin,
            exact_norm=problem.n_columns == 1,
        )

    def memory(self, problem: Problem) -> Gram:
        shape = self.budget, padded(self.budget)
        return Gram(aligned(*shape), aligned(*shape))

    def scratch(self, supports: Supports) -> FloatArray:
        return aligned(1, padded(self._rule.budget))


@learner("Projectron++", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class ProjectronPP(Projectron):
    """Projectron that also learns from correct rows inside the margin (Orabona et al. 2009)."""

    on_margin = True


class ProjectronRule(NamedTuple):
    """A Projectron in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
    step: float
    guard: float  # rows with a residual below it are projected though there is room
    on_margin: bool  # whether correct rows inside the margin are projected too
    exact_norm: bool  # whether the projection's norm comes from the Gram matrix


class Gram(NamedTuple):
    """The supports' Gram matrix K and its inverse, slots × lanes; 0 where no support is."""

    inverse: FloatArray
    kernels: FloatArray


@compiled(fastmath=FUSED)
def project(inverse: Any, kernel: Any, size: int, projection: Any) -> float:
    """p = K⁻¹ k for the kernel row k of a row; what of the row is left, 1 - k·p."""
    width = padded(size)  # inverse and projection are 0 beyond size
    for s in range(size):
        projection[0, s] = dot(inverse, s, kernel, 0, width)
    return float(1.0 - dot(kernel, 0, projection, 0, width))


@compiled(fastmath=FUSED)
def extend(gram: Gram, kernel: Any, size: int, projection: Any, rest: float) -> None:
    """K and K⁻¹ with one support more: K⁻¹ + (1/rest) (p, -1)(p, -1)ᵀ."""
    inverse, kernels = gram
    for s in range(size):
        share = projection[0, s] / rest
        for t in range(size):
            inverse[s, t] += share * projection[0, t]
        inverse[s, size] = inverse[size, s] = -share
        kernels[s, size] = kernels[size, s] = kernel[0, s]
    inverse[size, size] = 1.0 / rest
    kernels[size, size] = 1.0


# Inlined because it has sums of two products: a compiled copy of its own may fuse another one than
# the copy that LLVM keeps within the walk, and which of them runs depends on the cache.
@inlined
def margin_step(
    rule: ProjectronRule, loss: float, rest: float, kernels: Any, kernel: Any, projection: Any,
    size: int,
) -> float:  # fmt: skip
    """How far Projectron++ moves along p on a margin error; 0 when that does not pay."""
    width = padded(size)
    norm = 0.0  # of the projection, squared
    if rule.exact_norm:
        for s in range(size):
            norm += projection[0, s] * dot(kernels, s, projection, 0, width)
    else:
        norm = dot(kernel, 0, projection, 0, width)
    length = min(loss / norm, 1.0)
    limit = 0.25 * math.sqrt((rule.budget + 1.0) / math.log(rule.budget + 1.0))
    gain = 2.0 * loss - length * norm - 2.0 * limit * math.sqrt(max(rest, 0.0))
    return length if length * gain >= 0.0 else 0.0


def has_loss_or_is_inside(rule: Any, met: Any, size: Any) -> bool:
    """Projectron++ also learns correct rows inside the margin."""
    return bool(met[0] != 0.0 or (rule.on_margin and size > 0 and is_inside(met[2], met[3])))


@learns_by(ProjectronRule, when=has_loss_or_is_inside)
def learn_projectron(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A row joins while there is room, and is projected onto the supports when there is none."""
    gain, plus, minus, margin = met
    inverse, kernels = memory
    kernel, projection = work.kernel, scratch
    joins = gain != 0.0 and size < rule.budget
    if joins and crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    find_kernel(work.lifted, kernel, size)
    rest = project(inverse, kernel, size, projection)
    if gain != 0.0:
        change = rule.step * gain
    else:
        length = margin_step(rule, 1.0 - margin, rest, kernels, kernel, projection, size)
        change = towards(minus, row[1], length)
    if joins and rest != 0.0 and (rest >= rule.guard or rule.guard == 0.0):
        extend(memory, kernel, size, projection, rest)
        join(row, rows, supports, supports.order[size], plus, minus, change)
        size += 1
    else:
        for s in range(size):
            add_step(supports.coefficients, s, plus, minus, change * projection[0, s])
    return size, change != 0.0
