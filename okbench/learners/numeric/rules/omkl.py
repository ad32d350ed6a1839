"""The walks of kernel expansions with several kernels and a weight per kernel.

All kernels share the support vectors and the inner products of a row with them. The two walks
differ in where supports are: `learn_growing` keeps every row that joined, on the walk of
`numeric.expansion`; `learn_within` keeps the last `budget` of them, in the slots of `supports`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, LIFT, exp
from okbench.learners.numeric.expansion import (
    BLOCK,
    VANISHING,
    Expanding,
    LaneWork,
    append_support,
    clear_lanes,
)
from okbench.learners.numeric.kernels import (
    Cauchy,
    Gaussian,
    Laplacian,
    Matern32,
    Matern52,
    Polynomial,
    lifted,
)
from okbench.learners.numeric.lanes import Entries, Lanes, aligned, dot, inlined, padded, set_lane
from okbench.learners.numeric.losses import HINGE, LOGISTIC, NO_COLUMN, RESIDUAL, step
from okbench.learners.numeric.supports import Supports, crowded, leave
from okbench.learners.numeric.vector_products import products
from okbench.learners.numeric.walks import FINISHED, NEEDS_COLUMNS, RowStream, join

GAUSSIAN, LAPLACIAN, CAUCHY, MATERN32, MATERN52 = range(5)
BEFORE_POLYNOMIALS = MATERN52  # the polynomial kernel of degree q is the q-th behind it


class Dictionary(NamedTuple):
    """The kernels in numbers."""

    kinds: NDArray[np.int64]
    factors: FloatArray  # the first number of each kernel


class DictionaryRule(NamedTuple):
    """A learner in numbers."""

    loss: int
    step: float
    keep: float  # what the coefficients of a kernel that learns are multiplied by
    weight_step: float
    samples_updates: bool  # each kernel learns with a probability that follows from its weight
    samples_answer: bool  # the answer is that of one kernel, drawn by the weights
    smoothing: float  # the least probability that a kernel learns
    budget: int


class Mind(NamedTuple):
    """What is known of the kernels; outputs and gains are those of the current row."""

    logarithms: FloatArray  # of their weights
    factors: FloatArray  # what all coefficients of a kernel share
    outputs: FloatArray  # kernels × 1
    gains: FloatArray
    shares: FloatArray

    @classmethod
    def empty(cls, n_kernels: int) -> Mind:
        gains, shares = np.zeros(n_kernels), np.zeros(n_kernels)
        logarithms, outputs = np.zeros(n_kernels), np.zeros((n_kernels, 1))
        return cls(logarithms, np.ones(n_kernels), outputs, gains, shares)

    def with_own_scratch(self) -> Mind:
        """The same weights, to answer rows beside other threads that do so."""
        fresh = Mind.empty(len(self.shares))
        return fresh._replace(logarithms=self.logarithms, factors=self.factors)


@inlined
def find_answer(rule: DictionaryRule, uniforms: Any, i: int, mind: Mind) -> float:
    """The answer to a row of the outputs, and the kernels' shares of the weights."""
    logarithms, _, outputs, _, shares = mind
    find_shares(logarithms, shares)
    if rule.samples_answer:
        return float(outputs[drawn_kernel(shares, uniforms[i, len(shares)]), 0])
    return weighted(shares, outputs)


@compiled(fastmath=FUSED)
def find_shares(logarithms: Any, shares: Any) -> None:
    """The weights, divided by their sum."""
    largest, total = -np.inf, 0.0
    for p in range(len(shares)):
        largest = max(largest, logarithms[p])
    for p in range(len(shares)):
        shares[p] = exp(logarithms[p] - largest)
        total += shares[p]
    for p in range(len(shares)):
        shares[p] /= total


@compiled(fastmath=FUSED)
def weighted(shares: Any, outputs: Any) -> float:
    """The weighted mean of the outputs."""
    score = 0.0
    for p in range(len(shares)):
        score += shares[p] * outputs[p, 0]
    return score


@compiled()
def drawn_kernel(shares: Any, uniform: float) -> int:
    """The kernel that a uniform stands for."""
    p = 0
    while p < len(shares) - 1 and uniform >= shares[p]:
        uniform -= shares[p]
        p += 1
    return p


@compiled(fastmath=FUSED)
def loss_behind(loss: int, margin: float, gain: float) -> float:
    """The loss behind a step of `losses.step`, given its margin or residual."""
    if loss == RESIDUAL:
        return margin * margin
    if loss == LOGISTIC:
        return max(0.0, -margin) + math.log1p(exp(-abs(margin)))
    if loss == HINGE:
        return max(0.0, 1.0 - margin)
    return 1.0 if gain != 0.0 else 0.0


@inlined
def reweigh(rule: DictionaryRule, uniforms: Any, i: int, target: float, mind: Mind) -> bool:
    """Move the weights and find what every kernel adds at this row; whether any adds something."""
    logarithms, factors, outputs, gains, shares = mind
    joins = False
    largest = 0.0
    for p in range(len(shares)):
        largest = max(largest, shares[p])
    for p in range(len(shares)):
        gains[p] = 0.0
        chance = (1.0 - rule.smoothing) * shares[p] / largest + rule.smoothing
        if rule.samples_updates and uniforms[i, p] >= chance:
            continue
        gain, _, _, margin = step(rule.loss, outputs, p, target, 0.0)
        logarithms[p] -= rule.weight_step * loss_behind(rule.loss, margin, gain)
        factors[p] *= rule.keep
        gains[p] = rule.step * gain / factors[p]
        joins |= gain != 0.0
    return joins


@inlined
def vanishing(factor: float) -> bool:
    """Whether a common factor must be multiplied out before it underflows."""
    return abs(factor) < VANISHING


@compiled()
def take_power(factors: Any, p: int) -> float:
    """Take out of a kernel's factor the power of two in it, so that multiplying it out is exact and
    sums that were made before are equal to those that would be made after it."""
    mantissa, exponent = math.frexp(factors[p])
    factors[p] = mantissa
    return math.ldexp(1.0, exponent)


@compiled()
def multiply_column(matrix: Any, p: int, size: int, power: float) -> None:
    """Multiply a column of coefficients."""
    for s in range(size):
        matrix[s, p] *= power


@compiled()
def multiply_line(matrix: Any, p: int, power: float) -> None:
    """Multiply a line of coefficients or of sums."""
    for j in range(matrix.shape[1]):
        matrix[p, j] *= power


@inlined
def fill_lifted(kernel: Any, norm: float, norms: Any, inner: Any, width: int, out: Any) -> None:
    """LIFT × this kernel of a vector with the lanes, from their inner products."""
    for j in range(width):
        out[0, j] = lifted(kernel, norm, norms[j], inner[0, j])


@inlined
def spread_lifted(
    kernel: Any, norm: float, norms: Any, inner: Any, width: int, gain: float, sums: Any, p: int
) -> None:
    """Add a support's part of this kernel to the sums of all lanes."""
    for j in range(width):
        sums[p, j] += gain * lifted(kernel, norm, norms[j], inner[0, j])


@compiled(fastmath=FUSED)
def lifted_kernels(
    kind: int, factor: float, norm: float, norms: Any, inner: Any, width: int, out: Any
) -> None:
    """LIFT × a kernel of a vector with the lanes, from their inner products."""
    if kind == GAUSSIAN:
        fill_lifted(Gaussian(factor), norm, norms, inner, width, out)
    elif kind == LAPLACIAN:
        fill_lifted(Laplacian(factor), norm, norms, inner, width, out)
    elif kind == CAUCHY:
        fill_lifted(Cauchy(factor), norm, norms, inner, width, out)
    elif kind == MATERN32:
        fill_lifted(Matern32(factor), norm, norms, inner, width, out)
    elif kind == MATERN52:
        fill_lifted(Matern52(factor), norm, norms, inner, width, out)
    else:
        fill_lifted(Polynomial(factor, kind - BEFORE_POLYNOMIALS), norm, norms, inner, width, out)


@compiled(fastmath=FUSED)
def spread_kernel(
    kind: int, factor: float, norm: float, norms: Any, inner: Any, width: int, gain: float,
    sums: Any, p: int,
) -> None:  # fmt: skip
    """Add a support's part of kernel p to the sums of all lanes."""
    if kind == GAUSSIAN:
        spread_lifted(Gaussian(factor), norm, norms, inner, width, gain, sums, p)
    elif kind == LAPLACIAN:
        spread_lifted(Laplacian(factor), norm, norms, inner, width, gain, sums, p)
    elif kind == CAUCHY:
        spread_lifted(Cauchy(factor), norm, norms, inner, width, gain, sums, p)
    elif kind == MATERN32:
        spread_lifted(Matern32(factor), norm, norms, inner, width, gain, sums, p)
    elif kind == MATERN52:
        spread_lifted(Matern52(factor), norm, norms, inner, width, gain, sums, p)
    else:
        degree = kind - BEFORE_POLYNOMIALS
        spread_lifted(Polynomial(factor, degree), norm, norms, inner, width, gain, sums, p)


@compiled(fastmath=FUSED)
def sweep_kernels(
    supports: Expanding, first: int, last: int, lanes: Lanes, width: int, dictionary: Dictionary,
    inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Add supports[first:last] to the sums of all lanes, in order, for every kernel."""
    values, columns, starts, stops, support_norms = supports.entries
    gains = supports.gains
    matrix, place, _, _, _, norms = lanes
    kinds, kernel_factors = dictionary
    for s in range(first, last):
        products(values, columns, starts[s], stops[s], matrix, place, width, inner, 0)
        for p in range(len(kinds)):
            if gains[s, p] != 0.0:
                spread_kernel(
                    kinds[p], kernel_factors[p], support_norms[s], norms, inner, width, gains[s, p],
                    sums, p,
                )  # fmt: skip


@inlined
def fill_kernel_lanes(
    rows: Entries, first: int, last: int, supports: Expanding, size: int, lanes: Lanes,
    dictionary: Dictionary, inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Make rows[first:last] the lanes and add all supports to their sums."""
    width = padded(last - first)
    for i in range(first, last):
        set_lane(lanes, i - first, rows, i)
    for p in range(len(sums)):
        for j in range(width):
            sums[p, j] = 0.0
    # a plain 0 is a type of its own and would have it compiled twice
    sweep_kernels(supports, int(np.int64(0)), size, lanes, width, dictionary, inner, sums)


@inlined
def read_lane(lane: int, sums: Any, mind: Mind) -> None:
    """The outputs of the kernels for the row of a lane."""
    for p in range(len(sums)):
        mind.outputs[p, 0] = mind.factors[p] * (sums[p, lane] / LIFT)


@compiled()
def learn_growing(
    stream: RowStream, first: int, last: int, uniforms: Any, supports: Expanding, size: int,
    dictionary: Dictionary, rule: DictionaryRule, mind: Mind, work: LaneWork,
) -> int:  # fmt: skip
    """Learn rows[first:last] and fill in their scores; how many supports there are then."""
    rows, targets, scores, position = stream
    lanes, inner, sums = work
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        width = padded(stop - start)
        fill_kernel_lanes(rows, start, stop, supports, size, lanes, dictionary, inner, sums)
        for i in range(start, stop):
            read_lane(i - start, sums, mind)
            scores[i, 0] = find_answer(rule, uniforms, i, mind)
            joins = reweigh(rule, uniforms, i, targets[i], mind)
            if joins:
                append_support(supports, size, rows, i)
                supports.rows[size] = position + i
                for p in range(len(sums)):
                    supports.gains[size, p] = mind.gains[p]
                sweep_kernels(supports, size, size + 1, lanes, width, dictionary, inner, sums)
                size += 1
            for p in range(len(sums)):
                if vanishing(mind.factors[p]):
                    power = take_power(mind.factors, p)
                    multiply_column(supports.gains, p, size, power)
                    multiply_line(sums, p, power)
        clear_lanes(rows, start, stop, lanes)
    return size


@compiled()
def score_growing(
    rows: Entries, supports: Expanding, size: int, dictionary: Dictionary, mind: Mind,
    work: LaneWork, scores: Any,
) -> None:  # fmt: skip
    """The weighted scores of rows; nothing is learned."""
    lanes, inner, sums = work
    find_shares(mind.logarithms, mind.shares)
    for start in range(0, len(scores), BLOCK):
        stop = min(start + BLOCK, len(scores))
        fill_kernel_lanes(rows, start, stop, supports, size, lanes, dictionary, inner, sums)
        for i in range(start, stop):
            read_lane(i - start, sums, mind)
            scores[i, 0] = weighted(mind.shares, mind.outputs)
        clear_lanes(rows, start, stop, lanes)


class SlotWork(NamedTuple):
    """Scratch: inner products of a row with all slots, and a kernel of them; 1 × lanes each."""

    inner: FloatArray
    lifted: FloatArray

    @classmethod
    def of(cls, supports: Supports) -> SlotWork:
        width = supports.coefficients.shape[1]
        return cls(aligned(1, width), aligned(1, width))


@inlined
def meet_slots(
    rows: Entries, i: int, supports: Supports, size: int, dictionary: Dictionary, mind: Mind,
    work: SlotWork,
) -> None:  # fmt: skip
    """The outputs of the kernels for row i."""
    width = padded(size + 1)  # joining before leaving, supports go round budget + 1 slots
    lanes, coefficients = supports.lanes, supports.coefficients
    products(
        rows.values, rows.columns, rows.starts[i], rows.stops[i], lanes.matrix, lanes.place, width,
        work.inner, 0,
    )  # fmt: skip
    for p in range(len(dictionary.kinds)):
        lifted_kernels(
            dictionary.kinds[p], dictionary.factors[p], rows.squared_norms[i],
            lanes.squared_norms, work.inner, width, work.lifted,
        )  # fmt: skip
        total = dot(coefficients, p, work.lifted, 0, width)
        mind.outputs[p, 0] = mind.factors[p] * (total / LIFT)


@compiled(fastmath=FUSED)
def learn_within(
    stream: RowStream, first: int, uniforms: Any, supports: Supports, size: int,
    dictionary: Dictionary, rule: DictionaryRule, mind: Mind, work: SlotWork,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    rows, targets, scores, position = stream
    coefficients, updates = supports.coefficients, 0
    for i in range(first, len(targets)):
        if crowded(rows, i, supports.lanes):
            return NEEDS_COLUMNS, i, size, updates
        meet_slots(rows, i, supports, size, dictionary, mind, work)
        scores[i, 0] = find_answer(rule, uniforms, i, mind)
        joins = reweigh(rule, uniforms, i, targets[i], mind)
        if joins:
            updates += 1
            if size == rule.budget:
                leave(supports, size, 0)
                size -= 1
            slot = supports.order[size]
            join((i, targets[i], position + i), rows, supports, slot, 0, NO_COLUMN, mind.gains[0])
            for p in range(1, len(coefficients)):
                coefficients[p, slot] = mind.gains[p]
            size += 1
        for p in range(len(coefficients)):
            if vanishing(mind.factors[p]):
                multiply_line(coefficients, p, take_power(mind.factors, p))
    return FINISHED, len(targets), size, updates


@compiled(fastmath=FUSED)
def score_within(
    rows: Entries, supports: Supports, size: int, dictionary: Dictionary, mind: Mind,
    work: SlotWork, scores: Any,
) -> None:  # fmt: skip
    """The weighted scores of rows; nothing is learned."""
    find_shares(mind.logarithms, mind.shares)
    for i in range(len(scores)):
        meet_slots(rows, i, supports, size, dictionary, mind, work)
        scores[i, 0] = weighted(mind.shares, mind.outputs)
