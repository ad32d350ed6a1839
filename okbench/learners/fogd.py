"""Fourier online gradient descent."""

from __future__ import annotations

import numpy as np

from okbench.learners.contract import Draws, FloatArray, Problem, Rows
from okbench.learners.kernel_gaps import fourier_gaps
from okbench.learners.kernels import KERNELS, OF_DISTANCES
from okbench.learners.linear import LinearOnMap
from okbench.learners.maps import FourierMap
from okbench.learners.numeric.lanes import aligned
from okbench.learners.registry import learner
from okbench.learners.settings import Choice, Number, Whole


@learner("FOGD", paper="lsokl", version=1)
class FOGD(LinearOnMap):
    """Online gradient descent on random Fourier features (Lu et al. 2016, Algorithm 1).

    The frequencies are those of the Gaussian kernel, or of any `kernel` of distances.
    """

    components = Whole(400, at_least=1, meaning="number of random frequencies (D)")
    width = Number(8.0, above=0.0, meaning="width of the kernel (σ)")
    kernel = Choice("gaussian", OF_DISTANCES, is_later=True, meaning="the kernel by its name (κ)")

    has_gaussian_kernel = True
    has_fixed_features = True

    map: FourierMap

    def feature_map(self, problem: Problem, draws: Draws) -> FourierMap:
        kernel = KERNELS[self.kernel]
        self._exact, self._scale = kernel.profile, 1.0 / self.width
        frequencies = aligned(problem.n_features, self.components)
        draws.fill_normals(frequencies)
        frequencies *= kernel.mixture(draws, self.components)
        frequencies /= self.width
        return FourierMap(frequencies)

    @np.errstate(all="ignore")  # gaps that are not finite raise Diverged
    def kernel_gaps(self, X: Rows) -> FloatArray:
        """How far the kernel of rows 0 and 1, 2 and 3, … is from the exact one, once for each."""
        scales = np.full(self._begun().n_features, self._scale)
        gaps = fourier_gaps(self.map, scales, self._moved(X), self._exact)
        return self._finite(gaps, "kernel gap")
