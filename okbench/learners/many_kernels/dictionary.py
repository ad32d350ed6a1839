"""The settings that name a dictionary of kernels, `widths` and `kernels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from okbench.learners.contract import FloatArray, SettingsError
from okbench.learners.frequencies import KERNELS
from okbench.learners.settings import check_numbers, check_words

WIDTHS = (0.31622776601683794, 1.0, 3.1622776601683795)  # σ² = 0.1, 1, 10 (Shen et al. 2018)


# By name: the degree of (x · x' / width²)^degree, as in Hoi et al. (2013).
POLYNOMIALS: Mapping[str, int] = {f"polynomial-{degree}": degree for degree in (1, 2, 3)}


def check_dictionary(learner: Any, with_polynomials: bool = False) -> None:
    """Refuse widths that are not positive, and kernels unknown or of another number. Polynomial
    kernels are for learners that compute kernels, for random features approximate those of
    distances alone."""
    check_numbers(learner, "widths", above=0.0)
    if not with_polynomials and has_polynomials(learner):
        raise SettingsError(
            f"{learner.name}: kernels = {learner.kernels!r}: random features approximate kernels "
            "of the distance alone; OMKL, OMKR and OMKC take polynomial kernels"
        )
    check_words(learner, "kernels", (*KERNELS, *POLYNOMIALS) if with_polynomials else KERNELS)
    n_kernels, n_widths = len(learner.kernels), len(learner.widths)
    if n_kernels not in (1, n_widths):
        raise SettingsError(
            f"{learner.name}: kernels = {learner.kernels!r}: name one kernel for all widths, or "
            f"one for each of the {n_widths}"
        )


def has_polynomials(learner: Any) -> bool:
    """Whether the dictionary names a polynomial kernel."""
    names = learner.kernels
    given = names if isinstance(names, list | tuple | np.ndarray) else ()
    return any(str(name) in POLYNOMIALS for name in given)


def kernels_of(learner: Any) -> list[str]:
    """The name of the kernel for every width."""
    named = [str(name) for name in learner.kernels]
    return named * len(learner.widths) if len(named) == 1 else named


def mean_kernel(
    kernels: Sequence[str], widths: Sequence[float], squared_distances: FloatArray
) -> FloatArray:
    """The mean of the dictionary's kernels."""
    values = [
        KERNELS[kernel](squared_distances / width**2)
        for kernel, width in zip(kernels, widths, strict=True)
    ]
    mean: FloatArray = np.mean(values, axis=0)
    return mean
