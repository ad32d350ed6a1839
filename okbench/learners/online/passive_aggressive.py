"""Passive-aggressive learners on a budget (Wang and Vucetic 2010)."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.gram_inverse import (
    extend_root,
    inverse_column,
    inverse_diagonal,
    reduce_root,
    solve,
)
from okbench.learners.numeric.lanes import Entries, aligned, inlined, kernel_row, padded
from okbench.learners.numeric.losses import AGGRESSIVE, add_step, margin_terms
from okbench.learners.numeric.supports import (
    Supports,
    crowded,
    empty_slot,
    fill,
    leave,
    squared_length,
)
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


@learner("BPA-S", paper="lsokl", version=2, tasks=("binary", "multiclass"))
class BPAS(BudgetedLearner):
    """Passive-aggressive learner that replaces the support it costs least (Wang and Vucetic 2010).

    aggressiveness is the longest step. Supports are listed in the order of their slots, in which a
    new one takes the place of the one it replaces.
    """

    aggressiveness = Number(1.0, above=0.0, meaning="the longest step (C)")

    needs_unit_norm = True

    def rule(self, problem: Problem) -> BPASRule:
        return BPASRule(self.budget, AGGRESSIVE, 0.0, self.formula, self.aggressiveness, 0.0)

    def scratch(self, supports: Supports) -> FloatArray:
        return aligned(5, padded(self._rule.budget))


class BudgetedPassiveAggressive(BudgetedLearner):
    """Settings of the passive-aggressive learners that project what they remove."""

    aggressiveness = Number(1.0, above=0.0, meaning="the longest step (C)")
    guard = Number(1e-10, above=0.0, meaning="residual of a row that counts as repeated")

    needs_unit_norm = True

    @property
    @abstractmethod
    def rule_class(self) -> type[AggressiveRule]:
        """The class of the rule, which says what becomes of a removed support."""

    def rule(self, problem: Problem) -> AggressiveRule:
        return self.rule_class(
            self.budget, AGGRESSIVE, 0.0, self.formula, self.aggressiveness, self.guard
        )


@learner("BPA-P", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPAP(BudgetedPassiveAggressive):
    """Passive-aggressive; projects what it removes onto all others (Wang and Vucetic 2010).

    The support leaves whose removal, so mended, changes the model least; the new row stays.
    aggressiveness is the longest step. A row whose squared residual off the supports is below
    guard does not join: it is projected onto them at once, which is what removing its double
    would come to.
    """

    @property
    def rule_class(self) -> type[AggressiveRule]:
        return BPAPRule

    def memory(self, problem: Problem) -> FloatArray:
        slots = self.budget + 1
        return aligned(slots, padded(slots))  # root of the inverse Gram matrix, oldest first

    def scratch(self, supports: Supports) -> FloatArray:
        return aligned(3, padded(self._rule.budget + 1))


@learner("BPA-NN", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class BPANN(BudgetedPassiveAggressive):
    """Passive-aggressive; projects what it removes onto two neighbours (Wang and Vucetic 2010).

    They are the new row and the support nearest to the removed one, which is chosen as in BPA-P.
    aggressiveness is the longest step. A neighbour that is the new row but for less than guard
    takes nothing over. Supports are listed in the order of their slots, in which a new one takes
    the place of the one it replaces.
    """

    @property
    def rule_class(self) -> type[AggressiveRule]:
        return BPANNRule

    def memory(self, problem: Problem) -> Neighbours:
        return Neighbours(np.zeros(self.budget, dtype=np.int64), np.zeros(self.budget))


class AggressiveRule(NamedTuple):
    """A budgeted passive-aggressive learner in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
    aggressiveness: float  # the longest step; of BPA-S the price of a loss as well
    guard: float  # vectors whose residual is below it count as dependent


class BPASRule(AggressiveRule):
    """The rule of BPA-S."""


class BPAPRule(AggressiveRule):
    """The rule of BPA-P."""


class BPANNRule(AggressiveRule):
    """The rule of BPA-NN."""


@inlined
def bounded(gain: float, longest: float) -> float:
    """A gain, but no step longer than the longest."""
    return max(-longest, min(longest, gain))


ALIKE = 1e-13  # costs that differ by less, relative to the least and to a loss of 1, are equal


# Slots often tie, and the first must win: the objective is computed without any licence.
@compiled()
def cheapest(
    coefficients: Any, size: int, kernel: Any, scores: Any, i: int, target: float, change: float,
    plus: int, minus: int, price: float, sums: Any,
) -> int:  # fmt: skip
    """The slot whose support it costs least to replace by row i, the first of equals."""
    before, after, product, own, rival = 0, 1, 2, 3, 4  # rows of sums, one column per slot
    factor, least = margin_terms(minus, target)
    costs = sums[before]
    sums[:rival, :size] = 0.0
    sums[rival, :size] = least
    for column in range(len(coefficients)):
        shift = change if column == plus else (-change if column == minus else 0.0)
        reaches = own if column == plus else rival
        for slot in range(size):
            old, near = coefficients[column, slot], kernel[0, slot]
            new = old * near + shift
            sums[before, slot] += old * old
            sums[after, slot] += new * new
            sums[product, slot] += old * new
            reached = scores[i, column] - old * near + new
            if reaches == own or reached > sums[rival, slot]:
                sums[reaches, slot] = reached
    for slot in range(size):
        margin = factor * sums[own, slot] - sums[rival, slot]
        crossed = 2.0 * kernel[0, slot] * sums[product, slot]
        damage = 0.5 * (sums[before, slot] + sums[after, slot] - crossed)
        short = 1.0 - margin
        costs[slot] = damage + price * (short if short > 0.0 else 0.0)
    lowest = math.inf
    for slot in range(size):
        lowest = costs[slot] if costs[slot] < lowest else lowest
    highest, first = lowest + ALIKE * (lowest + price), 0
    while first < size - 1 and not costs[first] <= highest:  # costs may be no numbers
        first += 1
    return first


@learns_by(BPASRule)
def learn_bpas(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A full budget gives the slot whose loss hurts least to the new row."""
    gain, plus, minus, _ = met
    coefficients, kernel = supports.coefficients, work.kernel
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    find_kernel(work.lifted, kernel, size)
    change = bounded(gain, rule.aggressiveness)
    slot = size
    if size == rule.budget:
        slot = cheapest(
            coefficients, size, kernel, scores, row[0], row[1], change, plus,
            minus, rule.aggressiveness, scratch,
        )  # fmt: skip
        empty_slot(supports, slot)
    else:
        size += 1
    fill(supports, slot, rows, row[0], row[2])
    # What the row stands in for stays: the old coefficients times their kernel with it.
    for column in range(len(coefficients)):
        coefficients[column, slot] *= kernel[0, slot]
    add_step(coefficients, slot, plus, minus, change)
    return size, True


class Neighbours(NamedTuple):
    """The support nearest to each support, by slots, and their kernel."""

    nearest: Any
    nearness: Any


@compiled(fastmath=FUSED)
def project_leaver(supports: Supports, size: int, root: Any, inverse: Any) -> None:
    """Project away the support it costs least to lose; the last of size, the new one, stays.

    K⁻¹ over all of them is enough: r keeps 1 / K⁻¹_rr off the span of the others, and its
    projection onto them has the coefficients -K⁻¹_jr / K⁻¹_rr.
    """
    order, coefficients = supports.order, supports.coefficients
    inverse_diagonal(root, size, inverse)
    leaver, lowest = 0, math.inf
    for place in range(size - 1):
        cost = squared_length(coefficients, order[place]) / inverse[0, place]
        if cost < lowest:
            leaver, lowest = place, cost
    inverse_column(root, size, leaver, inverse)
    for place in range(size):
        if place != leaver:
            share = -inverse[0, place] / inverse[0, leaver]
            for c in range(len(coefficients)):
                coefficients[c, order[place]] += share * coefficients[c, order[leaver]]
    reduce_root(root, size, leaver)
    leave(supports, size, leaver)


@learns_by(BPAPRule)
def learn_bpap(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A full budget loses the support whose projection onto all others changes the model least.

    The rows of `scratch` are the kernel in the order of age, half a product, the projection.
    """
    gain, plus, minus, _ = met
    coefficients, order, kernel = supports.coefficients, supports.order, work.kernel
    ordered, half, projection = scratch[0:1], scratch[1:2], scratch[2:3]
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    find_kernel(work.lifted, kernel, size)
    change = bounded(gain, rule.aggressiveness)
    for place in range(size):
        ordered[0, place] = kernel[0, order[place]]
    rest = 1.0 - solve(memory, ordered, size, half, projection)
    if rest < rule.guard:
        for place in range(size):
            add_step(coefficients, order[place], plus, minus, change * projection[0, place])
        return size, True
    extend_root(memory, projection, size, rest)
    join(row, rows, supports, order[size], plus, minus, change)
    if size == rule.budget:
        project_leaver(supports, size + 1, memory, projection)
    else:
        size += 1
    return size, True


@inlined
def shares(
    supports: Supports, slot: int, size: int, neighbours: Neighbours, kernel: Any, guard: float
) -> tuple[float, float, float]:
    """Shares of the nearest support and of the new row in a support's projection onto the two,
    and what that leaves of it."""
    near = kernel[0, slot]
    if size == 1:
        return 0.0, near, 1.0 - near * near
    neighbour = neighbours.nearest[slot]
    across, own = kernel[0, neighbour], neighbours.nearness[slot]
    apart = 1.0 - across * across
    if apart < guard:  # the two are one: the new row alone
        return 0.0, near, 1.0 - near * near
    theirs, ours = (own - near * across) / apart, (near - own * across) / apart
    return theirs, ours, 1.0 - own * theirs - near * ours


@inlined
def find_nearest(neighbours: Neighbours, slot: int, size: int, kernel: Any) -> None:
    """Find a slot's nearest support in its kernel row, the first of equals."""
    neighbours.nearness[slot] = -1.0
    for other in range(size):
        if other != slot and kernel[0, other] > neighbours.nearness[slot]:
            neighbours.nearest[slot], neighbours.nearness[slot] = other, kernel[0, other]


@compiled(fastmath=FUSED)
def introduce(
    supports: Supports, newcomer: int, size: int, formula: Any, neighbours: Neighbours,
    kernel: Any, other: Any,
) -> None:  # fmt: skip
    """Nearest supports once `newcomer`, whose kernel row is computed, has taken its slot."""
    width = supports.coefficients.shape[1]
    find_nearest(neighbours, newcomer, size, kernel)
    for slot in range(size):
        if slot == newcomer:
            continue
        if neighbours.nearest[slot] == newcomer:  # the one that was there has left
            kernel_row(supports.entries, slot, supports.lanes, width, formula, other, 0)
            find_nearest(neighbours, slot, size, other)
            continue
        ahead = kernel[0, slot] - neighbours.nearness[slot]
        if ahead > 0.0 or (ahead == 0.0 and newcomer < neighbours.nearest[slot]):
            neighbours.nearest[slot], neighbours.nearness[slot] = newcomer, kernel[0, slot]


@inlined
def hand_to_neighbours(
    supports: Supports, size: int, neighbours: Neighbours, kernel: Any, guard: float
) -> int:
    """Free the slot of the support it costs least to project onto its two neighbours.

    What the new row takes over stays in the slot, which will be its own.
    """
    coefficients = supports.coefficients
    slot, lowest = 0, math.inf
    for place in range(size):
        rest = shares(supports, place, size, neighbours, kernel, guard)[2]
        cost = squared_length(coefficients, place) * rest
        if cost < lowest:
            slot, lowest = place, cost
    theirs, ours, _ = shares(supports, slot, size, neighbours, kernel, guard)
    for column in range(len(coefficients)):
        if theirs != 0.0:
            coefficients[column, neighbours.nearest[slot]] += theirs * coefficients[column, slot]
        coefficients[column, slot] *= ours
    empty_slot(supports, slot)
    return slot


@learns_by(BPANNRule)
def learn_bpann(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A full budget loses the support that costs least to project onto its two neighbours."""
    gain, plus, minus, _ = met
    kernel = work.kernel
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    find_kernel(work.lifted, kernel, size)
    slot = size
    if size == rule.budget:
        slot = hand_to_neighbours(supports, size, memory, kernel, rule.guard)
    else:
        memory.nearest[slot] = slot
        size += 1
    join(row, rows, supports, slot, plus, minus, bounded(gain, rule.aggressiveness))
    introduce(supports, slot, size, rule.formula, memory, kernel, work.other)
    return size, True
