"""The walk of the Projectrons: once the budget is full, rows are projected onto the supports."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import dot, inlined, padded
from okbench.learners.compiled.losses import add_step, is_inside, towards
from okbench.learners.compiled.supports import Supports, crowded
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


class ProjectronRule(NamedTuple):
    """A Projectron in numbers."""

    budget: int
    loss: int
    epsilon: float
    sharpness: float
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


@compiled(fastmath=FUSED)
def learn_projectron(
    stream: RowStream, first: int, supports: Supports, size: int, rule: ProjectronRule, gram: Gram,
    projection: Any, work: Work,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    rows, targets, _, position = stream
    lifted, kernel, _ = work
    inverse, kernels = gram
    updates = 0
    for i in range(first, len(targets)):
        gain, plus, minus, margin = meet(stream, i, supports, size, rule, work)
        if gain == 0.0 and not (rule.on_margin and size > 0 and is_inside(minus, margin)):
            continue
        joins = gain != 0.0 and size < rule.budget
        if joins and crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        find_kernel(lifted, kernel, size)
        rest = project(inverse, kernel, size, projection)
        if gain != 0.0:
            change = rule.step * gain
        else:
            length = margin_step(rule, 1.0 - margin, rest, kernels, kernel, projection, size)
            change = towards(minus, targets[i], length)
        if joins and rest != 0.0 and (rest >= rule.guard or rule.guard == 0.0):
            extend(gram, kernel, size, projection, rest)
            join(rows, i, position + i, supports, supports.order[size], plus, minus, change)
            size += 1
        else:
            for s in range(size):
                add_step(coefficients, s, plus, minus, change * projection[0, s])
        updates += change != 0.0
    return FINISHED, len(targets), size, updates
