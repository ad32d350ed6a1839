"""Kernel support vector machines that compute the rows of their kernel when they are needed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import arrays_in
from okbench.learners.batch.base import (
    MEGABYTE,
    BatchLearner,
    Progress,
    refuse_beyond_memory,
)
from okbench.learners.contract import (
    Clock,
    Diverged,
    FloatArray,
    NotConverged,
    Rows,
)
from okbench.learners.numeric.rules.smo import CONVERGED, PAUSED, Duals, KernelCache, optimise
from okbench.learners.rows import Block
from okbench.learners.settings import Number

AT_ONCE = 16 * MEGABYTE  # bytes of kernel values of rows to predict
LEAST_PLACES = 32  # rows of the kernel that are kept, however little memory there may be
STEPS = 1000  # between two looks at the clock
TOLERANCE = 1e-3  # LIBSVM's
MOST_STEPS = 10_000_000


class KernelModel(NamedTuple):
    """What a kernel machine has learned: kernels with the supports, times coefficients."""

    supports: Any  # training rows as the kernel takes them
    coefficients: FloatArray  # supports × pairs of classes
    biases: FloatArray  # a number per pair
    pairs: NDArray[np.int64]  # the classes of each: that of positive scores comes first


class KernelMachine(BatchLearner):
    """A support vector machine, C-SVC, solved as LIBSVM does it (Chang and Lin 2011).

    The steps, the stopping rule and the single precision of kernel values are those of LIBSVM,
    without its shrinking. A row of the kernel is computed when a step needs it, and `cache`
    megabytes of them are kept, so that the memory does not grow with the square of the rows.
    Several classes are decided by the votes of all pairs.
    """

    cost = Number(1.0, above=0.0, finite=True, meaning="weight of the losses (C)")
    cache = Number(200.0, above=0.0, finite=True, meaning="megabytes for rows of the kernel matrix")

    together: ClassVar[int] = 1  # rows of the kernel that cost less if they are computed at once
    steps: int = 0  # of the solver
    _model: KernelModel | None = None

    @property
    def support_size(self) -> int:
        return len(self._model.coefficients) if self._model else 0

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in arrays_in(self._model or ()))

    def needed_bytes(self, n_rows: int) -> int:
        """What the rows of the kernel that are kept take in memory."""
        return 4 * n_rows * self._places(n_rows)

    def predict(self, X: Rows) -> NDArray[Any]:
        scores = self.scores(X)
        return self._begun().decide(np.rint(scores) if scores.shape[1] > 1 else scores)

    @abstractmethod
    def _points_of(self, block: Block) -> Any:
        """Rows as the kernel takes them."""

    @abstractmethod
    def _chosen(self, points: Any, places: NDArray[np.int64]) -> Any:
        """Some of such rows."""

    def _against(self, points: Any) -> Any:
        """Rows as the kernel takes those that others are compared with."""
        return points

    @abstractmethod
    def _fill_kernel(self, points: Any, others: Any, out: NDArray[Any]) -> None:
        """Fill in the kernel of rows and other rows, which are made by `_against`."""

    @abstractmethod
    def _diagonal(self, block: Block) -> FloatArray:
        """The kernel of each row with itself."""

    def _places(self, n_rows: int) -> int:
        """How many rows of the kernel are kept."""
        fitting = int(self.cache * MEGABYTE // (4 * n_rows))
        return min(n_rows, max(fitting, LEAST_PLACES))

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        refuse_beyond_memory(
            self.needed_bytes(len(block)),
            f"{self.name}: cache = {self.cache}: the kept rows of the kernel of {len(block):,} "
            "training rows",
            "lower the cache",
        )
        self.steps = 0
        points, diagonal = self._points_of(block), self._diagonal(block)
        progress = Progress(clock, len(block), len(block))
        n_columns = self._begun().n_columns
        coefficients, biases, pairs, is_complete = [], [], [], True
        for first, second, places in self._pairs_of(targets):
            signs = np.where(targets[places] == first, 1.0, -1.0)
            duals = Duals.of(signs, self.cost, diagonal[places])
            own = points if len(places) == len(block) else self._chosen(points, places)
            is_complete = is_complete and self._solve(duals, own, progress)
            spread = np.zeros(len(block))
            spread[places] = duals.coefficients
            coefficients.append(spread)
            biases.append(duals.bias)
            pairs.append((first, second))
        dual = np.column_stack(coefficients)
        held = np.flatnonzero(dual.any(axis=1))
        codes = np.array(pairs) if n_columns > 1 else np.zeros((1, 2))
        self._model = KernelModel(
            self._against(self._points_of(Block(block.matrix[held]))),
            dual[held],
            np.array(biases),
            codes.astype(np.int64),
        )
        if is_complete:
            clock.mark(len(block))

    def _pairs_of(self, targets: FloatArray) -> Iterator[tuple[float, float, NDArray[np.int64]]]:
        """Two targets, and the places of the rows that have them; the class of code 0 is the
        negative one of two classes and the first of several."""
        present = np.unique(targets).tolist()
        if self._begun().n_columns == 1:
            present.reverse()
        for first, second in combinations(present, 2):
            yield first, second, np.flatnonzero((targets == first) | (targets == second))

    def _solve(self, duals: Duals, points: Any, progress: Progress) -> bool:
        """Solve a problem of two classes; whether the clock let it come to its end."""
        n_rows = len(duals.coefficients)
        cache, made = KernelCache.empty(n_rows, self._places(n_rows)), 0
        others, kernel = self._against(points), np.empty((self.together, n_rows), np.float32)
        while made < MOST_STEPS:
            if progress.must_stop():
                return False
            why, done = optimise(duals, cache, TOLERANCE, made, min(made + STEPS, MOST_STEPS))
            self.steps += done - made
            made = done
            if why == CONVERGED:
                return True
            if why != PAUSED:
                rows = _rows_to_compute(duals, cache, why, self.together)
                found = kernel[: len(rows)]
                self._fill_kernel(self._chosen(points, rows), others, found)
                if not np.isfinite(found).all():
                    raise Diverged(0, f"{self.name}: the kernel of two rows is no finite number")
                cache.hold(rows, found, made)
        raise NotConverged(
            f"{self.name} did not converge in {MOST_STEPS:,} steps; scale the columns or lower the "
            "cost"
        )

    def _scores(self, block: Block) -> FloatArray:
        """The decision values of two classes; with several, the votes for each, and below a third
        of a vote for how far the decisions were from 0."""
        self._check_fitted()
        assert self._model is not None
        supports, coefficients, biases, pairs = self._model
        decisions = np.tile(biases, (len(block), 1))
        size = max(1, AT_ONCE // (8 * max(1, len(coefficients))))
        for first in range(0, len(block) if len(coefficients) else 0, size):
            part = slice(first, first + size)
            kernel = np.empty((len(decisions[part]), len(coefficients)))
            self._fill_kernel(self._points_of(block[part]), supports, kernel)
            decisions[part] += kernel @ coefficients
        n_columns = self._begun().n_columns
        if n_columns == 1:
            return decisions
        votes, sums = np.zeros((2, len(block), n_columns))
        for decided, (first, second) in zip(decisions.T, pairs, strict=True):
            votes[:, first] += decided > 0.0
            votes[:, second] += decided <= 0.0
            sums[:, first] += decided
            sums[:, second] -= decided
        scores = votes + sums / (3.0 * (np.abs(sums) + 1.0))
        absent = np.setdiff1d(np.arange(n_columns), pairs)
        scores[:, absent] = -1.0  # a class without training rows is never predicted
        return scores


def _rows_to_compute(duals: Duals, cache: KernelCache, row: int, count: int) -> NDArray[np.int64]:
    """A row whose kernel is missing, and others that violate the optimality most, the last of
    equals as in a step: the next steps will need these as well."""
    if count == 1:
        return np.array([row])
    urgency = duals.urgency
    urgency[cache.place >= 0] = -np.inf
    urgency[row] = np.inf
    count = min(count, len(urgency), len(cache.holders))
    least = np.partition(urgency, -count)[-count]
    more, equal = np.flatnonzero(urgency > least), np.flatnonzero(urgency == least)
    rows = np.concatenate((more, equal[len(equal) - (count - len(more)) :]))
    return np.sort(rows[urgency[rows] > -np.inf])
