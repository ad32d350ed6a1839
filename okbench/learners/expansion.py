"""Kernel expansions that keep every support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.kernel import KernelLearner
from okbench.learners.numeric.expansion import (
    Expanding,
    LaneWork,
    Motion,
    learn_expansion,
    score_expansion,
)
from okbench.learners.numeric.lanes import Entries
from okbench.learners.numeric.walks import RowStream
from okbench.learners.rows import Block
from okbench.learners.settings import Number

ROOM = 1024  # rows that could all join before the arrays of supports are looked at again


class ExpansionModel(NamedTuple):
    """What an expansion without a bound has learned."""

    supports: Expanding
    size: int
    state: FloatArray  # silent tube, common factor of all coefficients


class Expansion(KernelLearner):
    """A kernel expansion without a bound: every row that changes the model stays in it."""

    step = Number(1.0, above=0.0, meaning="step size of the updates (η)")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")

    _model: ExpansionModel | None = None
    _work: LaneWork

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def coefficients(self) -> FloatArray:
        n_columns, (supports, size, state) = self._begun().n_columns, self._learned()
        table = np.zeros((n_columns, size))
        gains = state[1] * supports.gains[:size]
        places = np.arange(size)
        table[supports.plus[places], places] = gains
        paired = np.flatnonzero(supports.minus[places] >= 0)
        table[supports.minus[paired], paired] = -gains[paired]
        return table

    @property
    def support_rows(self) -> NDArray[np.int64]:
        supports, size, _ = self._learned()
        return supports.rows[:size]

    def motion(self, problem: Problem) -> Motion:
        """The learner in numbers."""
        return Motion(self.loss(problem.task), self.step, self.formula)

    def _learned(self) -> ExpansionModel:
        self._begun()
        assert self._model is not None  # what has begun has a model
        return self._model

    def _clear(self, problem: Problem) -> None:
        self._motion = self.motion(problem)
        self._model = ExpansionModel(Expanding.empty(), 0, np.array([self.epsilon, 1.0]))
        self._work = LaneWork.of(problem.n_features, problem.n_columns)

    def _learn_rows(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        stream = RowStream(Entries.of(block), targets, scores, self._position)
        for first in range(0, len(block), ROOM):
            last = min(first + ROOM, len(block))
            self._work = self._work.with_room_for(stream.rows, first, last)
            model = self._learned()
            supports = model.supports.with_room_for(model.size, stream.rows, first, last)
            self._model = model = model._replace(supports=supports)  # frees what it outgrew
            size = learn_expansion(
                stream, first, last, supports, model.size, self._motion, model.state, self._work
            )
            self._model = model._replace(size=size)
            self.updates += size - model.size

    def _scores(self, block: Block) -> FloatArray:
        rows, problem = Entries.of(block), self._begun()
        work = LaneWork.of(problem.n_features, problem.n_columns).with_room_for(rows, 0, len(block))
        scores = np.empty((len(block), problem.n_columns))
        supports, size, state = self._learned()
        score_expansion(rows, supports, size, self.formula, state, work, scores)
        return scores
