"""Four learners of Table 1 in Lu et al. (2016) that it does not run, as plain NumPy loops.

Rules as in `docs/learners.md`; arguments and results as those of `expansions`. Nothing here is
kept from row to row but the supports: Gram matrices, margins, neighbours and optima are found anew.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.expansions import Supports, direction, margin_of


def gram(supports):
    rows = [supports.kernel(supports.vectors[s], supports.squares[s]) for s in range(supports.size)]
    return np.array(rows).reshape(supports.size, supports.size)


def budget_perceptron(X, targets, *, task, n_columns, budget, width, step, margin):
    supports = Supports(X, n_columns, budget, width)
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        all_scores[i] = scores = supports.scores(supports.kernel(X[i], supports.norms[i]))
        if margin_of(task, scores, target) > margin:
            continue
        if supports.size == budget:
            without = supports.coefficients @ gram(supports) - supports.coefficients
            labels = targets[supports.rows[:budget]]
            pairs = zip(without.T, labels, strict=True)
            leads = np.array([margin_of(task, *pair) for pair in pairs])
            supports.remove(int(np.argmax(leads >= leads.max() - 1e-10 * step)))
        supports.append(i, step * direction(task, scores, target))
    return supports.found(all_scores)


def passive_aggressive(X, targets, takers, *, task, n_columns, budget, width, aggressiveness):
    """BPA for any choice of who takes over: `takers(K, r)`, places in K, whose last is the row's.

    For each support r the minimum over coefficients of ½|f' - f|² + C loss(f', row), where
    f' = f - c_r κ(x_r, .) + what the takers get; and of these minima the least.
    """
    supports = Supports(X, n_columns, budget, width)
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        kernel = supports.kernel(X[i], supports.norms[i])
        all_scores[i] = scores = supports.scores(kernel)
        loss = 1 - margin_of(task, scores, target)
        if loss <= 0:
            continue
        length = min(aggressiveness, loss if task == "binary" else loss / 2)
        change = length * direction(task, scores, target)
        m = supports.size
        if m < budget:
            supports.append(i, change)
            continue
        K = np.block([[gram(supports), kernel[:, None]], [kernel[None], np.ones((1, 1))]])
        best, lowest = None, np.inf
        for r in range(m):
            places = takers(K, r)
            share = np.linalg.solve(K[np.ix_(places, places)], K[places, r])
            moved = np.zeros((n_columns, m + 1))
            moved[:, r] = -supports.coefficients[:, r]
            moved[:, places] += np.outer(supports.coefficients[:, r], share)
            moved[:, m] += change
            left = max(0.0, 1 - margin_of(task, scores + moved @ K[m], target))
            cost = 0.5 * np.sum(moved @ K * moved) + aggressiveness * left
            if cost < lowest:
                best, lowest = (r, moved), cost
        r, moved = best
        supports.coefficients += moved[:, :m]
        yield_to(supports, r, i, moved[:, m], takers)
    return supports.found(all_scores)


def yield_to(supports, slot, i, change, takers):
    """The row takes the slot, or the end of the list."""
    if takers is everyone:
        supports.remove(slot)
        supports.append(i, change)
    else:
        supports.put(slot, i, change)


def everyone(K, r):
    return np.delete(np.arange(len(K)), r)


def nearest_and_new(K, r):
    near = K[r, :-1].copy()
    near[r] = -np.inf
    nearest = [int(np.argmax(near))] if len(near) > 1 else []
    return np.array([*nearest, len(K) - 1])


def bpap(X, targets, **settings):
    return passive_aggressive(X, targets, everyone, **settings)


def bpann(X, targets, **settings):
    return passive_aggressive(X, targets, nearest_and_new, **settings)


def twin_machine(K, plus, minus, cost, accuracy):
    """The dual, both examples of each vector apart, one multiplier after the other."""
    a, b = np.zeros(len(K)), np.zeros(len(K))
    scores = np.zeros(len(K))
    off = np.inf
    while off > accuracy:
        off = 0.0
        for j in range(len(K)):
            for multipliers, weights, sign in ((a, plus, 1.0), (b, minus, -1.0)):
                to = np.clip(multipliers[j] + 1 - sign * scores[j], 0.0, cost * weights[j])
                moved = to - multipliers[j]
                multipliers[j] = to
                scores += sign * moved * K[j]
                off = max(off, abs(moved))
    return a - b


def tvm(X, targets, *, budget, width, cost, margin, merging, accuracy=1e-9, ridge=0.0):
    vectors, plus, minus = np.empty((0, X.shape[1])), np.empty(0), np.empty(0)
    coefficients, rows = np.empty(0), np.empty(0, dtype=int)
    all_scores = np.empty((len(X), 1))

    def kernels(U, V):
        return np.exp(-((U[:, None] - V) ** 2).sum(axis=2) / (2 * width**2))

    for i, target in enumerate(targets):
        all_scores[i] = kernels(X[i : i + 1], vectors) @ coefficients
        if target * all_scores[i, 0] > margin:
            continue
        vectors, rows = np.vstack([vectors, X[i]]), np.append(rows, i)
        plus, minus = np.append(plus, target > 0), np.append(minus, target < 0)
        K = kernels(vectors, vectors)
        if len(rows) > budget:
            near = K.copy()
            kind = plus >= minus
            if merging == "class" and max(sum(kind), sum(~kind)) > 1:
                near[np.not_equal.outer(kind, kind)] = -1
            near[np.triu_indices(len(K))] = -1
            second, first = np.unravel_index(np.argmax(near), near.shape)
            both, weights = [first, second], (plus + minus)[[first, second]]
            vectors[first] = weights @ vectors[both] / weights.sum()
            plus[first], minus[first] = plus[both].sum(), minus[both].sum()
            rows[first] = rows[both].min()
            vectors, plus, minus, rows = (
                np.delete(array, second, axis=0) for array in (vectors, plus, minus, rows)
            )
            K = kernels(vectors, vectors)
        ridged = K + ridge * np.eye(len(K))
        coefficients = twin_machine(ridged, plus, minus, cost, accuracy)
    return all_scores, rows, coefficients[None]
