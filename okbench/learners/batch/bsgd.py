"""Budgeted stochastic gradient descent over several epochs."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.batch.base import BatchLearner, Progress
from okbench.learners.bsgd import BSGDMerging, BSGDRemoval
from okbench.learners.contract import Clock, Diverged, FloatArray
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Number, Whole

FIRST_PART, LEAST_SECONDS, MOST_SECONDS = 64, 0.05, 0.4  # rows learned between two looks

Budgeted = BSGDMerging | BSGDRemoval


class Trained(NamedTuple):
    """The online learner that has learned the rows of all epochs."""

    budgeted: Budgeted


@learner("BSGD", paper="bkm", version=1, tasks=("binary", "multiclass"))
class BSGDEpochs(BatchLearner):
    """BSGD-M or BSGD-R over several epochs, each in a fresh permutation (Wang et al. 2012).

    `maintenance` is merging or removal; the steps go on getting shorter from epoch to epoch. The
    other settings are those of BSGD-M, and `search` matters to merging alone.
    """

    budget = Whole(200, at_least=1, meaning="the largest number of support vectors (B)")
    width = Number(8.0, above=0.0, meaning="width of the kernel exp(-‖x - z‖² / (2 width²)) (σ)")
    decay = Number(1e-4, above=0.0, meaning="strength of the regulariser (λ)")
    epochs = Whole(5, at_least=1, meaning="passes over the training rows")
    maintenance = Choice(
        "merging", ("merging", "removal"), meaning="what happens when the budget is full"
    )
    search = Choice(
        "golden", ("golden", "table"), meaning="how the place of a merged vector is computed"
    )

    has_gaussian_kernel = True
    holdings = BSGDMerging.holdings
    _model: Trained | None = None

    @property
    def support_size(self) -> int:
        return self._model.budgeted.support_size if self._model else 0

    @property
    def nbytes(self) -> int:
        return self._model.budgeted.nbytes if self._model else 0

    @property
    def support_vectors(self) -> FloatArray:
        """The vectors, a row each, oldest first."""
        return self._origin.back(self._fitted().support_vectors)

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the vectors, columns × vectors, oldest first."""
        return self._fitted().coefficients

    def _budgeted(self) -> Budgeted:
        """The online learner with these settings, which it refuses in this learner's name."""
        shared = {"budget": self.budget, "width": self.width, "decay": self.decay}
        found: Budgeted = (
            BSGDMerging(**shared, search=self.search)
            if self.maintenance == "merging"
            else BSGDRemoval(**shared)
        )
        found.name = self.name  # type: ignore[misc]
        return found

    def _fitted(self) -> Budgeted:
        self._check_fitted()
        assert self._model is not None
        return self._model.budgeted

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        problem, n_rows = self._begun(), len(block)
        codes = (-1.0, 1.0) if problem.task == "binary" else tuple(range(len(problem.classes)))
        budgeted = self._budgeted().begin(replace(problem, classes=codes))
        self._model = Trained(budgeted)
        progress = Progress(clock, n_rows, self.epochs * n_rows)
        size = FIRST_PART
        for _ in range(self.epochs):
            order = self.draws.stream("epochs").permutation(n_rows)
            done = 0
            while done < n_rows:  # how rows are cut into calls changes no outcome
                if progress.must_stop():
                    return
                part = order[done : done + size]
                begun = time.monotonic()
                answers = self._learned(budgeted, block, part, targets[part])
                seconds = time.monotonic() - begun
                done += len(part)
                self.updates = budgeted.updates
                progress.advance(len(part), len(part), int((answers != targets[part]).sum()))
                size = size * 2 if seconds < LEAST_SECONDS else size
                size = max(1, size // 2) if seconds > MOST_SECONDS else size

    def _learned(
        self, budgeted: Budgeted, block: Block, part: NDArray[np.int64], labels: FloatArray
    ) -> NDArray[Any]:
        """The answers to rows before they were learned."""
        try:
            return budgeted.learn(block.matrix[part], labels)
        except Diverged as error:
            row = int(part[error.row])
            message = f"{self.name}: the score of row {row} is not a finite number"
            raise Diverged(row, message) from error

    def _scores(self, block: Block) -> FloatArray:
        return self._fitted().scores(block.matrix)
