"""The settings that name a dictionary of kernels, `widths` and `kernels`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from okbench.learners.contract import FloatArray, SettingsError
from okbench.learners.frequencies import KERNELS
from okbench.learners.settings import check_numbers, check_words

WIDTHS = (0.31622776601683794, 1.0, 3.1622776601683795)  # σ² = 0.1, 1, 10 (Shen et al. 2018)


def check_dictionary(learner: Any) -> None:
    """Refuse widths that are not positive, and kernels unknown or of another number."""
    check_numbers(learner, "widths", above=0.0)
    check_words(learner, "kernels", KERNELS)
    n_kernels, n_widths = len(learner.kernels), len(learner.widths)
    if n_kernels not in (1, n_widths):
        raise SettingsError(
            f"{learner.name}: kernels = {learner.kernels!r}: name one kernel for all widths, or "
            f"one for each of the {n_widths}"
        )


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
