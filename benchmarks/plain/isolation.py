"""The isolation kernel and its rivals in plain NumPy, as the paper states them."""

from __future__ import annotations

import math

import numpy as np


def samples(permutations, n_rows, count, size):
    """Samples without replacement across samples, until all rows are used up."""
    permutations = iter(permutations)
    pool, chosen = list(next(permutations)), []
    for _ in range(count):
        sample = []
        while len(sample) < size:
            if not pool:
                pool = [row for row in next(permutations) if row not in sample]
            sample.append(pool.pop(0))
        chosen.append(sample)
    return np.array(chosen)


def nearest_cells(X, points):
    """The number of the nearest point, the lowest of equals; differences column after column."""
    distances = np.zeros((len(X), len(points)))
    for j in range(X.shape[1]):
        distances += (X[:, j, np.newaxis] - points[:, j]) ** 2
    return np.argmin(distances, axis=1)


def tree(X, uniforms):
    """An isolation tree as nested tuples (attribute, threshold, left, right); a leaf is None."""
    depth = math.ceil(math.log2(len(X)))

    def grown(rows, node, level):
        varied = np.flatnonzero(
            rows.min(axis=0, initial=np.inf) < rows.max(axis=0, initial=-np.inf)
        )
        if len(rows) < 2 or level == depth or not len(varied):
            return None
        j = varied[min(int(uniforms[2 * node] * len(varied)), len(varied) - 1)]
        low, high, share = rows[:, j].min(), rows[:, j].max(), uniforms[2 * node + 1]
        threshold = min(max(low * (1.0 - share) + high * share, low), high)
        below = rows[:, j] < threshold
        left = grown(rows[below], 2 * node + 1, level + 1)
        return j, threshold, left, grown(rows[~below], 2 * node + 2, level + 1)

    return grown(X, 0, 0)


def tree_cells(X, root):
    """The leaf of every row; leaves are numbered depth-first, the left one first."""
    cells = np.zeros(len(X), dtype=int)

    def walk(node, rows, number):
        if node is None:
            cells[rows] = number
            return number + 1
        j, threshold, left, right = node
        below = X[rows, j] < threshold
        return walk(right, rows[~below], walk(left, rows[below], number))

    walk(root, np.arange(len(X)), 0)
    return cells


def cells(X, references, permutations, uniforms, partitionings, psi, map):
    """The cell of every row in every partitioning of the references: rows × partitionings."""
    size = min(psi, len(references))
    chosen = samples(permutations, len(references), partitionings, size)
    if map == "nearest":
        return np.stack([nearest_cells(X, references[sample]) for sample in chosen], axis=1)
    shared = np.reshape(uniforms, (partitionings, -1))
    trees = [tree(references[s], own) for s, own in zip(chosen, shared, strict=True)]
    return np.stack([tree_cells(X, root) for root in trees], axis=1)


def one_hot(found, psi):
    """Zeros and ones: column i × psi + j is 1 where partitioning i has cell j."""
    features = np.zeros((len(found), found.shape[1] * psi))
    places = np.arange(found.shape[1]) * psi + found
    np.put_along_axis(features, places, 1.0, axis=1)
    return features


def ik_ogd(
    X, targets, *, n_columns, partitionings, psi, map, step, averages, initial, permutations,
    uniforms,
):  # fmt: skip
    """Scores before each row was learned; the first `initial` rows make the map, at scores of 0."""
    found = cells(X, X[:initial], permutations, uniforms, partitionings, psi, map)
    features = one_hot(found, psi)
    divisor = partitionings if averages else 1
    return _descended(features, targets, n_columns, step, divisor, initial)


def ik_dual(
    X, targets, *, n_columns, partitionings, psi, map, step, averages, initial, permutations,
    uniforms,
):  # fmt: skip
    """The same by kernel values with all rows that had a loss."""
    found = cells(X, X[:initial], permutations, uniforms, partitionings, psi, map)
    divisor = partitionings if averages else 1
    shared = np.array([(found == row).sum(axis=1) for row in found])
    return _kept(shared, targets, n_columns, step, divisor, initial)


def change_of(scores, target, divisor, step=1):
    """What is added to the coefficients of each column: the hinge loss of whole-number scores."""
    change = np.zeros(len(scores))
    if len(scores) == 1:
        if target * scores[0] * step < divisor:
            change[0] = target
        return change
    label = int(target)
    rivals = np.where(np.arange(len(scores)) == label, -np.inf, scores)
    if (scores[label] - rivals.max()) * step < divisor:
        change[label], change[np.argmax(rivals)] = 1, -1
    return change


def _descended(features, targets, n_columns, step, divisor, initial):
    weights = np.zeros((n_columns, features.shape[1]))
    scores = np.zeros((len(features), n_columns))
    for i in range(len(features)):
        sums = weights @ features[i]
        if i >= initial:
            scores[i] = sums * step / divisor
        weights += np.outer(change_of(sums, targets[i], divisor, step), features[i])
    return scores


def _kept(shared, targets, n_columns, step, divisor, initial):
    changes, scores = np.zeros((n_columns, len(shared))), np.zeros((len(shared), n_columns))
    for i in range(len(shared)):
        sums = changes @ shared[i]
        if i >= initial:
            scores[i] = sums * step / divisor
        changes[:, i] = change_of(sums, targets[i], divisor, step)
    return scores


def laplacian(X, Z, psi):
    """psi^(-‖x - z‖₁ / d)."""
    return psi ** -np.abs(X[:, np.newaxis] - Z).mean(axis=2)


def laplacian_ogd(X, targets, *, n_columns, psi, step):
    """Scores before each row was learned."""
    kernel, scores = laplacian(X, X, psi), np.zeros((len(X), n_columns))
    coefficients = np.zeros((n_columns, len(X)))
    for i in range(len(X)):
        scores[i] = coefficients @ kernel[i]
        coefficients[:, i] = step * change_of(scores[i], targets[i], 1)
    return scores


def laplacian_nogd(X, targets, *, n_columns, psi, step, budget, rank, averages):
    """Scores before each row was learned; with `averages` those of the mean of the weights."""
    scores, supports, coefficients = np.zeros((len(X), n_columns)), [], []
    features, updates = None, 0
    for i in range(len(X)):
        if features is None:
            kernel = laplacian(X[i : i + 1], X[supports], psi)[0]
            scores[i] = kernel @ coefficients if supports else 0.0
            change = change_of(scores[i], targets[i], 1)
            if not change.any():
                continue
            if len(supports) < budget:
                supports.append(i)
                coefficients.append(step * change)
                continue
            values, vectors = np.linalg.eigh(laplacian(X[supports], X[supports], psi))
            basis = vectors[:, -rank:] / np.sqrt(values[-rank:])
            features = laplacian(X, X[supports], psi) @ basis
            weights = np.zeros((n_columns, rank))
            totals = np.zeros_like(weights)
            change = change_of(np.zeros(n_columns), targets[i], 1)
        else:
            own = weights @ features[i]
            scores[i] = totals @ features[i] / updates if averages else own
            change = change_of(own, targets[i], 1)
            if not change.any():
                continue
        weights = weights + step * np.outer(change, features[i])
        totals, updates = totals + weights, updates + 1
    return scores
