"""Fourier online gradient descent."""

from __future__ import annotations

from okbench.learners.contract import Draws, Problem
from okbench.learners.linear import LinearOnMap
from okbench.learners.maps import FourierMap
from okbench.learners.registry import learner
from okbench.learners.settings import check_number, check_whole


@learner("FOGD", paper="lsokl", version=1)
class FOGD(LinearOnMap):
    """Online gradient descent on random Fourier features (Lu et al. 2016, Algorithm 1)."""

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

    def feature_map(self, problem: Problem, draws: Draws) -> FourierMap:
        return FourierMap(draws.normals(problem.n_features, self.components) / self.width)

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "components", at_least=1)
        check_number(self, "width", above=0)
