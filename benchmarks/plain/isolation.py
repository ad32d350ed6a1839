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
