"""What the budgeted learners share that merge or hand over their vectors."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from okbench.learners.base import OnlineLearner
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.holdings import Holdings
from okbench.learners.kernel import BLOCK, model_bytes
from okbench.learners.numeric.kernels import Gaussian
from okbench.learners.numeric.lanes import Entries, aligned
from okbench.learners.numeric.pegasos import score_rows_of
from okbench.learners.numeric.supports import Supports
from okbench.learners.numeric.walks import RowStream
from okbench.learners.rows import Block
from okbench.learners.settings import Number, Whole


class PegasosModel(NamedTuple):
    """What a learner of this kind has learned."""

    supports: Supports
    size: int
    seen: int  # rows learned


class Pegasos(OnlineLearner):
    """A kernel expansion of at most `budget` vectors; row n moves it by 1 / (decay · n)."""

    budget = Whole(100, at_least=1, meaning="the largest number of support vectors (B)")
    width = Number(8.0, above=0.0, meaning="width of the kernel exp(-‖x - z‖² / (2 width²)) (σ)")
    decay = Number(1e-4, above=0.0, meaning="strength of the regulariser (λ)")

    has_gaussian_kernel = True
    holdings = Holdings(supports="all")  # a merged vector may have any column

    formula: Gaussian

    _model: PegasosModel | None = None

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def support_vectors(self) -> FloatArray:
        """The vectors, a row each, oldest first; merged ones are rows of no stream."""
        supports, size, _ = self._learned()
        return self._origin.back(supports.lanes.matrix[:, supports.order[:size]].T)

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the vectors, columns × vectors, oldest first."""
        supports, size, _ = self._learned()
        return supports.coefficients[:, supports.order[:size]] * self._factor

    @property
    def nbytes(self) -> int:
        return model_bytes(self)

    @property
    def _factor(self) -> float:
        """What all coefficients share and the compiled loops leave out."""
        return 1.0

    def _start(self, problem: Problem) -> None:
        supports = Supports.dense(problem.n_features, problem.n_columns, self.budget)
        self.formula = Gaussian.of(self.width)
        self._model = PegasosModel(supports, 0, 0)

    def _learned(self) -> PegasosModel:
        self._begun()
        assert self._model is not None  # what has begun has a model
        return self._model

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores, kernel = self._scratch(block)
        for first in range(0, len(block), BLOCK):
            rows = slice(first, first + BLOCK)
            model = self._learned()
            stream = RowStream(Entries.of(block[rows]), targets[rows], scores[rows], model.seen)
            size, updates = self._advance(stream, model, kernel)
            self._model = PegasosModel(model.supports, size, model.seen + len(stream.targets))
            self.updates += updates
        return scores

    def _scores(self, block: Block) -> FloatArray:
        scores, kernel = self._scratch(block)
        for first in range(0, len(block), BLOCK):
            rows = slice(first, first + BLOCK)
            self._score(Entries.of(block[rows]), scores[rows], kernel)
        return scores * self._factor

    def _scratch(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Scores of rows to fill in, and room for the kernel of one of them."""
        scores = np.empty((len(block), self._begun().n_columns))
        return scores, aligned(1, self._learned().supports.coefficients.shape[1])

    @abstractmethod
    def _advance(
        self, stream: RowStream, model: PegasosModel, kernel: FloatArray
    ) -> tuple[int, int]:
        """Learn rows and fill in the scores they had before: (size, updates)."""

    def _score(self, rows: Entries, scores: FloatArray, kernel: FloatArray) -> None:
        """Fill in the scores of rows without the shared factor."""
        score_rows_of(rows, self._learned().supports, self.formula, kernel, scores)
