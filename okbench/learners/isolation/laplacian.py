"""Online gradient descent with the Laplacian kernel in its ψ form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner
from okbench.learners.compiled.expansion import Expanding, longer
from okbench.learners.compiled.rules.laplacian import (
    Kept,
    Laplacian,
    LaplacianWork,
    clear_pixels,
    learn_laplacian,
    score_laplacian,
)
from okbench.learners.compiled.walks import RowStream
from okbench.learners.contract import FloatArray, Problem, Rows
from okbench.learners.expansion import ROOM
from okbench.learners.holdings import Holdings
from okbench.learners.isolation.laplacian_kernel import Points, laplacian_kernel, rate_of
from okbench.learners.kernel import BLOCK, model_bytes
from okbench.learners.kernel_surface import Surface, plane_of, surface_of
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import check_number, check_whole

UNBOUNDED = 2**62


class LaplacianModel(NamedTuple):
    """What has been learned: rows that had a loss, with their coefficients.

    The supports are kept as bytes as well, as long as all of them came with rows that are best
    compared as such.
    """

    kept: Kept
    size: int

    @classmethod
    def empty(cls, n_features: int, n_learners: int = 1) -> LaplacianModel:
        gains, columns = np.zeros((0, n_learners)), np.zeros((0, n_learners), np.int32)
        supports = Expanding.empty()._replace(gains=gains, plus=columns, minus=columns)
        return cls(Kept(supports, clear_pixels(0, n_features)), 0)

    def with_room_for(self, points: Points, first: int, last: int) -> LaplacianModel:
        """The same supports in arrays that can take up all of rows[first:last]."""
        supports, pixels = self.kept
        supports = supports.with_room_for(self.size, points.entries, first, last)
        n_supports = self.size + last - first
        if points.in_bytes and (len(pixels) or not self.size) and n_supports > len(pixels):
            pixels = longer(pixels, n_supports)
        return self._replace(kept=Kept(supports, pixels))

    def met_by(self, points: Points) -> Kept:
        """The supports, as bytes too if these rows are compared with them as such."""
        return self.kept if points.in_bytes else self.kept._replace(pixels=self.kept.pixels[:0])

    def grown(self, size: int, points: Points) -> LaplacianModel:
        """The model with that many supports, the last of which are of these rows."""
        joined = size > self.size
        return LaplacianModel(self.met_by(points) if joined else self.kept, size)


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
    _work: LaplacianWork
    _position: int  # rows learned

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def support_rows(self) -> NDArray[np.int64]:
        """The numbers of the supports in the stream, counted from 0, oldest first."""
        model = self._learned()
        return model.kept.supports.rows[: model.size]

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
        rates = np.array([rate_of(self.psi, problem.n_features)])
        self._rule = Laplacian(rates, float(self.step), int(self.budget))
        self._model = LaplacianModel.empty(problem.n_features)
        self._work = LaplacianWork.of(problem.n_features, problem.n_columns)
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
        points = Points.of(block)
        stream = RowStream(points.entries, targets, scores[np.newaxis], self._position)
        for first in range(0, len(block), ROOM):
            last = min(first + ROOM, len(block))
            self._work = self._work.with_room_for(points.entries, first, last, points.in_bytes)
            self._model = model = self._learned().with_room_for(points, first, last)
            done, size = learn_laplacian(
                stream, first, last, model.met_by(points), model.size, self._rule, self._work
            )
            self._model = model.grown(size, points)
            self.updates += size - model.size
            if done < last:
                return done
        return len(block)

    def _scores(self, block: Block) -> FloatArray:
        scores = np.empty((1, len(block), self._begun().n_columns))
        score_rows(self._learned(), self._rule, Points.of(block), scores)
        return scores[0]


@learner("LaplacianOGD", paper="ik", version=1, tasks=("binary", "multiclass"))
class LaplacianOGD(LaplacianLearner):
    """Online gradient descent with the Laplacian kernel, unbounded (Ting et al. 2019).

    The loss is the hinge loss. The kernel is psi^(-‖x - z‖₁ / d), where d is the number of columns.
    """

    def __init__(self, psi: int = 16, step: float = 0.5) -> None:
        self.psi = psi
        self.step = step


def score_rows(model: LaplacianModel, rule: Laplacian, points: Points, scores: FloatArray) -> None:
    """Fill in the scores of rows: learners × rows × columns."""
    kept, (n_learners, n_rows, n_columns) = model.met_by(points), scores.shape
    work = LaplacianWork.of(points.n_features, n_columns, n_learners)
    work = work.with_room_for(points.entries, 0, n_rows, len(kept.pixels) > 0)
    score_laplacian(points.entries, kept, model.size, rule.rates, work, scores)
