"""Online gradient descent on the cells of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.holdings import Holdings
from okbench.learners.isolation.base import IsolationLearner
from okbench.learners.isolation.maps import Cells, IsolationMap
from okbench.learners.numeric.rules.isolation import (
    learn_cells,
    learn_ones,
    score_cells,
    score_ones,
)
from okbench.learners.registry import learner
from okbench.learners.settings import Choice


@learner("IK-OGD", paper="ik", version=1, tasks=("binary", "multiclass"))
class IKOGD(IsolationLearner):
    """Online gradient descent on the map of the isolation kernel (Ting et al. 2019).

    It is IK_i-OGD with map="iforest" and IK_a-OGD with map="nearest". One weight of each
    partitioning makes a score, so that a prediction costs the same for every psi and after any
    number of updates. With product="naive" the score is an inner product with all
    partitionings × psi zeros and ones, which the paper compares with: the same decisions, slower.

    The rows given to `fit` make the map; without them it is made of the first `initial` rows, whose
    scores are 0. Updates have the length step / partitionings, or with averages=False the length
    step, as in the authors' program.
    """

    product = Choice("indexed", ("indexed", "naive"), meaning="how scores are computed")

    holdings = Holdings(cell_weights=4)
    _weights: NDArray[np.generic] | None = None  # columns × (partitionings × cells)

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        self._weights, self._is_naive = None, self.product == "naive"

    def _clear(self, problem: Problem, made: IsolationMap) -> None:
        kind = np.float64 if self._is_naive else np.int32
        self._weights = np.zeros((problem.n_columns, made.partitionings * made.size), dtype=kind)

    def _learn_cells(self, cells: Cells, targets: FloatArray, scores: FloatArray) -> int:
        weights = self._held()
        if self._is_naive:
            features = np.zeros(weights.shape[1])
            return learn_ones(cells, targets, weights, self._rule, features, scores)
        return learn_cells(cells, targets, weights, self._rule, scores)

    def _score_cells(self, cells: Cells, scores: FloatArray) -> None:
        weights = self._held()
        if self._is_naive:
            features = np.zeros(weights.shape[1])
            score_ones(cells, weights, self._rule.size, features, scores)
        else:
            score_cells(cells, weights, self._rule.size, scores)

    def _held(self) -> NDArray[np.generic]:
        assert self._weights is not None
        return self._weights
