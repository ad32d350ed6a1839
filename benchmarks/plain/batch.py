"""Batch learners as plain NumPy loops: random features by mini-batches, LLSVM, k-means.

Rows and targets as those of `expansions`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.rrf import pull


def mini_batches(
    X, targets, *, task, loss, noise, weights, log_scales, batches, step, scale_step=0.0,
    decay=0.0, phases=None,
):  # fmt: skip
    """Weights and log-scales after the mini-batches; features are cosines alone where there are
    phases."""
    weights, log_scales = weights.copy(), log_scales.copy()
    for chosen in batches:
        pulls, slopes = np.zeros_like(weights), np.zeros_like(log_scales)
        for i in chosen:
            scaled = X[i] * np.exp(log_scales)
            features, risen = features_of(scaled @ noise, phases)
            change = pull(loss, task, weights @ features, targets[i])
            pulls += np.outer(change, features)
            slopes += scaled * (noise @ risen(change @ weights))
        weights = (1.0 - step * decay) * weights + step * pulls / len(chosen)
        log_scales += scale_step * slopes / len(chosen)
    return weights, log_scales


def features_of(angles, phases=None):
    """The features of a row, and how a score rises with its angles, given the score's weights."""
    if phases is not None:
        angles = angles + phases
        return np.cos(angles), lambda weights: -np.sin(angles) * weights
    cosines, sines = np.cos(angles), np.sin(angles)
    half = len(angles)
    return (
        np.concatenate([cosines, sines]),
        lambda weights: cosines * weights[half:] - sines * weights[:half],
    )


def scores(X, *, noise, weights, log_scales, phases=None):
    angles = (X * np.exp(log_scales)) @ noise
    return np.array([weights @ features_of(row, phases)[0] for row in angles])


def gaussian(X, Z, width):
    """The kernel of every row of X with every row of Z."""
    distances = ((X[:, np.newaxis] - Z[np.newaxis]) ** 2).sum(axis=2)
    return np.exp(-distances / (2.0 * width**2))


def nystroem(Z, width):
    """P = V Λ^(-1/2), of eigenvalues above 1e-5 times the largest."""
    eigenvalues, vectors = np.linalg.eigh(gaussian(Z, Z, width))
    kept = eigenvalues > 1e-5 * eigenvalues[-1]
    return vectors[:, kept] / np.sqrt(eigenvalues[kept])


def k_means(X, centres, seeds, iterations=10):
    """Centres after the iterations; `seeds` gives a row for every centre that has no rows."""
    for _ in range(iterations):
        distances = ((X[:, np.newaxis] - centres[np.newaxis]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        centres = np.array(
            [X[nearest == k].mean(axis=0) if (nearest == k).any() else X[next(seeds)]
             for k in range(len(centres))]
        )  # fmt: skip
    return centres


def dual_descent(features, signs, *, box, orders, weights=None):
    """The weights after a pass in each of the orders, without shrinking."""
    weights = np.zeros(features.shape[1]) if weights is None else weights.copy()
    duals, norms = np.zeros(len(features)), (features**2).sum(axis=1)
    for order in orders:
        for i in order:
            gradient = signs[i] * (weights @ features[i]) - 1.0
            changed = min(max(duals[i] - gradient / norms[i], 0.0), box)
            weights += (changed - duals[i]) * signs[i] * features[i]
            duals[i] = changed
    return weights
