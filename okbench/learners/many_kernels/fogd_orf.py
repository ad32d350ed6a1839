"""Fourier online gradient descent on orthogonal random features."""

from __future__ import annotations

import numpy as np

from okbench.learners.contract import Draws, FloatArray, Problem, Rows
from okbench.learners.frequencies import DIRECTIONS, frequencies
from okbench.learners.kernel_gaps import fourier_gaps
from okbench.learners.kernels import KERNELS, OF_DISTANCES
from okbench.learners.linear import LinearOnMap
from okbench.learners.maps import FourierMap
from okbench.learners.registry import learner
from okbench.learners.settings import Choice, Number, Whole


@learner("FOGD-ORF", paper="raker", version=1)
class FOGDORF(LinearOnMap):
    """FOGD on orthogonal random features of any kernel of distances.

    The rule is that of FOGD (Lu et al. 2016, Algorithm 1); the features are those of Raker, but not
    divided by √D.
    """

    components = Whole(400, at_least=1, meaning="number of random frequencies (D)")
    width = Number(8.0, above=0.0, meaning="width of the kernel (σ)")
    kernel = Choice("gaussian", OF_DISTANCES, meaning="the kernel by its name")
    directions = Choice("orthogonal", DIRECTIONS, meaning="how the random frequencies are drawn")

    has_gaussian_kernel = True
    has_fixed_features = True

    map: FourierMap

    def feature_map(self, problem: Problem, draws: Draws) -> FourierMap:
        self._exact, self._scale = KERNELS[self.kernel].profile, 1.0 / self.width
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
