"""Fourier online gradient descent on orthogonal random features."""

from __future__ import annotations

import numpy as np

from okbench.learners.contract import Draws, FloatArray, Problem, Rows
from okbench.learners.frequencies import DIRECTIONS, KERNELS, frequencies
from okbench.learners.kernel_gaps import fourier_gaps
from okbench.learners.linear import LinearOnMap
from okbench.learners.maps import FourierMap
from okbench.learners.registry import learner
from okbench.learners.settings import check_choice, check_number, check_whole


@learner("FOGD-ORF", paper="raker", version=1)
class FOGDORF(LinearOnMap):
    """FOGD on orthogonal random features of a Gaussian, Laplacian or Cauchy kernel.

    The rule is that of FOGD (Lu et al. 2016, Algorithm 1); the features are those of Raker, but not
    divided by √D.
    """

    has_gaussian_kernel = True
    has_fixed_features = True

    def __init__(
        self,
        components: int = 400,
        width: float = 8.0,
        step: float = 0.002,
        epsilon: float = 0.1,
        kernel: str = "gaussian",
        directions: str = "orthogonal",
    ) -> None:
        self.components = components
        self.width = width
        self.step = step
        self.epsilon = epsilon
        self.kernel = kernel
        self.directions = directions

    map: FourierMap

    def feature_map(self, problem: Problem, draws: Draws) -> FourierMap:
        self._exact, self._scale = KERNELS[self.kernel], 1.0 / self.width
        drawn = frequencies(
            draws, problem.n_features, self.components, self.kernel, self.directions
        )
        drawn /= self.width
        return FourierMap(drawn)

    @np.errstate(all="ignore")  # what overflows shows in the gaps
    def kernel_gaps(self, X: Rows) -> FloatArray:
        """How far the kernel of rows 0 and 1, 2 and 3, … is from the exact one, once for each."""
        scales = np.full(self._begun().n_features, self._scale)
        return fourier_gaps(self.map, scales, self._moved(X), self._exact)

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "components", at_least=1)
        check_number(self, "width", above=0)
        check_choice(self, "kernel", KERNELS)
        check_choice(self, "directions", DIRECTIONS)
