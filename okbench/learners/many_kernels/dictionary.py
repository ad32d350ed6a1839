"""A dictionary of kernels, by their names and widths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from okbench.learners.contract import FloatArray, SettingsError
from okbench.learners.kernels import KERNELS, OF_DISTANCES
from okbench.learners.settings import Declared, Numbers, Words


class KernelDictionary(Declared):
    """The settings that name a dictionary of kernels."""

    widths = Numbers(  # σ² = 0.1, 1, 10 (Shen et al. 2018)
        (0.31622776601683794, 1.0, 3.1622776601683795),
        above=0.0,
        meaning="widths of the kernels, one for each",
    )
    kernels = Words(
        ("gaussian",),
        KERNELS,
        meaning="one kernel for all widths, or one for each",
    )

    takes_polynomials: ClassVar[bool] = True

    def check_settings(self) -> None:
        if not self.takes_polynomials and has_polynomials(self):
            raise SettingsError(
                f"{self.name}: kernels = {self.kernels!r}: random features approximate kernels "
                "of the distance alone; OMKL, OMKR and OMKC take polynomial kernels"
            )
        super().check_settings()
        n_kernels, n_widths = len(self.kernels), len(self.widths)
        if n_kernels not in (1, n_widths):
            raise SettingsError(
                f"{self.name}: kernels = {self.kernels!r}: name one kernel for all widths, or "
                f"one for each of the {n_widths}"
            )


def has_polynomials(learner: Any) -> bool:
    """Whether the dictionary names a polynomial kernel."""
    names = learner.kernels
    given = names if isinstance(names, list | tuple | np.ndarray) else ()
    return any(str(name) in KERNELS and str(name) not in OF_DISTANCES for name in given)


def kernels_of(learner: Any) -> list[str]:
    """The name of the kernel for every width."""
    named = [str(name) for name in learner.kernels]
    return named * len(learner.widths) if len(named) == 1 else named


def mean_kernel(
    kernels: Sequence[str], widths: Sequence[float], squared_distances: FloatArray
) -> FloatArray:
    """The mean of the dictionary's kernels."""
    values = [
        KERNELS[kernel].profile(squared_distances / width**2)
        for kernel, width in zip(kernels, widths, strict=True)
    ]
    mean: FloatArray = np.mean(values, axis=0)
    return mean
