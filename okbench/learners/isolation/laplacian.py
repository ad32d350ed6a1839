"""Online gradient descent with the Laplacian kernel in its ψ form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner
from okbench.learners.contract import FloatArray, Problem, Rows
from okbench.learners.holdings import Holdings
from okbench.learners.isolation.laplacian_kernel import Points, laplacian_kernel, rate_of
from okbench.learners.isolation.laplacian_model import (
    LaplacianModel,
    LaplacianWalker,
    fill_scores,
)
from okbench.learners.isolation.shared_supports import LearnedTogether, Member
from okbench.learners.kernel import BLOCK, model_bytes
from okbench.learners.kernel_surface import Surface, plane_of, surface_of
from okbench.learners.numeric.rules.laplacian import Laplacian
from okbench.learners.origin import Origin
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Number, Whole

UNBOUNDED = 2**62


class LaplacianLearner(LaplacianWalker, OnlineLearner):
    """A kernel expansion that rows with a loss join, until a budget is full.

    The kernel is psi^(-‖x - z‖₁ / d) for rows of d columns.
    """

    psi = Whole(16, at_least=2, meaning="the kernel is psi^(-‖x - z‖₁ / d) for d columns")
    step = Number(0.5, above=0.0, meaning="step size of the updates (η)")

    holdings = Holdings(supports="own")

    budget: int = UNBOUNDED

    surface: Surface | None = None
    _position: int  # rows learned

    @property
    def support_size(self) -> int:
        return self._model.size if self.problem else 0

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

    def _start(self, problem: Problem) -> None:
        rates = np.array([rate_of(self.psi, problem.n_features)])
        self._set_out(problem, Laplacian(rates, self.step, self.budget))
        self._position = 0

    def _new_origin(self, problem: Problem) -> Origin:
        return Origin.for_psi(self.psi, problem.n_features)

    def _learned(self) -> LaplacianModel:
        self._begun()
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
        before = self._model.size
        done = self._walk(Points.of(block), targets, scores[np.newaxis], self._position)
        self.updates += self._model.size - before
        return done

    def _scores(self, block: Block) -> FloatArray:
        scores = np.empty((1, len(block), self._begun().n_columns))
        fill_scores(self._learned(), self._rule, Points.of(block), scores)
        return scores[0]


@learner("LaplacianOGD", paper="ik", version=1, tasks=("binary", "multiclass"))
class LaplacianOGD(LaplacianLearner):
    """Online gradient descent with the Laplacian kernel, unbounded (Ting et al. 2019).

    The loss is the hinge loss. The kernel is psi^(-‖x - z‖₁ / d), where d is the number of columns.
    """

    shared_settings: ClassVar[tuple[str, ...]] = ("psi",)

    _given: Member | None = None  # of those that learn together
    _member: Member | None = None  # the same; None where it learns alone

    @staticmethod
    def share(learners: Sequence[LaplacianOGD]) -> None:
        """Have learners that differ in psi, and learn the same rows, share distances."""
        together = LearnedTogether(learners[0]._begun(), [each._rule for each in learners])
        for number, each in enumerate(learners):
            each._given = each._member = Member(together, number)

    @property
    def support_size(self) -> int:
        return self._member.size if self._member else super().support_size

    @property
    def nbytes(self) -> int:
        return super().nbytes + (self._member.nbytes if self._member else 0)

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        self._member = self._given.begun(problem, self._rule) if self._given else None

    def _learned(self) -> LaplacianModel:
        return self._member.model if self._member else super()._learned()

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        if self._member is not None:
            scores = self._member.learned(block, targets)
            if scores is not None:
                self.updates = self._member.size
                self._position += len(block)
                return scores
            self._model, self._member = self._learned(), None
        return super()._learn(block, targets)

    def _scores(self, block: Block) -> FloatArray:
        scores = self._member.scores(block) if self._member else None
        return super()._scores(block) if scores is None else scores
