"""What the learners share that are trained on all rows in one call."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from typing import Self

import numpy as np
import psutil
from numpy.typing import ArrayLike

from okbench.base.blas_threads import one_thread
from okbench.learners.base import Estimator
from okbench.learners.contract import Clock, FloatArray, Problem, Rows, RowsError, not_begun
from okbench.learners.rows import Block

MEGABYTE = 2**20
POINTS = 20  # of the curve of a fit
ASKED_EVERY = 0.1  # seconds between two questions whether to stop


class BatchLearner(Estimator):
    """A learner of the role `Batch` as an estimator.

    `fit` forgets what an earlier call has learned, its problem and its draws; `begin` announces
    those of the next fit. A fit whose clock stops it keeps the model as far as it has come.

    A subclass checks its settings in `check_settings`, and sets `_model` in `_train`.
    """

    _model: tuple[object, ...] | None = None

    @one_thread
    def fit(self, X: Rows, y: ArrayLike, clock: Clock | None = None) -> Self:
        """Learn all rows."""
        block, targets = self._first_of_fit(X, y, is_watched=clock is not None)
        if (targets == targets[0]).all():
            name = np.asarray(y).ravel()[0]
            raise RowsError(
                f"{self.name}: all {len(block)} training rows are of class {name}; rows of two "
                "classes are needed"
            )
        self._model, self.updates = None, 0
        with np.errstate(all="ignore"):  # what overflows shows in the scores
            self._origin = self._origin._replace(is_chosen=False).chosen(block)
            moved = self._origin.moved(block)
            self._origin.check(moved)
            self._train(moved, targets, clock or NoLimit())
        self._is_announced = False
        return self

    @one_thread
    def scores(self, X: Rows) -> FloatArray:
        return super().scores(X)

    def _start(self, problem: Problem) -> None:
        self._model = None

    def _check_fitted(self) -> None:
        self._begun()
        if self._model is None:
            raise not_begun(f"{self.name} has learned nothing yet: fit() it first")

    @abstractmethod
    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        """Learn all rows, or as many as the clock allows."""


class Progress:
    """How far a fit has come: it marks the points of the curve, and asks whether to stop.

    The rows of a point are the part of the work that is done, in training rows, so that the curve
    of any number of epochs ends at the number of rows. Its total is the rate of mistakes on rows
    before they were learned, times these rows; it is missing where no rows were scored.
    """

    def __init__(self, clock: Clock, n_rows: int, work: int) -> None:
        self._clock = clock
        self._n_rows, self._work = n_rows, work
        self._step = max(1, n_rows // POINTS)
        self._marked = self._done = self._scored = self._mistakes = 0
        self._asked = -math.inf

    def must_stop(self) -> bool:
        """Whether to stop; the clock is asked at most ten times a second."""
        now = time.monotonic()
        if now - self._asked < ASKED_EVERY:
            return False
        self._asked = now
        return self._clock.should_stop()

    def advance(self, done: int, scored: int, mistakes: int) -> None:
        """So much more of the work is done; `scored` rows were scored before they were learned."""
        self._done += done
        self._scored += scored
        self._mistakes += mistakes
        rows = self._n_rows * self._done // self._work
        if rows >= self._marked + self._step or (rows == self._n_rows and rows > self._marked):
            self._marked = rows
            self._clock.mark(rows, self._mistakes * rows / self._scored if self._scored else None)


class NoLimit:
    """The clock of a fit that nobody limits or watches."""

    def time_left(self) -> float:
        return math.inf

    def should_stop(self) -> bool:
        return False

    def mark(self, rows_seen: int, total: float | None = None) -> None:
        pass


def refuse_beyond_memory(needed: int, what: str, advice: str) -> None:
    """Raise MemoryError if so many bytes are not free, before anything of them is taken."""
    free = psutil.virtual_memory().available
    if needed > free:
        raise MemoryError(
            f"{what} needs about {needed / 1e6:,.0f} MB and {free / 1e6:,.0f} MB are free; {advice}"
        )
