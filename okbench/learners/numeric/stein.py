"""Loops of Stein variational gradient descent over the numbers of all particles."""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED

KEPT = 0.9  # of the running mean of squares, at every update after the first
SMALLEST = 1e-6  # added to its root
PLAIN, FORGETTING, CUMULATIVE = 0, 1, 2  # steps


@compiled(fastmath=FUSED)
def add_prior(
    particles: Any, gradients: Any, squares: Any, decay: float, n_weights: int, n_moved: int,
    step: int,
) -> None:  # fmt: skip
    """Add the gradient of the prior to that of the loss. CUMULATIVE adds up its squares."""
    prior = particles.dtype.type(decay)
    for s in range(len(particles)):
        particle, gradient, square = particles[s], gradients[s], squares[s]
        for j in range(n_weights):
            gradient[j] += prior * particle[j]
        if step == CUMULATIVE:
            for j in range(n_moved):
                square[j] += gradient[j] * gradient[j]


@compiled(fastmath=FUSED)
def move_numbers(
    particles: Any, squares: Any, smoothed: Any, attracted: Any, first: int, pushes: Any,
    rate: float, step: int, is_first: bool,
) -> None:  # fmt: skip
    """Move the numbers from `first` on of all particles along their directions: away from the
    gradients that the kernel has smoothed, and from the particles near by. These are given as
    the sum of their repulsion times themselves, and the sum of their repulsion."""
    kind = particles.dtype.type
    share, tau, floor = kind(1.0 / len(particles)), kind(rate), kind(SMALLEST)
    kept, fresh = kind(KEPT), kind(1.0 - KEPT)
    if is_first:  # the mean of squares begins with the first of them
        kept, fresh = kind(0.0), kind(1.0)
    for s in range(len(particles)):
        end = first + smoothed.shape[1]
        particle, square = particles[s, first:end], squares[s, first:end]
        down, near, push = smoothed[s], attracted[s], kind(pushes[s])
        if step == FORGETTING:
            for j in range(len(down)):
                direction = ((push * particle[j] - near[j]) - down[j]) * share
                square[j] = kept * square[j] + fresh * (direction * direction)
                particle[j] += tau * direction / (floor + np.sqrt(square[j]))
        elif step == CUMULATIVE:
            for j in range(len(down)):
                direction = ((push * particle[j] - near[j]) - down[j]) * share
                particle[j] += tau * direction / (floor + np.sqrt(square[j]))
        else:
            for j in range(len(down)):
                particle[j] += tau * (((push * particle[j] - near[j]) - down[j]) * share)
