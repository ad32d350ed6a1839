"""Frequencies of random Fourier features, for kernels that depend on ‖x - x'‖ alone.

Such a kernel is the expectation of cos(u·(x - x')). A frequency u is a direction, uniform on the
sphere, times a length; the directions of several frequencies may be drawn independently or, with a
smaller error of the kernel, orthogonal to each other (Yu et al. 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from okbench.learners.compiled.lanes import aligned
from okbench.learners.contract import FloatArray
from okbench.learners.draws import Draws

DIRECTIONS = ("orthogonal", "independent")


def _gaussian(squares: FloatArray) -> FloatArray:
    return np.exp(-0.5 * squares)


def _laplacian(squares: FloatArray) -> FloatArray:
    return np.exp(-np.sqrt(squares))


def _cauchy(squares: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + squares)


# By name: the kernel of width 1 as a function of the squared distance.
KERNELS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "gaussian": _gaussian,
    "laplacian": _laplacian,
    "cauchy": _cauchy,
}


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
    drawn *= _mixture(draws, components, kernel)
    return drawn


def orthogonal_directions(draws: Draws, n_features: int, components: int) -> FloatArray:
    """Unit vectors as columns: those of as many uniform orthogonal matrices as are needed."""
    stream = draws.stream("directions")
    blocks = [stream.orthogonal(n_features) for _ in range(-(-components // n_features))]
    return np.hstack([block.T for block in blocks])[:, :components]


def _mixture(draws: Draws, components: int, kernel: str) -> FloatArray:
    """By what normal frequencies are multiplied: both other kernels are mixtures of Gaussian ones,
    exp(-r) with the frequencies of the multivariate Cauchy distribution, 1 / (1 + r²) with those of
    the multivariate Laplace distribution."""
    if kernel == "laplacian":
        return 1.0 / np.abs(draws.stream("mixture").normals(1, components)[0])
    if kernel == "cauchy":
        return np.sqrt(-2.0 * np.log1p(-draws.stream("mixture").uniforms(components)))
    return np.ones(components)
