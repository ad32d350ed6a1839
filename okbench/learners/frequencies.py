"""Frequencies of random Fourier features, for kernels that depend on ‖x - x'‖ alone.

Such a kernel is the expectation of cos(u·(x - x')). A frequency u is a direction, uniform on the
sphere, times a length; the directions of several frequencies may be drawn independently or, with a
smaller error of the kernel, orthogonal to each other (Yu et al. 2016).
"""

from __future__ import annotations

import numpy as np

from okbench.learners.contract import FloatArray
from okbench.learners.draws import Draws
from okbench.learners.kernels import KERNELS
from okbench.learners.numeric.lanes import aligned

DIRECTIONS = ("orthogonal", "independent")


def frequencies(
    draws: Draws, n_features: int, components: int, kernel: str, directions: str
) -> FloatArray:
    """Frequencies of the kernel of width 1, one per column; they begin on a cache line."""
    drawn = aligned(n_features, components)
    if directions == "independent":
        draws.stream("frequencies").fill_normals(drawn)
    else:
        radii = np.linalg.norm(draws.stream("lengths").normals(components, n_features), axis=1)
        np.multiply(orthogonal_directions(draws, n_features, components), radii, out=drawn)
    drawn *= KERNELS[kernel].mixture(draws, components)
    return drawn


def orthogonal_directions(draws: Draws, n_features: int, components: int) -> FloatArray:
    """Unit vectors as columns: those of as many uniform orthogonal matrices as are needed."""
    stream = draws.stream("directions")
    blocks = [stream.orthogonal(n_features) for _ in range(-(-components // n_features))]
    return np.hstack([block.T for block in blocks])[:, :components]
