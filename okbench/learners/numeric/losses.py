"""When an online learner moves, how far, and towards which column of scores.

Written once for all learners and tasks: what the sign of a binary label, the pair of columns of a
multi-class step and the residual of a regression mean stands here alone. The compiled loops call
`step`; a loss is an integer so that the loops compile once and are cached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import exp
from okbench.learners.numeric.lanes import inlined

# Classification: functions of the margin h = y f, or F_y - F_s against the best other class s.
MISTAKE = 0  # the prediction is wrong
NOT_POSITIVE = 1  # h <= 0: a score of zero counts, though it predicts +1
HINGE = 2  # h < 1
HINGE_CLOSED = 3  # h <= 1
AGGRESSIVE = 4  # h < 1, by as much as repairs the loss (passive-aggressive)
LOGISTIC = 5  # log(1 + exp(-h)): always, by 1 / (1 + exp(h))
# Regression: functions of the residual e = y - f, silent within epsilon.
SIGN = 10  # sign(e)
RESIDUAL = 11  # e

NO_COLUMN = -1


@compiled()
def best_rival(scores: Any, row: int, target: int) -> int:
    """The highest scoring class other than the target's, the first of equals."""
    rival = 1 if target == 0 else 0
    for column in range(rival + 1, scores.shape[1]):
        if column != target and scores[row, column] > scores[row, rival]:
            rival = column
    return rival


@compiled()
def step(
    loss: int, scores: Any, row: int, target: float, epsilon: float
) -> tuple[float, int, int, float]:
    """(gain, plus, minus, h): add gain to column `plus` and take it from column `minus`.

    The gain is 0 when nothing is learned, and carries the sign of the label or residual when there
    is a single column (then `minus` is NO_COLUMN). h is the margin, or the residual.
    """
    if loss >= SIGN:
        residual = target - scores[row, 0]
        if not abs(residual) > epsilon:
            return 0.0, 0, NO_COLUMN, residual
        return (np.sign(residual) if loss == SIGN else residual), 0, NO_COLUMN, residual
    if scores.shape[1] == 1:
        margin = target * scores[row, 0]
        gain = _gain(loss, margin, target < 0.0, 1.0)
        return gain * target, 0, NO_COLUMN, margin
    label = int(target)
    rival = best_rival(scores, row, label)
    margin = scores[row, label] - scores[row, rival]
    return _gain(loss, margin, rival < label, 2.0), label, rival, margin


@compiled()
def _gain(loss: int, margin: float, loses_ties: bool, columns: float) -> float:
    if loss == MISTAKE:
        return 1.0 if margin < 0.0 or (margin == 0.0 and loses_ties) else 0.0
    if loss == NOT_POSITIVE:
        return 1.0 if margin <= 0.0 else 0.0
    if loss == HINGE:
        return 1.0 if margin < 1.0 else 0.0
    if loss == HINGE_CLOSED:
        return 1.0 if margin <= 1.0 else 0.0
    if loss == LOGISTIC:
        odds = exp(-abs(margin))
        return (odds if margin > 0.0 else 1.0) / (1.0 + odds)
    return max(0.0, (1.0 - margin) / columns)


@inlined
def add_step(matrix: Any, place: int, plus: int, minus: int, change: float) -> None:
    """Add to row `plus` of a matrix, at a place, and take from row `minus` if there is one."""
    matrix[plus, place] += change
    if minus >= 0:
        matrix[minus, place] -= change


@compiled()
def add_features(weights: Any, plus: int, minus: int, change: float, features: Any) -> None:
    """The same at all places at once, times the features."""
    for place in range(weights.shape[1]):
        add_step(weights, place, plus, minus, change * features[place])


@inlined
def towards(minus: int, target: float, length: float) -> float:
    """A length as `step` gives its gain: with the label's sign where there is a single column."""
    return length * target if minus == NO_COLUMN else length


@compiled()
def margin_terms(minus: int, target: float) -> tuple[float, float]:
    """(factor, least): the margin is the factor times the own score, less the best score of the
    other classes, which is `least` as long as no other class was met."""
    if minus == NO_COLUMN:
        return target, 0.0
    return 1.0, -np.inf


@inlined
def margin_without(scores: Any, coefficients: Any, place: int, target: float) -> float:
    """The margin at a place (columns × places) when what stands there in `coefficients` is taken
    out of its scores."""
    if len(coefficients) == 1:
        return float(target * (scores[0, place] - coefficients[0, place]))
    label, rival = int(target), -np.inf
    for column in range(len(coefficients)):
        if column != label:
            rival = max(rival, scores[column, place] - coefficients[column, place])
    return float(scores[label, place] - coefficients[label, place] - rival)


@inlined
def is_inside(minus: int, margin: float) -> bool:
    """Whether a row without a mistake lies inside the margin: with a single column a score of
    exactly 0 does not, with several columns a tie does."""
    short = 1.0 - margin
    return short > 0.0 and (short < 1.0 or minus != NO_COLUMN)


@inlined
def is_positive(target: float) -> bool:
    """Whether a binary label is that of the positive class."""
    return target > 0.0


@inlined
def is_mistake(loss: int, margin: float, target: float) -> bool:
    """Whether a row with a loss was also predicted wrongly: a score of exactly 0 predicts +1, and
    by NOT_POSITIVE it is a loss of a positive row."""
    return not (loss == NOT_POSITIVE and margin == 0.0 and target > 0.0)


@inlined
def agreement(loss: int, coefficient: float, score: float) -> float:
    """How far the score at a support points where its coefficient does; in regression, how far
    it is from 0."""
    return float(abs(score) if loss >= SIGN else np.sign(coefficient) * score)


@inlined
def own_column(coefficients: Any, slot: int) -> int:
    """The column of a support's own class: that of its largest coefficient, the first of equals."""
    own = 0
    for column in range(1, len(coefficients)):
        if coefficients[column, slot] > coefficients[own, slot]:
            own = column
    return own


@inlined
def lead_factor(minus: int) -> float:
    """By how much a step of 1 for one class and against another moves the scores: a single column
    is the lead of the one over the other."""
    return 2.0 if minus == NO_COLUMN else 1.0


@inlined
def next_column(plus: int, minus: int, n_columns: int) -> int:
    """The other class of a row that has no scores yet: the class that follows its own."""
    return NO_COLUMN if minus == NO_COLUMN else (plus + 1) % n_columns
