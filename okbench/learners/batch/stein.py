"""One update of Stein variational gradient descent (Liu and Wang 2016) for many particles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.stein import CUMULATIVE, FORGETTING, PLAIN, add_prior, move_numbers

COLUMNS = 128  # numbers of each particle that are multiplied at once

STEPS = {"forgetting": FORGETTING, "cumulative": CUMULATIVE, "none": PLAIN}


class Stein:
    """Moves particles, in memory that is allocated once for all updates.

    `particles` and `gradients` are particles × numbers; the first `n_moved` numbers move, and the
    first `n_weights` have the prior of regulariser `decay`. Distances between particles are summed
    in doubles in either precision, because particles that come close would lose their digits.
    """

    def __init__(
        self,
        particles: NDArray[Any],
        n_weights: int,
        n_moved: int,
        *,
        decay: float,
        rate: float,
        bandwidth: float | None,
        step: str,
    ) -> None:
        count = len(particles)
        self.particles = particles
        self.gradients = aligned(*particles.shape, kind=particles.dtype)
        self.squares = aligned(*particles.shape, kind=particles.dtype)
        self.bandwidth = math.nan  # of the latest update
        self._n_weights, self._n_moved = n_weights, n_moved
        self._decay, self._rate, self._given = decay, rate, bandwidth
        self._step, self._is_first = STEPS[step], True
        self._products = aligned(2, count * COLUMNS, kind=particles.dtype)
        self._distances = aligned(count, count)
        matrices = aligned(2, count, count, kind=particles.dtype)
        self._kernel, self._repulsion = matrices
        # Doubles in memory that is used later.
        self._wide = self._products.reshape(-1).view(np.float64)
        self._scratch = matrices.reshape(-1).view(np.float64)[: count**2].reshape(count, count)
        self._norms, self._pushes = np.empty((2, count))

    def update(self) -> bool:
        """Move the particles by the gradients of their losses, and clear these; nothing moves if
        a particle is no finite number. Whether they moved."""
        self._find_distances()
        if not math.isfinite(self._distances.sum()):
            return False
        self._find_kernel()
        add_prior(
            self.particles, self.gradients, self.squares, self._decay, self._n_weights,
            self._n_moved, self._step,
        )  # fmt: skip
        for first in range(0, self._n_moved, COLUMNS):
            columns = slice(first, min(first + COLUMNS, self._n_moved))
            smoothed, attracted = (
                held[: len(self.particles) * (columns.stop - first)].reshape(
                    len(self.particles), -1
                )
                for held in self._products
            )
            np.matmul(self._kernel, self.gradients[:, columns], out=smoothed)
            np.matmul(self._repulsion, self.particles[:, columns], out=attracted)
            move_numbers(
                self.particles, self.squares, smoothed, attracted, first, self._pushes,
                self._rate, self._step, self._is_first,
            )  # fmt: skip
        self.gradients.fill(0.0)
        self._is_first = False
        return True

    def _find_distances(self) -> None:
        """Squared distances of the particles."""
        inner, count = self._distances, len(self.particles)
        inner.fill(0.0)
        for first in range(0, self._n_moved, COLUMNS):
            columns = slice(first, min(first + COLUMNS, self._n_moved))
            wide = self._wide[: count * (columns.stop - first)].reshape(count, -1)
            wide[:] = self.particles[:, columns]
            inner += np.matmul(wide, wide.T, out=self._scratch)
        self._norms[:] = inner.diagonal()
        inner *= -2.0
        inner += self._norms
        inner += self._norms[:, np.newaxis]
        np.maximum(inner, 0.0, out=inner)
        np.fill_diagonal(inner, 0.0)

    def _find_kernel(self) -> None:
        """The kernel of all pairs, and what it repels with: itself over the squared bandwidth,
        but for the diagonal, since no particle repels itself."""
        square = self._squared_bandwidth()
        self.bandwidth = math.sqrt(square)
        if square == 0.0:  # the limit of small bandwidths: one for equal particles, else none
            np.equal(self._distances, 0.0, out=self._kernel, casting="unsafe")
            self._repulsion.fill(0.0)
            self._pushes.fill(0.0)
            return
        kernel = self._distances  # which nothing needs afterwards
        kernel *= -0.5 / square
        np.exp(kernel, out=kernel)
        self._kernel[:] = kernel
        np.fill_diagonal(kernel, 0.0)
        kernel /= square
        self._repulsion[:] = kernel
        kernel.sum(axis=1, out=self._pushes)

    def _squared_bandwidth(self) -> float:
        """That given, or by the median of the squared distances of all pairs, each with itself
        among them (the authors' program). A single particle has none: 0."""
        if self._given is not None:
            return self._given**2
        flat = self._scratch.ravel()
        flat[:] = self._distances.ravel()
        middle = len(flat) // 2
        flat.partition((middle - 1, middle) if len(flat) > 1 else 0)
        median = flat[middle] if len(flat) % 2 else 0.5 * (flat[middle - 1] + flat[middle])
        return float(median) / (2.0 * math.log(len(self.particles) + 1.0))
