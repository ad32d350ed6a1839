"""BSGD (Wang, Crammer and Vucetic 2012, as BudgetedSVM does it) as a plain NumPy loop.

`targets` are class positions, or -1/+1 when there is one column. Returned are the scores before
each row was learned, the vectors, and their coefficients (vectors × columns).

With `literal`, coefficients shrink at every row as stated, and rounding decides which of
many equal ones is the smallest; without, what all share is left out, and the oldest is.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.expansions import direction

ALIKE = 1e-12  # relative difference of losses, and of sums from 0, that rounding might have made
AS_GOOD = 2e-15  # the same of two places between two vectors, whose values are less rounded
GOLDEN = (np.sqrt(np.longdouble(5)) - 1) / 2
SHORTEST = 2e-4  # of the bracket in which the golden section search goes on


def bsgd(
    X, targets, *, n_columns, budget, width, decay, merging, literal=False, dtype=np.float64
):  # fmt: skip
    X = X.astype(dtype)
    vectors = np.empty((0, X.shape[1]), dtype)
    coefficients = np.empty((0, n_columns), dtype)
    unit = dtype(2 if n_columns == 1 else 1)  # one column is the lead over the other
    decay, sharpness = dtype(decay), -dtype(0.5) / dtype(width) ** 2
    all_scores = np.zeros((len(X), n_columns), dtype)
    for n, (x, target) in enumerate(zip(X, targets, strict=True), start=1):
        kernel = np.exp(sharpness * ((vectors - x) ** 2).sum(axis=1))
        shared = dtype(1) if literal or n == 1 else 1 / ((n - 1) * decay)
        all_scores[n - 1] = scores = shared * (kernel @ coefficients)
        change = unit * np.asarray(moved(n, n_columns, scores, target), dtype)
        if literal:
            coefficients *= 1 - 1 / dtype(n)
        if not change.any():
            continue
        if n > 1:
            change *= 1 / (n * decay) if literal else 1
        elif not literal:
            change *= decay
        same = np.flatnonzero(np.round(kernel.astype(float), 8) == 1.0)
        if len(vectors) == budget and len(same):
            coefficients[same[-1]] += change if merging else 0
            continue
        vectors = np.vstack([vectors, x])
        coefficients = np.vstack([coefficients, change])
        if len(vectors) > budget:
            if merging:
                no_sum = dtype(1e-4) * (1 if literal else n * decay)
                vectors, coefficients = merge(vectors, coefficients, sharpness, no_sum)
            else:
                vectors, coefficients = remove(vectors, coefficients)
    return all_scores, vectors, coefficients * (1 if literal else 1 / (len(X) * decay))


def moved(n, n_columns, scores, target):
    """+1 and -1 in the columns that a row moves."""
    if n_columns == 1:
        return [target] if n == 1 or target * scores[0] < 1 else [0]
    label = int(target)
    if n == 1:
        first = np.zeros(n_columns)
        first[label], first[(label + 1) % n_columns] = 1, -1
        return first
    change = direction("multiclass", scores, target)
    return change if 1 - change @ scores > 0 else 0 * change


def remove(vectors, coefficients):
    lightest = np.argmin((coefficients**2).sum(axis=1))
    return np.delete(vectors, lightest, axis=0), np.delete(coefficients, lightest, axis=0)


def merge(vectors, coefficients, sharpness, no_sum):
    a = np.argmin((coefficients**2).sum(axis=1))
    log_kernel = sharpness * ((vectors - vectors[a]) ** 2).sum(axis=1)
    sums = coefficients + coefficients[a]
    sums[np.abs(sums) <= ALIKE * (np.abs(coefficients) + np.abs(coefficients[a]))] = no_sum
    m1, m2 = (coefficients[a] / sums).sum(axis=1), (coefficients / sums).sum(axis=1)
    h = np.array([best(*each) for each in zip(m1, m2, log_kernel, strict=True)])
    of_a, of_b = np.exp((1 - h) ** 2 * log_kernel), np.exp(h**2 * log_kernel)
    merged = of_a[:, None] * coefficients[a] + of_b[:, None] * coefficients
    own = coefficients[a] ** 2 + coefficients**2
    both = 2 * np.exp(log_kernel)[:, None] * coefficients[a] * coefficients
    loss = (own + both - merged**2).sum(axis=1)
    loss[a] = np.inf
    b = np.argmax(loss - loss.min() <= ALIKE * own.sum(axis=1))  # the oldest
    place = max(h[b], 0)
    vectors, coefficients = vectors.copy(), coefficients.copy()
    vectors[a] = place * vectors[a] + (1 - place) * vectors[b]
    coefficients[a] = merged[b]
    return np.delete(vectors, b, axis=0), np.delete(coefficients, b, axis=0)


def best(m1, m2, log_kernel):
    """h at which m1 k^((1-h)²) + m2 k^(h²) is largest, by golden section search."""

    def value(h):
        return m1 * np.exp((1 - h) ** 2 * log_kernel) + m2 * np.exp(h**2 * log_kernel)

    low, high = (0, 1) if m1 * m2 > 0 else (1, 6) if m1 > 0 else (-5, 0)
    golden = type(log_kernel)(GOLDEN)
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = value(left), value(right)
    while high - low >= SHORTEST:
        if at_left - AS_GOOD * abs(at_left) > at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = value(right)
    return (low + high) / 2
