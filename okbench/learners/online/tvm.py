"""The Twin Vector Machine: rows join a support vector machine whose closest merge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.numeric.elementary import FUSED
from okbench.learners.numeric.lanes import Entries, aligned, kernel_row, padded
from okbench.learners.numeric.losses import NOT_POSITIVE, is_positive
from okbench.learners.numeric.rules.tvm_machine import (
    MINUS,
    PLUS,
    SIDE,
    Machine,
    hold,
    restore_optimum,
)
from okbench.learners.numeric.supports import Supports, crowded, empty_slot, fill, leave
from okbench.learners.numeric.walks import (
    NEEDS_COLUMNS,
    NEEDS_ENTRIES,
    Met,
    Row,
    Work,
    find_kernel,
    learns_by,
)
from okbench.learners.registry import learner
from okbench.learners.settings import Choice, Number


@learner("TVM", paper="lsokl", version=1, tasks=("binary",))
class TVM(BudgetedLearner):
    """Support vector machine on weighted twins, of which the closest merge (Wang and Vucetic 2009).

    A twin vector stands for an example of either class, with a weight in each: how many rows have
    gone into it. A row whose margin is at most `margin` joins with weight 1 in its class. Over
    budget, the two closest vectors of one class (the one they weigh more in) merge at their
    weighted mean; with merging="any", the two closest. Then the machine with C = cost, without a
    bias, is brought back to its optimum, to within `tolerance` in every score.
    Supports are listed with the position of the oldest row that went into them.
    """

    cost = Number(1.0, above=0.0, meaning="weight of the losses (C)")
    margin = Number(1.0, at_least=0.0, meaning="rows with a margin of at most this are learned")
    merging = Choice(
        "class", ("class", "any"), meaning="whether vectors of different classes are merged"
    )
    tolerance = Number(1e-3, above=0.0, meaning="precision at which the solver stops")

    needs_unit_norm = True

    @property
    def weights(self) -> FloatArray:
        """How many rows of either class the supports stand for, the first class first."""
        weights: FloatArray = self._learned().memory.state[1::-1, self._slots]
        return weights

    def rule(self, problem: Problem) -> TVMRule:
        return TVMRule(
            budget=self.budget,
            loss=NOT_POSITIVE,
            epsilon=0.0,
            formula=self.formula,
            margin=self.margin,
            within_class=self.merging == "class",
            cost=self.cost,
            tolerance=self.tolerance,
        )

    def memory(self, problem: Problem) -> Machine:
        return Machine.empty(self.budget + 1)

    def scratch(self, supports: Supports) -> MergeScratch:
        return MergeScratch.of(supports)

    def _with_room(self, supports: Supports, widest: int) -> Supports:
        """Every slot takes means of vectors twice as long as now."""
        held = supports.entries
        longest = max(widest, int((held.stops - held.starts).max()))
        return supports.with_room_for(min(4 * longest, len(supports.lanes.place)))


class TVMRule(NamedTuple):
    """A Twin Vector Machine in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
    margin: float  # rows with a margin up to it join
    within_class: bool  # whether vectors of one class merge before others
    cost: float
    tolerance: float


class MergeScratch(NamedTuple):
    """Scratch to merge two vectors in, and to solve for the coefficients."""

    draft: Entries
    solution: FloatArray

    @classmethod
    def of(cls, supports: Supports) -> MergeScratch:
        slots = len(supports.order)
        room = len(supports.entries.values) // slots
        starts, stops = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        draft = Entries(np.empty(room), np.empty(room, np.int32), starts, stops, np.zeros(1))
        return cls(draft, aligned(3, padded(slots)))


@compiled(fastmath=FUSED)
def closest(supports: Supports, size: int, machine: Machine, within_class: bool) -> tuple[int, int]:
    """Places of the two closest vectors, of one class if there are such; the first of equals."""
    order, state = supports.order, machine.state
    first, second, nearest, related = 0, 1, -1.0, False
    for a in range(size):
        kind = state[PLUS, order[a]] >= state[MINUS, order[a]]
        for b in range(a):
            alike = within_class and kind == (state[PLUS, order[b]] >= state[MINUS, order[b]])
            near = machine.gram[order[a], order[b]]
            if (alike and not related) or (alike == related and near > nearest):
                first, second, nearest, related = b, a, near, alike
    return first, second


@compiled(fastmath=FUSED)
def mean(held: Entries, a: int, b: int, weight: float, draft: Entries) -> None:
    """weight × vector a + (1 - weight) × vector b into the draft."""
    e, f, n = held.starts[a], held.starts[b], 0
    norm = 0.0
    while e < held.stops[a] or f < held.stops[b]:
        left = e < held.stops[a] and (f == held.stops[b] or held.columns[e] <= held.columns[f])
        right = f < held.stops[b] and (e == held.stops[a] or held.columns[f] <= held.columns[e])
        draft.columns[n] = held.columns[e] if left else held.columns[f]
        value = 0.0
        if left:
            value += weight * held.values[e]
            e += 1
        if right:
            value += (1.0 - weight) * held.values[f]
            f += 1
        draft.values[n] = value
        norm += value * value
        n += 1
    draft.stops[0] = n
    draft.squared_norms[0] = norm


@compiled(fastmath=FUSED)
def merge_twins(
    supports: Supports, size: int, rule: TVMRule, machine: Machine, draft: Entries, kernel: Any
) -> None:
    """Put two vectors in one at their mean, with the weights and coefficients of both."""
    order, coefficients, state = supports.order, supports.coefficients, machine.state
    first, second = closest(supports, size, machine, rule.within_class)
    a, b = order[first], order[second]
    for place in range(machine.n_free[0] - 1, -1, -1):
        if machine.free[place] == a or machine.free[place] == b:
            hold(machine, place)
    ours, theirs = state[PLUS, a] + state[MINUS, a], state[PLUS, b] + state[MINUS, b]
    mean(supports.entries, a, b, ours / (ours + theirs), draft)
    joint = coefficients[0, a] + coefficients[0, b]
    state[PLUS, a] += state[PLUS, b]
    state[MINUS, a] += state[MINUS, b]
    met = min(supports.rows[a], supports.rows[b])
    leave(supports, size, second)
    empty_slot(supports, a)
    fill(supports, a, draft, 0, met)
    # the bounds have added up too, but for rounding
    lowest, highest = -rule.cost * state[MINUS, a], rule.cost * state[PLUS, a]
    coefficients[0, a] = min(max(joint, lowest), highest)
    kernel_row(draft, 0, supports.lanes, coefficients.shape[1], rule.formula, kernel, 0)
    remember(machine, a, kernel)


@compiled()
def remember(machine: Machine, slot: int, kernel: Any) -> None:
    """Keep a vector's kernel with all others."""
    kernel[0, slot] = 1.0
    for other in range(len(machine.gram)):
        machine.gram[slot, other] = machine.gram[other, slot] = kernel[0, other]


@compiled()
def is_cramped(rows: Entries, i: int, supports: Supports, size: int, n_features: int) -> bool:
    """Whether the slots might be too short for the mean of two vectors once row i has joined."""
    held = supports.entries
    longest = rows.stops[i] - rows.starts[i]
    for place in range(size):
        slot = supports.order[place]
        longest = max(longest, held.stops[slot] - held.starts[slot])
    return bool(min(2 * longest, n_features) > len(held.values) // len(supports.order))


def is_within_margin(rule: Any, met: Any, size: Any) -> bool:
    """Whether the margin of a row is at most `margin`."""
    return bool(met[3] <= rule.margin)


@learns_by(TVMRule, when=is_within_margin)
def learn_tvm(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """A row joins; over the budget two vectors merge; the machine is solved again."""
    state, kernel = memory.state, work.kernel
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    if is_cramped(rows, row[0], supports, size, len(supports.lanes.place)):
        return NEEDS_ENTRIES, False
    find_kernel(work.lifted, kernel, size)
    slot = supports.order[size]
    fill(supports, slot, rows, row[0], row[2])
    state[PLUS, slot] = 1.0 if is_positive(row[1]) else 0.0
    state[MINUS, slot] = 1.0 - state[PLUS, slot]
    state[SIDE, slot] = 0.0
    remember(memory, slot, kernel)
    size += 1
    if size > rule.budget:
        merge_twins(supports, size, rule, memory, scratch.draft, kernel)
        size -= 1
    restore_optimum(
        memory, rule.cost, rule.tolerance, supports.coefficients, supports.order, size,
        scratch.solution,
    )  # fmt: skip
    return size, True
