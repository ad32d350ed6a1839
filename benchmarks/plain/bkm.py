"""The Bayesian kernel machine as a plain NumPy loop over particles, in either precision."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def bkm(
    X: NDArray[Any],
    labels: NDArray[Any],
    weights: NDArray[Any],
    scales: NDArray[Any],
    noise: NDArray[Any],
    batches: Iterable[NDArray[Any]],
    *,
    step: float = 1e-3,
    decay: float = 1e-3,
    bandwidth: float | None = None,
    moves_scales: bool = True,
    factor: float = 1.0,
    bias: bool = True,
    mean: bool = False,
    root: str = "forgetting",
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(weights, scales) after one update per batch. Weights are particles × classes × features,
    noise is components × inputs, labels are positions of classes."""
    weights, scales, squares = weights.copy(), scales.copy(), None
    count, n_classes = weights.shape[:2]
    for chosen in batches:
        gradients = []
        for W, g in zip(weights, scales, strict=True):
            x = X[chosen]
            phi, sines, cosines = features(x, g, noise, factor, bias)
            residuals = softmax(phi @ W.T) - np.eye(n_classes, dtype=X.dtype)[labels[chosen]]
            if mean:
                residuals /= len(chosen)
            p = residuals @ W
            v = cosines * p[:, len(noise) : 2 * len(noise)] - sines * p[:, : len(noise)]
            by_scale = (x * (v @ noise)).sum(axis=0)
            by_weight = (decay * W + residuals.T @ phi).ravel()
            gradients.append(np.r_[by_weight, by_scale] if moves_scales else by_weight)
        flat = weights.reshape(count, -1)
        theta = np.hstack([flat, scales]) if moves_scales else flat
        G = np.array(gradients)
        norms = (theta * theta).sum(axis=1)
        distances = np.maximum(norms[:, None] + norms - 2 * theta @ theta.T, 0)
        np.fill_diagonal(distances, 0)
        median = np.median(distances) / (2 * np.log(count + 1))
        squared = median if bandwidth is None else bandwidth**2
        if squared == 0:
            kernel, repulsion = (distances == 0).astype(X.dtype), 0.0
        else:
            kernel = np.exp(-distances / (2 * squared)).astype(X.dtype)
            repulsion = (theta * kernel.sum(axis=1)[:, None] - kernel @ theta) / squared
        psi = (repulsion - kernel @ G) / count
        if root == "forgetting":
            squares = psi**2 if squares is None else 0.9 * squares + 0.1 * psi**2
        elif root == "cumulative":
            squares = (0 if squares is None else squares) + G**2
        if squares is not None:
            psi = psi / (1e-6 + np.sqrt(squares))
        theta = theta + step * psi
        weights = theta[:, : flat.shape[1]].reshape(weights.shape)
        scales = theta[:, flat.shape[1] :] if moves_scales else scales
    return weights, scales


def features(
    X: NDArray[Any], g: NDArray[Any], noise: NDArray[Any], factor: float, bias: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """All features of a particle, and its sines and cosines."""
    angles = (X * g) @ noise.T
    sines, cosines = factor * np.sin(angles), factor * np.cos(angles)
    constant = [np.ones((len(X), 1), X.dtype)] if bias else []
    return np.hstack([cosines, sines, *constant]), sines, cosines


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
