"""RRF (Nguyen et al. 2017, Algorithm 1) as a plain NumPy loop.

Rows and targets as those of `expansions`; the scores before each row was learned are returned, with
the weights and the log-scales at the end.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.expansions import direction, margin_of


def pull(loss, task, scores, target, epsilon=0.0):
    """What a row adds to the weights of every column, in units of step × features."""
    if task == "regression":
        residual = target - scores[0]
        if abs(residual) <= epsilon:
            return np.zeros(1)
        return np.array([residual if loss == "l2" else np.sign(residual)])
    margin = margin_of(task, scores, target)
    if loss == "hinge":
        return (margin < 1.0) * direction(task, scores, target)
    return np.exp(-np.logaddexp(0.0, margin)) * direction(task, scores, target)


def rrf(
    X, targets, *, task, loss, noise, weights, log_scales, step, scale_step, decay=0.0, epsilon=0.0
):
    weights, log_scales = weights.copy(), log_scales.copy()
    all_scores = np.empty((len(X), len(weights)))
    for i, target in enumerate(targets):
        scaled = X[i] * np.exp(log_scales)
        angles = scaled @ noise
        cosines, sines = np.cos(angles), np.sin(angles)
        features = np.concatenate([cosines, sines])
        all_scores[i] = scores = weights @ features
        change = pull(loss, task, scores, target, epsilon)
        of_cosines, of_sines = np.split(change @ weights, 2)
        slopes = cosines * of_sines - sines * of_cosines
        weights = (1.0 - step * decay) * weights + step * np.outer(change, features)
        log_scales += scale_step * scaled * (noise @ slopes)
    return all_scores, weights, log_scales
