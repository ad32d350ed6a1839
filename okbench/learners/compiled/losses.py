"""When an online learner moves, how far, and towards which column of scores.

Written once for all learners and tasks. The compiled loops call `step`; a loss is an integer so
that the loops compile once and are cached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import exp

# Classification: functions of the margin h = y f, or F_y - F_s against the best rival class s.
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
