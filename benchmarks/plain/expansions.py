"""The learners of Lu et al. (2016) that keep support vectors, as plain NumPy loops.

`targets` are -1/+1 (binary), class positions (multi-class, n_columns > 1) or values (regression).
Each function returns the scores before each row was learned (rows × columns), the supports as
positions in the stream, and their coefficients (columns × supports).
"""

from __future__ import annotations

import numpy as np


class Supports:
    """Support vectors in order, with room for `room` of them."""

    def __init__(self, X, n_columns, room, width):
        self.X, self.width = X, width
        self.norms = np.einsum("ij,ij->i", X, X)
        self.vectors = np.empty((room, X.shape[1]))
        self.squares = np.empty(room)
        self.coefficients = np.zeros((n_columns, room))
        self.rows = np.zeros(room, dtype=np.int64)
        self.size = 0

    def kernel(self, x, square):
        """Gaussian kernel of a row with every support."""
        m = self.size
        distances = square + self.squares[:m] - 2.0 * (self.vectors[:m] @ x)
        return np.exp(-distances / (2.0 * self.width**2))

    def scores(self, kernel):
        return self.coefficients[:, : self.size] @ kernel

    def put(self, slot, i, change):
        self.vectors[slot] = self.X[i]
        self.squares[slot] = self.norms[i]
        self.rows[slot] = i
        self.coefficients[:, slot] = change

    def append(self, i, change):
        self.put(self.size, i, change)
        self.size += 1

    def remove(self, slot):
        m = self.size
        for array in (self.vectors, self.squares, self.rows):
            array[slot : m - 1] = array[slot + 1 : m]
        self.coefficients[:, slot : m - 1] = self.coefficients[:, slot + 1 : m]
        self.size -= 1

    def found(self, all_scores):
        m = self.size
        return all_scores, self.rows[:m].copy(), self.coefficients[:, :m].copy()


def margin_of(task, scores, target):
    """y f, or the lead of the own class over the best other one."""
    if task == "binary":
        return target * scores[0]
    label = int(target)
    return scores[label] - np.delete(scores, label).max()


def direction(task, scores, target):
    """+1 and -1 in the columns that a classification step moves."""
    if task == "binary":
        return np.array([target])
    label = int(target)
    moved = np.zeros(len(scores))
    moved[label] = 1.0
    moved[np.argmax(np.where(np.arange(len(scores)) == label, -np.inf, scores))] = -1.0
    return moved


def is_wrong(task, scores, target):
    if task == "binary":
        return (1.0 if scores[0] >= 0 else -1.0) != target
    return int(np.argmax(scores)) != int(target)


def mistake(task, scores, target, epsilon):
    """What the Perceptrons add, before the step: zeros when there is no mistake."""
    if task == "regression":
        residual = target - scores
        return np.sign(residual) * (abs(residual) > epsilon)
    return direction(task, scores, target) * is_wrong(task, scores, target)


def gradient(task, scores, target, epsilon):
    """What gradient descent on the hinge or squared loss adds."""
    if task == "regression":
        residual = target - scores
        return residual * (abs(residual) > epsilon)
    return direction(task, scores, target) * (margin_of(task, scores, target) < 1)


def unbounded(X, targets, *, task, n_columns, width, step, epsilon, added):
    supports = Supports(X, n_columns, len(X), width)
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        all_scores[i] = scores = supports.scores(supports.kernel(X[i], supports.norms[i]))
        change = added(task, scores, target, epsilon)
        if change.any():
            supports.append(i, step * change)
    return supports.found(all_scores)


def perceptron(X, targets, **settings):
    return unbounded(X, targets, **settings, added=mistake)


def ogd(X, targets, **settings):
    return unbounded(X, targets, **settings, added=gradient)


def norma(X, targets, *, width, step, decay, nu, epsilon):
    supports = Supports(X, 1, len(X), width)
    all_scores = np.empty((len(X), 1))
    for i, target in enumerate(targets):
        all_scores[i] = score = supports.scores(supports.kernel(X[i], supports.norms[i]))
        supports.coefficients *= 1 - decay * step
        if abs(target - score[0]) > epsilon:
            supports.append(i, step * np.sign(target - score[0]))
            epsilon += (1 - nu) * step
        else:
            epsilon -= nu * step
    return supports.found(all_scores)


def rbp(X, targets, *, task, n_columns, budget, width, step, epsilon, uniforms):
    supports = Supports(X, n_columns, budget, width)
    uniforms = iter(uniforms)
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        all_scores[i] = scores = supports.scores(supports.kernel(X[i], supports.norms[i]))
        change = mistake(task, scores, target, epsilon)
        if change.any():
            if supports.size == budget:
                supports.remove(int(budget * next(uniforms)))
            supports.append(i, step * change)
    return supports.found(all_scores)


def shrinking_factor(delta, mu, rest, reference):
    a, b = delta**2 - 2 * delta * mu, 2 * delta
    if a + b + rest <= 0:
        return 1.0
    if a == 0:
        return min(max(-rest / b, 0.0), 1.0)
    root = np.sqrt(b**2 - 4 * a * rest)
    return (-b - root) / (2 * a) if a < 0 and reference else (-b + root) / (2 * a)


def forgetron(
    X, targets, *, task, n_columns, budget, width, step, epsilon, reference=True
):  # fmt: skip
    supports = Supports(X, n_columns, budget + 1, width)
    q = mistakes = 0.0
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        all_scores[i] = scores = supports.scores(supports.kernel(X[i], supports.norms[i]))
        if task == "binary":
            change = np.array([target]) * (target * scores[0] <= 0)
            mistakes += is_wrong(task, scores, target)
        else:
            change = mistake(task, scores, target, epsilon)
            mistakes += change.any()
        if not change.any():
            continue
        supports.append(i, step * change)
        if supports.size <= budget:
            continue
        oldest = supports.coefficients[:, 0]
        own = int(np.argmax(oldest))
        kernel = supports.kernel(supports.vectors[0], supports.squares[0])
        mu = supports.scores(kernel)[own]
        if task != "multiclass":
            mu = abs(mu) if task == "regression" else np.sign(oldest[0]) * mu
        delta = abs(oldest[own])
        factor = shrinking_factor(delta, mu, q - 15 / 32 * mistakes, reference)
        supports.coefficients *= factor
        q += (delta * factor) ** 2 + 2 * delta * factor * (1 - factor * mu)
        supports.remove(0)
    return supports.found(all_scores)


def bogd(
    X, targets, *, task, n_columns, budget, width, step, decay, clip, epsilon, uniforms=()
):  # fmt: skip
    supports = Supports(X, n_columns, budget, width)
    uniforms = iter(uniforms)
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        all_scores[i] = scores = supports.scores(supports.kernel(X[i], supports.norms[i]))
        supports.coefficients *= 1 - step * decay
        if task == "binary":
            change = np.array([target]) * (target * scores[0] <= 1)
        else:
            change = gradient(task, scores, target, epsilon)
        if not change.any():
            continue
        full = supports.size == budget
        if full and task == "binary":
            supports.remove(int(budget * next(uniforms)))
            if budget > 1:
                supports.coefficients *= budget / (budget - 1)
        elif full:
            supports.remove(0)
        supports.append(i, step * change)
        held = supports.coefficients[:, : supports.size]
        if full and task == "binary":
            held *= min(1.0, step * clip / abs(held).max())
        elif task == "multiclass":
            np.minimum(held, step * clip, out=held)
    return supports.found(all_scores)


def projectron(
    X, targets, *, task, n_columns, budget, width, step=1.0, epsilon=0.1, guard=0.0, on_margin=False
):
    supports = Supports(X, n_columns, budget, width)
    inverse = np.empty((0, 0))
    limit = 0.25 * np.sqrt((budget + 1) / np.log(budget + 1))
    all_scores = np.empty((len(X), n_columns))
    for i, target in enumerate(targets):
        kernel = supports.kernel(X[i], supports.norms[i])
        all_scores[i] = scores = supports.scores(kernel)
        change = mistake(task, scores, target, epsilon)
        held = supports.coefficients[:, : supports.size]
        p = inverse @ kernel
        rest = 1 - kernel @ p
        if change.any():
            if supports.size == budget or rest == 0 or (guard and rest < guard):
                held += step * np.outer(change, p)
                continue
            supports.append(i, step * change)
            grown = np.zeros((len(p) + 1, len(p) + 1))
            grown[:-1, :-1] = inverse
            ray = np.append(p, -1.0)
            inverse = grown + np.outer(ray, ray) / rest
        elif on_margin and supports.size:
            loss = 1 - margin_of(task, scores, target)
            if not (0 < loss < 1 or (loss > 0 and task == "multiclass")):
                continue
            norm = kernel @ p
            if task == "binary":
                gram = [supports.kernel(supports.vectors[s], supports.squares[s])
                        for s in range(supports.size)]  # fmt: skip
                norm = p @ np.array(gram) @ p
            length = min(loss / norm, 1.0)
            if length * (2 * loss - length * norm - 2 * limit * np.sqrt(max(rest, 0))) >= 0:
                held += length * np.outer(direction(task, scores, target), p)
    return supports.found(all_scores)


def bpas(X, targets, *, task, n_columns, budget, width, aggressiveness):
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
        if supports.size < budget:
            supports.append(i, change)
            continue
        old = supports.coefficients
        new = old * kernel + change[:, np.newaxis]
        reached = scores[:, np.newaxis] - old * kernel + new
        if task == "binary":
            margins = target * reached[0]
        else:
            margins = reached[int(target)] - np.delete(reached, int(target), axis=0).max(axis=0)
        damage = 0.5 * ((old**2).sum(0) + (new**2).sum(0) - 2 * kernel * (old * new).sum(0))
        slot = int(np.argmin(damage + aggressiveness * np.maximum(0, 1 - margins)))
        supports.put(slot, i, new[:, slot])
    return supports.found(all_scores)
