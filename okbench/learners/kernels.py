"""The kernels by name. A new kernel is one record here, and its numbers in `numeric.kernels`.

Every learner with a setting `kernel` takes each kernel that meets its conditions: a rule that was
derived for vectors of length 1 needs κ(x, x) = 1, and random features need a spectrum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from okbench.base.errors import UsageError
from okbench.learners.contract import FloatArray, SettingsError
from okbench.learners.draws import Draws
from okbench.learners.numeric import kernels as numeric

# By what normal frequencies of the Gaussian kernel are multiplied to be those of a different one
Mixture = Callable[[Draws, int], FloatArray]


@dataclass(frozen=True)
class Kernel:
    """A kernel of width 1 and what is known of it; r = ‖x - z‖ / width."""

    formula: str
    numbers: Callable[[float], Any]  # width → the kernel in numbers
    profile: Callable[[FloatArray], FloatArray]  # of r²; of x · z / width², if of inner products
    mixture: Mixture  # of Gaussian kernels, which a kernel of distances is
    is_shift_invariant: bool = True  # a function of x - z
    is_normalized: bool = True  # κ(x, x) = 1 for every x
    greatest: float = 1.0  # its greatest value


def _ones(draws: Draws, count: int) -> FloatArray:
    return np.ones(count)


def _of_chi(degrees: int, draws: Draws, count: int) -> FloatArray:
    """Of Matérn kernels: frequencies have Student's t distribution with 2 ν degrees of freedom."""
    normals = draws.stream("mixture").normals(degrees, count)
    scales: FloatArray = 1.0 / np.sqrt(np.square(normals).mean(axis=0))
    return scales


def _of_exponentials(draws: Draws, count: int) -> FloatArray:
    """Of the Cauchy kernel: frequencies have the multivariate Laplace distribution."""
    return np.sqrt(-2.0 * np.log1p(-draws.stream("mixture").uniforms(count)))


def _gaussian(squares: FloatArray) -> FloatArray:
    return np.exp(-0.5 * squares)


def _laplacian(squares: FloatArray) -> FloatArray:
    return np.exp(-np.sqrt(squares))


def _cauchy(squares: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + squares)


def _matern32(squares: FloatArray) -> FloatArray:
    distances = np.sqrt(3.0 * squares)
    return (1.0 + distances) * np.exp(-distances)


def _matern52(squares: FloatArray) -> FloatArray:
    distances = np.sqrt(5.0 * squares)
    return (1.0 + distances + 5.0 / 3.0 * squares) * np.exp(-distances)


def _power(degree: int, products: FloatArray) -> FloatArray:
    return products**degree


def _no_mixture(draws: Draws, count: int) -> FloatArray:
    raise UsageError("a kernel of inner products has no random Fourier features")


KERNELS: Mapping[str, Kernel] = {
    "gaussian": Kernel("exp(-r² / 2)", numeric.Gaussian.of, _gaussian, _ones),
    "laplacian": Kernel(
        "exp(-r)",
        numeric.Laplacian.of,
        _laplacian,
        partial(_of_chi, 1),
    ),
    "cauchy": Kernel("1 / (1 + r²)", numeric.Cauchy.of, _cauchy, _of_exponentials),
    "matern-3/2": Kernel(
        "(1 + √3 r) exp(-√3 r)", numeric.Matern32.of, _matern32, partial(_of_chi, 3)
    ),
    "matern-5/2": Kernel(
        "(1 + √5 r + 5 r² / 3) exp(-√5 r)", numeric.Matern52.of, _matern52, partial(_of_chi, 5)
    ),
} | {
    f"polynomial-{degree}": Kernel(
        f"(x · z / width²)^{degree}",
        partial(numeric.Polynomial.of, degree=degree),
        partial(_power, degree),
        _no_mixture,
        is_shift_invariant=False,
        is_normalized=False,
        greatest=np.inf,
    )
    for degree in (1, 2, 3)
}


OF_DISTANCES = tuple(name for name, kernel in KERNELS.items() if kernel.is_shift_invariant)


def refuse_kernel(learner: Any, reason: str) -> SettingsError:
    """The error of a learner whose kernel does not meet its conditions."""
    return SettingsError(f"{learner.name}: kernel = {learner.kernel!r}: {reason}")
