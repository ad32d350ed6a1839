"""Linear models on a map that stays as it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from okbench.learners.base import OnlineLearner
from okbench.learners.contract import Draws, FloatArray, Problem, Task
from okbench.learners.maps import FeatureMap
from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.losses import HINGE, RESIDUAL
from okbench.learners.numeric.rules.linear import learn_on_map, score_on_map
from okbench.learners.rows import Block
from okbench.learners.settings import Number

STRETCH_ROWS, STRETCH_BYTES = 256, 512 * 1024  # projected rows are still in cache when walked


class LinearOnMap(OnlineLearner):
    """Online gradient descent on weights, one for every feature of a map.

    A learner names its map in `feature_map`, and its losses when they are not hinge and residual.
    """

    step = Number(0.002, above=0.0, meaning="step size of the updates (η)")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")

    classification_loss: ClassVar[int] = HINGE
    regression_loss: ClassVar[int] = RESIDUAL

    map: FeatureMap
    weights: FloatArray  # columns × features

    @abstractmethod
    def feature_map(self, problem: Problem, draws: Draws) -> FeatureMap:
        """The map for this problem."""

    def loss(self, task: Task) -> int:
        """The code of the loss for a task."""
        return self.regression_loss if task == "regression" else self.classification_loss

    @property
    def nbytes(self) -> int:
        return super().nbytes + (self.map.nbytes if self.problem else 0)

    def _start(self, problem: Problem) -> None:
        self._silent, self._rate = self.epsilon, self.step
        self.map = self.feature_map(problem, self.draws)
        self.weights = aligned(problem.n_columns, self.map.size)

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores = np.empty((len(block), len(self.weights)))
        loss = self.loss(self._begun().task)
        self.updates += learn_on(
            self.map, self.weights, block, targets, scores, loss, self._silent, self._rate
        )
        return scores

    def _scores(self, block: Block) -> FloatArray:
        scores = np.empty((len(block), len(self.weights)))
        score_on(self.map, self.weights, block, scores)
        return scores


def learn_on(
    feature_map: FeatureMap,
    weights: FloatArray,
    block: Block,
    targets: FloatArray,
    scores: FloatArray,
    loss: int,
    epsilon: float,
    step: float,
) -> int:
    """Learn rows in order and fill in the scores they had before; how many changed the weights."""
    return sum(
        learn_on_map(
            feature_map.finish,
            projected,
            first,
            targets,
            weights,
            scores,
            loss,
            epsilon,
            step,
        )
        for first, projected in stretches(feature_map, block)
    )


def score_on(
    feature_map: FeatureMap, weights: FloatArray, block: Block, scores: FloatArray
) -> None:
    """Fill in the scores of rows; nothing is learned."""
    for first, projected in stretches(feature_map, block):
        score_on_map(feature_map.finish, projected, first, weights, scores)


def stretches(feature_map: FeatureMap, block: Block) -> Iterator[tuple[int, FloatArray]]:
    """Projected rows, a stretch at a time: its first row's number, and an array soon reused."""
    rows = min(len(block), STRETCH_ROWS, 1 + STRETCH_BYTES // (8 * feature_map.width))
    scratch = aligned(rows, feature_map.width)
    for first in range(0, len(block), max(rows, 1)):
        projected = scratch[: len(block) - first]
        feature_map.project(block, first, projected)
        yield first, projected
