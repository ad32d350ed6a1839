"""DualSGD (Le et al. 2016, as its authors' program does it) as a plain NumPy loop.

Rows and targets as those of `expansions`; the scores before each row was learned are returned, with
the coefficients (columns × vectors) and the weights (columns × 2 components) at the end.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.expansions import direction
from benchmarks.plain.rrf import pull


def dualsgd(
    X, targets, *, task, n_columns, loss, budget, handed_over, width, decay, frequencies,
    epsilon=0.0, stale=False,
):  # fmt: skip
    def features(x):
        angles = x @ frequencies
        return np.concatenate([np.cos(angles), np.sin(angles)]) / np.sqrt(frequencies.shape[1])

    vectors = np.empty((budget, X.shape[1]))
    coefficients = np.zeros((n_columns, budget))
    weights = np.zeros((n_columns, 2 * frequencies.shape[1]))
    size, all_scores = 0, np.zeros((len(X), n_columns))
    for t, target in enumerate(targets):
        if t > 0:
            distances = ((vectors[:size] - X[t]) ** 2).sum(axis=1)
            kernel = np.exp(-distances / (2.0 * width**2))
            all_scores[t] = coefficients[:, :size] @ kernel + weights @ features(X[t])
        change = pull(loss, task, all_scores[t], target, epsilon)
        if loss == "hinge" and task != "regression":
            moved = direction(task, all_scores[t], target)
            change = (moved @ all_scores[t] <= 1.0) * moved
        coefficients *= t / (t + 1)
        weights *= t / (t + 1)
        if size == budget:
            order = np.argsort((coefficients**2).sum(axis=0), kind="stable")[:handed_over]
            for i in order:
                weights += np.outer(coefficients[:, i], features(vectors[i]))
            kept = np.setdiff1d(np.arange(budget), order)
            size = len(kept)
            vectors[:size], coefficients[:, :size] = vectors[kept], coefficients[:, kept]
        vectors[size] = X[t]
        if not stale:
            coefficients[:, size] = 0.0
        step = change / (decay * (t + 1))
        if task != "multiclass":
            coefficients[:, size] = step
        else:
            label = int(target)
            rival = np.argmax(np.where(np.arange(n_columns) == label, -np.inf, all_scores[t]))
            if t > 0:  # nobody has a score to be the runner-up at first
                coefficients[rival, size] = step[rival]
            coefficients[label, size] = step[label]
        size += 1
    return all_scores, coefficients[:, :size], weights
