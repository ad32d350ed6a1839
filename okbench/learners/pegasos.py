"""What the budgeted learners share that merge or hand over their vectors."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner
from okbench.learners.compiled.lanes import Entries, aligned
from okbench.learners.compiled.rules.pegasos import Vectors, score_rows
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.kernel import BLOCK, arrays_in
from okbench.learners.rows import Block
from okbench.learners.settings import check_number, check_whole


class Pegasos(OnlineLearner):
    """A kernel expansion of at most `budget` vectors; row n moves it by 1 / (decay · n)."""

    budget: int
    width: float  # of the kernel exp(-distance² / (2 width²))
    decay: float  # λ
    sharpness: float  # the factor of the squared distance in its exponent

    _vectors: Vectors
    _size: int = 0
    _seen: int  # rows learned

    @property
    def support_size(self) -> int:
        return self._size

    @property
    def support_vectors(self) -> FloatArray:
        """The vectors, a row each, oldest first; merged ones are rows of no stream."""
        self._begun()
        return self._vectors.matrix[:, self._lanes].T

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the vectors, columns × vectors, oldest first."""
        self._begun()
        return self._vectors.coefficients[:, self._lanes] * self._factor

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in arrays_in(list(vars(self).values())))

    def check_settings(self) -> None:
        """Refuse settings that make no sense."""
        check_whole(self, "budget", at_least=1)
        check_number(self, "width", above=0.0)
        check_number(self, "decay", above=0.0)

    @property
    def _lanes(self) -> NDArray[np.int64]:
        return self._vectors.by_age(self._size)

    @property
    def _factor(self) -> float:
        """What all coefficients share and the compiled loops leave out."""
        return 1.0

    def _start(self, problem: Problem) -> None:
        self.check_settings()
        # one slot more, so that a row can join before another leaves
        self._vectors = Vectors.empty(problem.n_features, problem.n_columns, self.budget + 1)
        self.sharpness = -0.5 / float(self.width) / float(self.width)
        self._size = self._seen = 0

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores, kernel = self._work(block)
        for first in range(0, len(block), BLOCK):
            rows = slice(first, first + BLOCK)
            part = Entries.of(block[rows])
            self._size, updates = self._advance(part, targets[rows], scores[rows], kernel)
            self.updates += updates
            self._seen += len(part.starts)
        return scores

    def _scores(self, block: Block) -> FloatArray:
        scores, kernel = self._work(block)
        for first in range(0, len(block), BLOCK):
            rows = slice(first, first + BLOCK)
            self._score(Entries.of(block[rows]), scores[rows], kernel)
        return scores * self._factor

    def _work(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """Scores of rows to fill in, and room for the kernel of one of them."""
        scores = np.empty((len(block), self._begun().n_columns))
        return scores, aligned(1, self._vectors.coefficients.shape[1])

    @abstractmethod
    def _advance(
        self, rows: Entries, targets: FloatArray, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int]:
        """Learn rows and fill in the scores they had before: (size, updates)."""

    def _score(self, rows: Entries, scores: FloatArray, kernel: FloatArray) -> None:
        """Fill in the scores of rows without the shared factor."""
        score_rows(rows, self._vectors, self.sharpness, kernel, scores)
