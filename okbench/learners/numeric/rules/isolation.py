"""The walks over cells: online gradient descent on the hinge loss with the isolation kernel.

Weights count updates, so that every sum is a whole number and no order of summation decides. The
score is the sum times `step` / `divisor`; a row has a loss where its margin, as a whole number,
times the step is below the divisor. The walks fill in whole numbers for scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.numeric.lanes import REASSOCIATED, inlined
from okbench.learners.numeric.losses import NO_COLUMN, best_rival


class Counting(NamedTuple):
    """The learner in numbers."""

    step: float
    divisor: float
    size: int  # cells of a partitioning


class Kept(NamedTuple):
    """Rows with a loss, as their cells, in arrays with room for more."""

    cells: NDArray[Any]
    signs: NDArray[np.int32]  # added to the column `plus`, taken from the column `minus`
    plus: NDArray[np.int32]
    minus: NDArray[np.int32]


@inlined
def find_step(scores: Any, row: int, target: float, rule: Counting) -> tuple[int, int, int]:
    """(change, plus, minus) as `losses.step` has them; the change is 0 without a loss."""
    if scores.shape[1] == 1:
        change, plus, minus, margin = int(target), 0, NO_COLUMN, target * scores[row, 0]
    else:
        change, plus = 1, int(target)
        minus = best_rival(scores, row, plus)
        margin = scores[row, plus] - scores[row, minus]
    return (change if margin * rule.step < rule.divisor else 0), plus, minus


@compiled()
def learn_cells(cells: Any, targets: Any, weights: Any, rule: Counting, scores: Any) -> int:
    """Learn rows in order, reading and writing one weight for each partitioning; how many had a
    loss."""
    updates = 0
    for row in range(len(cells)):
        _score_row(cells, row, weights, rule.size, scores)
        change, plus, minus = find_step(scores, row, targets[row], rule)
        if change == 0:
            continue
        updates += 1
        for i in range(cells.shape[1]):
            place = i * rule.size + cells[row, i]
            weights[plus, place] += change
            if minus >= 0:
                weights[minus, place] -= change
    return updates


@compiled()
def score_cells(cells: Any, weights: Any, size: int, scores: Any) -> None:
    """`learn_cells` without learning."""
    for row in range(len(cells)):
        _score_row(cells, row, weights, size, scores)


@compiled()
def _score_row(cells: Any, row: int, weights: Any, size: int, scores: Any) -> None:
    for column in range(len(weights)):
        total = 0
        for i in range(cells.shape[1]):
            total += weights[column, i * size + cells[row, i]]
        scores[row, column] = total


@compiled()
def learn_ones(
    cells: Any, targets: Any, weights: Any, rule: Counting, features: Any, scores: Any
) -> int:
    """`learn_cells` by inner products with all zeros and ones of a row, and updates of all weights:
    what the map saves. The weights are doubles."""
    updates = 0
    for row in range(len(cells)):
        _score_ones(cells, row, weights, rule.size, features, scores)
        change, plus, minus = find_step(scores, row, targets[row], rule)
        if change != 0:
            updates += 1
            _add(weights, plus, float(change), features)
            if minus >= 0:
                _add(weights, minus, -float(change), features)
        _set_ones(cells, row, rule.size, 0.0, features)
    return updates


@compiled()
def score_ones(cells: Any, weights: Any, size: int, features: Any, scores: Any) -> None:
    """`learn_ones` without learning."""
    for row in range(len(cells)):
        _score_ones(cells, row, weights, size, features, scores)
        _set_ones(cells, row, size, 0.0, features)


@compiled(fastmath=REASSOCIATED)
def _score_ones(cells: Any, row: int, weights: Any, size: int, features: Any, scores: Any) -> None:
    """Any order of summation gives the same whole number."""
    _set_ones(cells, row, size, 1.0, features)
    for column in range(len(weights)):
        total = 0.0
        for place in range(len(features)):
            total += weights[column, place] * features[place]
        scores[row, column] = total


@compiled()
def _set_ones(cells: Any, row: int, size: int, value: float, features: Any) -> None:
    for i in range(cells.shape[1]):
        features[i * size + cells[row, i]] = value


@compiled()
def _add(weights: Any, column: int, change: float, features: Any) -> None:
    for place in range(len(features)):
        weights[column, place] += change * features[place]


@compiled()
def learn_kept(cells: Any, targets: Any, kept: Kept, size: int, rule: Counting, scores: Any) -> int:
    """Learn rows in order by the kernel with every row that had a loss; how many are kept then."""
    for row in range(len(cells)):
        _score_kept(cells, row, kept, size, scores)
        change, plus, minus = find_step(scores, row, targets[row], rule)
        if change != 0:
            kept.cells[size] = cells[row]
            kept.signs[size], kept.plus[size], kept.minus[size] = change, plus, minus
            size += 1
    return size


@compiled()
def score_kept(cells: Any, kept: Kept, size: int, scores: Any) -> None:
    """`learn_kept` without learning."""
    for row in range(len(cells)):
        _score_kept(cells, row, kept, size, scores)


@compiled()
def _score_kept(cells: Any, row: int, kept: Kept, size: int, scores: Any) -> None:
    held, signs, plus, minus = kept
    for column in range(scores.shape[1]):
        scores[row, column] = 0.0
    for s in range(size):
        shared = 0
        for i in range(cells.shape[1]):
            shared += held[s, i] == cells[row, i]
        change = signs[s] * shared
        scores[row, plus[s]] += change
        if minus[s] >= 0:
            scores[row, minus[s]] -= change
