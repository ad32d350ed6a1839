"""Online gradient descent with the Laplacian kernel in its ψ form."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner
from okbench.learners.compiled.expansion import Expanding, LaneWork
from okbench.learners.compiled.lanes import Entries
from okbench.learners.compiled.rules.laplacian import (
    Laplacian,
    kernel_laplacian,
    learn_laplacian,
    score_laplacian,
)
from okbench.learners.compiled.walks import RowStream
from okbench.learners.contract import FloatArray, Problem, Rows
from okbench.learners.expansion import ROOM
from okbench.learners.holdings import Holdings
from okbench.learners.kernel import BLOCK, model_bytes
from okbench.learners.kernel_surface import Surface, plane_of, surface_of
from okbench.learners.registry import learner
from okbench.learners.rows import Block, row_sums
from okbench.learners.settings import check_number, check_whole

UNBOUNDED = 2**62


class LaplacianModel(NamedTuple):
    """What has been learned: rows that had a loss, with their coefficients."""

    supports: Expanding
    size: int


class LaplacianLearner(OnlineLearner):
    """A kernel expansion that rows with a loss join, until a budget is full.

    The kernel is psi^(-‖x - z‖₁ / d) for rows of d columns.
    """

    holdings = Holdings(supports="own")

    psi: int
    step: float
    budget: int = UNBOUNDED

    surface: Surface | None = None
    _model: LaplacianModel | None = None
    _work: LaneWork
    _position: int  # rows learned

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def support_rows(self) -> NDArray[np.int64]:
        """The numbers of the supports in the stream, counted from 0, oldest first."""
        supports, size = self._learned()
        return supports.rows[:size]

    @property
    def nbytes(self) -> int:
        return model_bytes(self)

    def kernel_surface(self, X: Rows) -> FloatArray:
        """The kernel of the median point with every row, over the last two columns of rows;
        `surface` has it on a grid."""
        plane = plane_of(Block.of(X, self._begun().n_features))

        def kernel(point: FloatArray, points: FloatArray) -> FloatArray:
            return laplacian_kernel(points, point[np.newaxis], self.psi)[:, 0]

        values, self.surface = surface_of(plane, kernel)
        return values

    def check_settings(self) -> None:
        """Refuse settings that make no sense."""
        check_whole(self, "psi", at_least=2)
        check_number(self, "step", above=0.0)

    def _start(self, problem: Problem) -> None:
        self.check_settings()
        rate = rate_of(self.psi, problem.n_features)
        self._rule = Laplacian(rate, float(self.step), int(self.budget))
        self._model = LaplacianModel(Expanding.empty(), 0)
        self._work = LaneWork.of(problem.n_features, problem.n_columns)
        self._position = 0

    def _learned(self) -> LaplacianModel:
        self._begun()
        assert self._model is not None  # what has begun has a model
        return self._model

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores = np.empty((len(block), self._begun().n_columns))
        # Sparse rows are taken whole: cutting them costs, reading them does not.
        size = max(1, len(block)) if block.is_sparse else BLOCK
        for first in range(0, len(block), size):
            part = slice(first, first + size)
            self._learn_part(block[part], targets[part], scores[part])
            self._position += len(scores[part])
        return scores

    def _learn_part(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        self._join(block, targets, scores)

    def _join(self, block: Block, targets: FloatArray, scores: FloatArray) -> int:
        """Learn rows until the budget has no place for one with a loss; how many were learned."""
        rows = entries_of(block)
        stream = RowStream(rows, targets, scores, self._position)
        for first in range(0, len(block), ROOM):
            last = min(first + ROOM, len(block))
            self._work = self._work.with_room_for(rows, first, last)
            model = self._learned()
            supports = model.supports.with_room_for(model.size, rows, first, last)
            self._model = model._replace(supports=supports)  # frees what it outgrew
            done, size = learn_laplacian(
                stream, first, last, supports, model.size, self._rule, self._work
            )
            self._model = LaplacianModel(supports, size)
            self.updates += size - model.size
            if done < last:
                return done
        return len(block)

    def _scores(self, block: Block) -> FloatArray:
        rows, problem = entries_of(block), self._begun()
        work = LaneWork.of(problem.n_features, problem.n_columns).with_room_for(rows, 0, len(block))
        scores = np.empty((len(block), problem.n_columns))
        score_laplacian(rows, *self._learned(), self._rule.rate, work, scores)
        return scores


@learner("LaplacianOGD", paper="ik", version=1, tasks=("binary", "multiclass"))
class LaplacianOGD(LaplacianLearner):
    """Online gradient descent with the Laplacian kernel, unbounded (Ting et al. 2019).

    The loss is the hinge loss. The kernel is psi^(-‖x - z‖₁ / d), where d is the number of columns.
    """

    def __init__(self, psi: int = 16, step: float = 0.5) -> None:
        self.psi = psi
        self.step = step


def rate_of(psi: int, n_features: int) -> float:
    """What the L1 distance is multiplied by in the kernel's exponent to the base 2."""
    return -math.log2(psi) / max(1, n_features)


def entries_of(block: Block) -> Entries:
    """Rows for the walks of this kernel: with sums of absolute values for norms."""
    starts, norms = block.starts.astype(np.int64), _absolute_sums(block)
    return Entries(block.values, block.columns, starts[:-1], starts[1:], norms)


def first_of(rows: Entries, size: int) -> Entries:
    """The first rows."""
    return rows._replace(
        starts=rows.starts[:size], stops=rows.stops[:size], squared_norms=rows.squared_norms[:size]
    )


def laplacian_kernel(X: Rows, Z: Rows, psi: int) -> FloatArray:
    """psi^(-‖x - z‖₁ / d) of every row of X and every row of Z, which have d columns."""
    rows = Block.of(X)
    n_features = rows.matrix.shape[1]
    points = Block.of(Z, n_features)
    supports = Expanding.empty()._replace(entries=entries_of(points))
    rate = rate_of(psi, n_features)
    return kernel_of(entries_of(rows), supports, len(points), n_features, rate)


def kernel_of(
    rows: Entries, supports: Expanding, size: int, n_features: int, rate: float
) -> FloatArray:
    """The kernel of rows and the first `size` supports."""
    out = np.empty((len(rows.starts), size))
    fill_kernel(rows, supports, n_features, rate, out)
    return out


def fill_kernel(
    rows: Entries, supports: Expanding, n_features: int, rate: float, out: NDArray[Any]
) -> None:
    """Fill in the kernel of rows and as many supports as `out` has columns."""
    work = LaneWork.of(n_features, 1).with_room_for(rows, 0, len(out))
    kernel_laplacian(rows, supports, rate, work, out)


def _absolute_sums(block: Block) -> FloatArray:
    """The sum of absolute values of each row, added up in the order of its columns."""
    if not block.is_sparse:
        return np.abs(block.dense).sum(axis=1)
    return row_sums(np.abs(block.values), block.starts)
