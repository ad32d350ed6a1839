"""What the online learners share that learn on the cells of rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from okbench.learners.base import RowLearner, arrays_in
from okbench.learners.batch.base import POINTS, NoLimit
from okbench.learners.contract import Clock, FloatArray, Problem, Rows
from okbench.learners.isolation.maps import Cells, IsolationMap
from okbench.learners.isolation.shared_maps import OnMap
from okbench.learners.kernel_surface import Surface, plane_of, surface_of
from okbench.learners.numeric.rules.isolation import Counting
from okbench.learners.rows import Block
from okbench.learners.settings import Flag, Number, Whole

LEARNED_AT_ONCE = 4096  # rows whose cells are held at a time


class IsolationLearner(OnMap, RowLearner):
    """Online gradient descent on the hinge loss with the isolation kernel.

    The rows given to `fit` make the map and are then learned in their order. Where no rows are
    given to `fit`, the first `initial` rows make the map: their scores are 0, and once the last of
    them has come they are learned.

    Updates have the length `step` / `partitionings`, as the kernel is an average over partitionings
    by its definition; without `averages` they have the length `step`, as in the authors' program.
    A score of 0 counts as the positive class.
    """

    step = Number(0.5, above=0.0, meaning="step size of the updates (η)")
    averages = Flag(True, meaning="whether the step is divided by the number of partitionings")
    initial = Whole(100, at_least=1, meaning="rows that make the map if none came before")

    surface: Surface | None = None
    _map: IsolationMap | None = None
    _waiting: tuple[tuple[Any, ...], ...] = ()  # rows of the map that has not been made yet

    @np.errstate(all="ignore")  # what overflows shows in the scores
    def fit(self, X: Rows, y: ArrayLike, clock: Clock | None = None) -> Self:
        """Make the map of these rows, and learn them in one pass; what was learned before is
        forgotten. A problem that `begin` has announced stays, and so do its draws."""
        block, targets = self._first_of_fit(X, y, is_watched=clock is not None)
        problem, self._is_announced = self._begun(), False
        self._make_map(block)
        clock = clock or NoLimit()
        size, costs, done = max(1, math.ceil(len(block) / POINTS)), 0.0, 0
        while done < len(block) and not clock.should_stop():
            part = slice(done, done + size)
            scores = self._finite(self._learn(block[part], targets[part]))
            done = min(done + size, len(block))
            costs += float(np.sum(problem.encode(problem.decide(scores)) != targets[part]))
            clock.mark(done, costs)
        return self

    def kernel_surface(self, X: Rows) -> FloatArray:
        """The isolation kernel of the median point with every row, over the last two columns of
        rows, of which the map is made; `surface` has the kernel on a grid."""
        plane = plane_of(Block.of(X, self._begun().n_features))
        made = self._new_map().fit(plane, self.draws)

        def kernel(point: FloatArray, points: FloatArray) -> FloatArray:
            own, found = made.transform(point[np.newaxis]), np.empty(len(points))
            for first in range(0, len(points), LEARNED_AT_ONCE):
                part = slice(first, first + LEARNED_AT_ONCE)
                found[part] = (made.transform(points[part]) == own).mean(axis=1)
            return found

        values, self.surface = surface_of(plane, kernel)
        return values

    @property
    def remark(self) -> str | None:
        """That there were fewer rows than psi, or too few for a map, where it is so."""
        if not self._waiting:
            return super().remark
        came = sum(len(part[-1]) for part in self._waiting)
        return (
            f"nothing was learned, as initial = {self._initial:,} rows make the map: {came:,} came"
        )

    @property
    def nbytes(self) -> int:
        held = [value for name, value in vars(self).items() if name != "_map"]
        return sum(a.nbytes for a in arrays_in(held)) + (self._map.nbytes if self._map else 0)

    def _start(self, problem: Problem) -> None:
        self._map, self._waiting = None, ()
        self._chosen = self._map_settings()
        self._initial = self.initial
        self._rule = Counting(self.step, self.partitionings if self.averages else 1.0, 0)

    def _new_map(self) -> IsolationMap:
        return IsolationMap(**self._chosen)

    def _make_map(self, block: Block) -> None:
        self._map = self._map_of(block)
        self._rule = self._rule._replace(size=self._map.size)
        self._clear(self._begun(), self._map)

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores = np.zeros((len(block), self._begun().n_columns))
        done = self._wait(block, targets) if self._map is None else 0
        for first in range(done, len(block), LEARNED_AT_ONCE):
            part = slice(first, first + LEARNED_AT_ONCE)
            self._learn_part(block[part], targets[part], scores[part])
        return scores

    def _wait(self, block: Block, targets: FloatArray) -> int:
        """Take rows for the map, and learn them once they are complete; how many were taken."""
        there = sum(len(part[-1]) for part in self._waiting)
        taken = min(len(block), self._initial - there)
        if taken:
            self._waiting += ((*_copied(block[:taken]), targets[:taken].copy()),)
        if there + taken == self._initial:
            first = Block(_joined(self._waiting, block.matrix.shape[1]))
            held = np.concatenate([part[-1] for part in self._waiting])
            self._waiting = ()
            self._make_map(first)
            self._learn_part(first, held, np.zeros((len(held), self._begun().n_columns)))
        return taken

    def _learn_part(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        assert self._map is not None
        self.updates += self._learn_cells(self._map.cells(block), targets, scores)
        self._scale(scores)

    def _scores(self, block: Block) -> FloatArray:
        scores = np.zeros((len(block), self._begun().n_columns))
        if self._map is not None:
            for first in range(0, len(block), LEARNED_AT_ONCE):
                part = slice(first, first + LEARNED_AT_ONCE)
                self._score_cells(self._map.cells(block[part]), scores[part])
                self._scale(scores[part])
        return scores

    def _scale(self, scores: FloatArray) -> None:
        scores *= self._rule.step
        scores /= self._rule.divisor

    @abstractmethod
    def _clear(self, problem: Problem, made: IsolationMap) -> None:
        """Begin a model on the map."""

    @abstractmethod
    def _learn_cells(self, cells: Cells, targets: FloatArray, scores: FloatArray) -> int:
        """Learn rows in order and fill in the scores they had, as whole numbers; the updates."""

    @abstractmethod
    def _score_cells(self, cells: Cells, scores: FloatArray) -> None:
        """Fill in the scores of rows as whole numbers."""


def _copied(block: Block) -> tuple[Any, ...]:
    """Arrays of rows that nobody else writes to: a table, or values, columns and starts."""
    matrix: Any = block.matrix
    if not block.is_sparse:
        return (matrix.copy(),)
    return matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()


def _joined(waiting: tuple[tuple[Any, ...], ...], width: int) -> Any:
    """Rows that were copied in parts, as sparse ones where a part is sparse."""
    matrices = [
        part[0] if len(part) == 2 else sp.csr_array(part[:3], (len(part[-1]), width))
        for part in waiting
    ]
    if all(isinstance(matrix, np.ndarray) for matrix in matrices):
        return np.concatenate(matrices)
    return Block.of(sp.vstack(matrices, format="csr")).matrix
