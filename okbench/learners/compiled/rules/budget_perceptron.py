"""The walk of the Budget Perceptron: the support that the others classify best makes room."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED
from okbench.learners.compiled.lanes import Entries, kernel_row
from okbench.learners.compiled.losses import NOT_POSITIVE, step
from okbench.learners.compiled.rules.budget import (
    CROWDED,
    FINISHED,
    Supports,
    add,
    crowded,
    fill,
    leave,
    score,
)

TIE = (
    1e-10  # of a step: margins that are equal but for rounding are common, with two supports always
)


class Keeping(NamedTuple):
    """A Budget Perceptron in numbers."""

    budget: int
    margin: float  # rows with a margin up to it join
    step: float
    sharpness: float  # -1 / (2 width²)


@compiled(fastmath=FUSED)
def most_redundant(supports: Supports, size: int, labels: Any, reached: Any, tie: float) -> int:
    """How many joins younger than the oldest the support is that keeps the largest margin without
    its own coefficients; the oldest of equals. `reached` holds the scores at the supports."""
    coefficients = supports.coefficients
    best, largest = 0, -math.inf
    for place in range(size):
        slot = supports.order[place]
        if len(coefficients) == 1:
            lead = labels[slot] * (reached[0, slot] - coefficients[0, slot])
        else:
            label, rival = int(labels[slot]), -math.inf
            for column in range(len(coefficients)):
                if column != label:
                    rival = max(rival, reached[column, slot] - coefficients[column, slot])
            lead = reached[label, slot] - coefficients[label, slot] - rival
        if lead > largest + tie:
            best, largest = place, lead
    return best


@compiled(fastmath=FUSED)
def withdraw(supports: Supports, slot: int, sharpness: float, reached: Any, kernel: Any) -> None:
    """Take what the support in `slot` adds out of the scores at all supports."""
    held, lanes, coefficients = supports.entries, supports.lanes, supports.coefficients
    width = coefficients.shape[1]
    kernel_row(
        held.values, held.columns, held.starts[slot], held.stops[slot], held.squared_norms[slot],
        lanes.matrix, lanes.place, lanes.squared_norms, width, sharpness, kernel, 0,
    )  # fmt: skip
    for column in range(len(coefficients)):
        for lane in range(width):
            reached[column, lane] -= coefficients[column, slot] * kernel[0, lane]


@compiled(fastmath=FUSED)
def walk(
    rows: Entries, targets: Any, first: int, position: int, supports: Supports, size: int,
    rule: Keeping, labels: Any, reached: Any, other: Any, scores: Any, kernel: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates)."""
    coefficients = supports.coefficients
    width = coefficients.shape[1]
    updates = 0
    for i in range(first, len(targets)):
        score(rows, i, supports, size, rule.sharpness, kernel, scores)
        _, plus, minus, lead = step(NOT_POSITIVE, scores, i, targets[i], 0.0)
        if not lead <= rule.margin:
            continue
        if crowded(rows, i, supports.lanes):
            return CROWDED, i, size, updates
        updates += 1
        full = size == rule.budget
        place = size
        if full:
            place = most_redundant(supports, size, labels, reached, TIE * rule.step)
        slot = supports.order[place]
        if full:
            withdraw(supports, slot, rule.sharpness, reached, other)
        for column in range(len(coefficients)):  # an empty slot has coefficients of 0
            leaving = coefficients[column, slot] * kernel[0, slot]
            reached[column, slot] = scores[i, column] - leaving
        if full:
            leave(supports, size, place)
            size -= 1
        fill(supports, slot, rows, i, position + i)
        labels[slot] = targets[i]
        kernel[0, slot] = 1.0
        change = rule.step * (targets[i] if len(coefficients) == 1 else 1.0)
        add(coefficients, slot, plus, minus, change)
        for lane in range(width):
            add(reached, lane, plus, minus, change * kernel[0, lane])
        size += 1
    return FINISHED, len(targets), size, updates
