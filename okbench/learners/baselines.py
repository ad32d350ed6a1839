"""What any learner should beat: answers that look at no features."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from okbench.learners.base import OnlineLearner
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.rows import Block


class Featureless(OnlineLearner):
    """An answer that follows from the targets of earlier rows alone."""

    compiled = False
    is_baseline: ClassVar[bool] = True

    _state: FloatArray  # one number per score column, and one more

    def _start(self, problem: Problem) -> None:
        self._state = np.zeros(problem.n_columns + 1)

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        states = self._states(self._columns_of(targets))
        if len(block):
            self._state = states[-1]
        self.updates += len(block)
        return self._answers(states[:-1])

    def _scores(self, block: Block) -> FloatArray:
        return np.repeat(self._answers(self._state[np.newaxis]), len(block), axis=0)

    def _columns_of(self, targets: FloatArray) -> FloatArray:
        """Targets as scores: rows × columns, with a last column of ones that counts rows."""
        n_classes = self._begun().n_columns
        values = targets[:, np.newaxis]
        if n_classes > 1:
            values = (values == np.arange(n_classes)).astype(np.float64)
        return np.hstack([values, np.ones((len(targets), 1))])

    @abstractmethod
    def _states(self, rows: FloatArray) -> FloatArray:
        """The state before the first row, and after each."""

    @abstractmethod
    def _answers(self, states: FloatArray) -> FloatArray:
        """The scores that follow from states."""


@learner("Previous", paper="", version=1)
class Previous(Featureless):
    """Answers with the target or the label of the row before."""

    def _states(self, rows: FloatArray) -> FloatArray:
        return np.vstack([self._state, rows])

    def _answers(self, states: FloatArray) -> FloatArray:
        return states[:, :-1].copy()


@learner("Constant", paper="", version=1)
class Constant(Featureless):
    """Answers with the mean of all targets so far, or with the most frequent class."""

    def _states(self, rows: FloatArray) -> FloatArray:
        return np.cumsum(np.vstack([self._state, rows]), axis=0)

    def _answers(self, states: FloatArray) -> FloatArray:
        means: FloatArray = states[:, :-1] / np.maximum(1.0, states[:, -1:])
        return means
