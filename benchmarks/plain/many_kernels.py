"""Raker, AdaRaker (Shen et al.) and online learning with kernel expansions as plain NumPy loops.

`targets` are -1/+1 (binary) or values (regression). Every function returns the scores before each
row was learned. `frequencies` hold one matrix (components × inputs) per kernel.
"""

from __future__ import annotations

import numpy as np


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
