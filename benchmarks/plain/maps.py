"""FOGD and NOGD (Lu et al. 2016, Algorithms 1 and 2) as plain NumPy loops.

Each function takes rows and targets as those of `expansions` do, and returns the scores before
each row was learned: rows × columns.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.expansions import Supports, gradient


def fogd(X, targets, *, task, n_columns, frequencies, step, epsilon):
    weights = np.zeros((n_columns, 2 * frequencies.shape[1]))
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        angles = X[i] @ frequencies
        z = np.concatenate([np.cos(angles), np.sin(angles)])
        all_scores[i] = scores = weights @ z
        change = gradient(task, scores, target, epsilon)
        if change.any():
            weights += step * np.outer(change, z)
    return all_scores


def nogd(X, targets, *, task, n_columns, budget, rank, width, step, epsilon, paper_switch=False):
    supports = Supports(X, n_columns, budget, width)
    basis = weights = None
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        kernel = supports.kernel(X[i], supports.norms[i])
        scores = supports.scores(kernel) if basis is None else weights @ (basis @ kernel)
        all_scores[i] = scores
        change = gradient(task, scores, target, epsilon)
        if change.any() and basis is None and supports.size < budget:
            supports.append(i, step * change)
        elif change.any():
            if basis is None:
                basis, weights = nystroem(supports, rank)
            weights += step * np.outer(change, basis @ kernel)
        if paper_switch and basis is None and supports.size == budget:
            basis, weights = nystroem(supports, rank)
    return all_scores


def nystroem(supports, rank):
    """T = Λ^(-1/2) Vᵀ of the largest eigenvalues of the Gram matrix, and the weights c T⁺."""
    kernels = map(supports.kernel, supports.vectors, supports.squares)
    eigenvalues, vectors = np.linalg.eigh(np.array(list(kernels)))
    basis = vectors[:, -rank:].T / np.sqrt(eigenvalues[-rank:, np.newaxis])
    return basis, supports.coefficients @ np.linalg.pinv(basis)
