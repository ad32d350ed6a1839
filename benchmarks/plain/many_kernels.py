"""Raker, AdaRaker (Shen et al.) and online learning with kernel expansions as plain NumPy loops.

`targets` are -1/+1 (binary) or values (regression). Every function returns the scores before each
row was learned. `frequencies` hold one matrix (components × inputs) per kernel.
"""

from __future__ import annotations

import numpy as np

from benchmarks.plain.expansions import direction, margin_of


def features(frequencies, x, scale):
    """Cosines, then sines, of every kernel: kernels × 2 components."""
    angles = frequencies @ x
    return scale * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


def pull(task, outputs, target):
    """Minus the derivative of the squared or the logistic loss by each output."""
    if task == "regression":
        return 2.0 * (target - outputs)
    return target / (1.0 + np.exp(target * outputs))


def losses(task, outputs, target):
    if task == "regression":
        return (target - outputs) ** 2
    return np.logaddexp(0.0, -target * outputs)


def softmax(logs):
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def raker(X, targets, *, task, frequencies, step, weight_step, decay):
    """Random features of every kernel, exponential weights over the kernels."""
    scale = 1.0 / np.sqrt(frequencies.shape[1])
    theta = np.zeros((len(frequencies), 2 * frequencies.shape[1]))
    logs, scores = np.zeros(len(frequencies)), np.empty((len(X), 1))
    for t, (x, y) in enumerate(zip(X, targets, strict=True)):
        z = features(frequencies, x, scale)
        outputs = (theta * z).sum(axis=1)
        scores[t] = softmax(logs) @ outputs
        logs -= weight_step * losses(task, outputs, y)
        theta *= 1.0 - step * decay
        theta += step * pull(task, outputs, y)[:, None] * z
    return scores


def adaraker(X, targets, *, task, frequencies, step, decay, base=2):
    """An instance of Raker per length of interval, each begun anew with its interval."""
    n_kernels, size = frequencies.shape[:2]
    depth = depth_of(len(X), base)
    lengths = float(base) ** np.arange(depth)
    steps = np.minimum(0.5, step / np.sqrt(lengths))
    theta = np.zeros((depth, n_kernels, 2 * size))
    logs, top, scores = np.zeros((depth, n_kernels)), np.zeros(depth), np.empty((len(X), 1))
    for t, (x, y) in enumerate(zip(X, targets, strict=True)):
        alive = alive_at(t, base)
        begun = t % lengths == 0
        theta[begun], logs[begun], top[begun] = 0.0, 0.0, np.log(steps[begun])
        z = features(frequencies, x, 1.0 / np.sqrt(size))
        outputs = (theta[:alive] * z).sum(axis=2)
        experts = [softmax(logs[k]) @ outputs[k] for k in range(alive)]
        experts = np.array(experts)
        scores[t] = combined = softmax(top[:alive]) @ experts
        top[:alive] -= steps[:alive] * (losses(task, experts, y) - losses(task, combined, y))
        rates = steps[:alive, None]
        logs[:alive] -= rates * losses(task, outputs, y)
        theta[:alive] *= (1.0 - rates * decay)[:, :, None]
        theta[:alive] += (rates * pull(task, outputs, y))[:, :, None] * z
    return scores


def released(X, targets, *, task, frequencies, steps, decay, layered, base=2):
    """The recurrences of AdaRaker's released program; one step, not layered: a single instance."""
    n_kernels, size = frequencies.shape[:2]
    depth, part = len(steps), 10.0 if task == "regression" else 1.0
    theta = np.zeros((depth, n_kernels, 2 * size))
    kernel_weights = np.full((depth, n_kernels), 1.0 / n_kernels)
    top, scores = np.ones(depth), np.empty((len(X), 1))
    for t, (x, y) in enumerate(zip(X, targets, strict=True)):
        alive = min(depth, alive_at(t, base)) if layered else 1
        for k in range(alive):
            if t % base**k == 0:
                top[k] = steps[k]
        z = features(frequencies, x, 1.0)
        outputs = (theta[:alive] * z).sum(axis=2)
        weights = kernel_weights[:alive]
        experts = (outputs * weights).sum(axis=1) / weights.sum(axis=1)
        scores[t] = top[:alive] @ experts / top.sum() if layered else experts[0]
        for k in range(alive):
            theta[k] *= 1.0 - steps[k] * decay / part
            theta[k] += (steps[k] / part * pull(task, outputs[k], y))[:, None] * z
            kernel_weights[k] = hedged(task, kernel_weights[k], outputs[k], y)
        errors = (experts - y) ** 2 if task == "regression" else np.sign(-y * experts) > 0.0
        top[:alive] = top[:alive] * steps[alive - 1] ** rescaled(errors, 1e-10) + 1e-10
        top /= top.sum()
    return scores


def hedged(task, weights, outputs, y):
    """The released program's next weights of an instance's kernels."""
    if task == "regression":
        weights = weights * 0.5 ** rescaled((y - outputs) ** 2, 1e-12) + 1e-12
        return weights / weights.sum() if weights.max() > 1e10 else weights
    mistakes = np.sign(-y * outputs) > 0.0
    return weights / weights.sum() * 0.5**mistakes + 1e-4


def rescaled(errors, tiny):
    """Errors from -1 to 1."""
    errors = np.asarray(errors, dtype=float)
    middle, radius = (errors.max() + errors.min()) / 2, (errors.max() - errors.min()) / 2
    return (errors - middle + tiny) / (radius + tiny)


def depth_of(n_rows, base):
    """Instances that rows take: floor(log_base(n_rows)) + 1."""
    depth = 1
    while base**depth <= n_rows:
        depth += 1
    return depth


def alive_at(t, base):
    """Instances alive when t rows were learned."""
    return 1 if t == 0 else depth_of(t, base)


def kernel(name, squares, width, products=None):
    """A kernel of the squared distance, or a polynomial one of the inner product."""
    if name.startswith("polynomial-"):
        return (products / width**2) ** int(name[-1])
    squares = np.maximum(squares, 0.0) / width**2
    if name == "gaussian":
        return np.exp(-0.5 * squares)
    return np.exp(-np.sqrt(squares)) if name == "laplacian" else 1.0 / (1.0 + squares)


def rbf(X, targets, *, task, n_columns, width, step, decay, epsilon=0.0):
    """A single kernel; several classes move by the margin over the best other one."""
    norms, keep = (X**2).sum(axis=1), 1.0 - step * decay
    coefficients, scores = np.zeros((n_columns, len(X))), np.empty((len(X), n_columns))
    for t, target in enumerate(targets):
        squares = norms[:t] + norms[t] - 2.0 * X[:t] @ X[t]
        scores[t] = coefficients[:, :t] @ kernel("gaussian", squares, width)
        coefficients *= keep
        if task == "regression":
            residual = target - scores[t]
            coefficients[:, t] = 2.0 * step * residual * (np.abs(residual) > epsilon)
        else:
            moved = direction(task, scores[t], target)
            coefficients[:, t] = step * moved / (1.0 + np.exp(margin_of(task, scores[t], target)))
    return scores


def omkl(
    X, targets, *, kernels, widths, loss, step, keep=1.0, weight_step, update="all",
    combination="weighted", smoothing=0.01, budget=None, uniforms=None,
):  # fmt: skip
    """Expansions of several kernels: losses are squared, logistic, or mistake."""
    n_kernels, norms = len(widths), (X**2).sum(axis=1)
    coefficients, joined = np.zeros((n_kernels, len(X))), []
    logs, scores = np.zeros(n_kernels), np.empty((len(X), 1))
    for t, y in enumerate(targets):
        held = joined if budget is None else joined[-budget:]
        products = X[held] @ X[t]
        squares = norms[held] + norms[t] - 2.0 * products
        outputs = np.array(
            [
                coefficients[p, held] @ kernel(kernels[p], squares, widths[p], products)
                for p in range(n_kernels)
            ]
        )
        shares = softmax(logs)
        scores[t] = shares @ outputs
        if combination == "sampled":
            scores[t] = outputs[min(np.searchsorted(np.cumsum(shares), uniforms[t, -1], "right"),
                                    n_kernels - 1)]  # fmt: skip
        chosen = np.ones(n_kernels, dtype=bool)
        if update == "sampled":
            chosen = uniforms[t, :-1] < (1.0 - smoothing) * shares / shares.max() + smoothing
        gains, errors = stepped(loss, outputs, y)
        logs[chosen] -= weight_step * errors[chosen]
        coefficients[chosen] *= keep
        coefficients[chosen, t] = step * gains[chosen]
        if (gains[chosen] != 0.0).any():
            joined.append(t)
    return scores


def stepped(loss, outputs, y):
    """By how much every kernel moves, in units of its step, and its loss."""
    if loss == "squared":
        return y - outputs, (y - outputs) ** 2
    if loss == "logistic":
        return y / (1.0 + np.exp(y * outputs)), np.logaddexp(0.0, -y * outputs)
    wrong = np.where(outputs >= 0.0, 1.0, -1.0) != y  # an output of 0 predicts the positive class
    return wrong * y, wrong * 1.0
