"""Fourier online gradient descent."""

from __future__ import annotations

import numpy as np

from okbench.learners.compiled.lanes import aligned
from okbench.learners.contract import Draws, FloatArray, Problem, Rows
from okbench.learners.kernel_gaps import fourier_gaps
from okbench.learners.linear import LinearOnMap
from okbench.learners.maps import FourierMap
from okbench.learners.registry import learner
from okbench.learners.settings import check_number, check_whole


@learner("FOGD", paper="lsokl", version=1)
class FOGD(LinearOnMap):
    """Online gradient descent on random Fourier features (Lu et al. 2016, Algorithm 1)."""

    has_gaussian_kernel = True
    has_fixed_features = True

    def __init__(
        self,
        components: int = 400,
        width: float = 8.0,
        step: float = 0.002,
        epsilon: float = 0.1,
    ) -> None:
        self.components = components
        self.width = width
        self.step = step
        self.epsilon = epsilon

    map: FourierMap

    def feature_map(self, problem: Problem, draws: Draws) -> FourierMap:
        self._scale = 1.0 / self.width
        frequencies = aligned(problem.n_features, self.components)
        draws.fill_normals(frequencies)
        frequencies /= self.width
        return FourierMap(frequencies)

    @np.errstate(all="ignore")  # gaps that are not finite raise Diverged
    def kernel_gaps(self, X: Rows) -> FloatArray:
        """How far the kernel of rows 0 and 1, 2 and 3, … is from the exact one, once for each."""
        scales = np.full(self._begun().n_features, self._scale)
        gaps = fourier_gaps(self.map, scales, self._moved(X))
        return self._finite(gaps, "kernel gap")

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "components", at_least=1)
        check_number(self, "width", above=0)
