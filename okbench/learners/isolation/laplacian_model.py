"""What learners with the Laplacian kernel have learned, and how they learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.expansion import ROOM
from okbench.learners.isolation.laplacian_kernel import Points


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


class LaplacianWalker:
    """One learner, or several that differ in psi, on the way through rows."""

    _rule: Laplacian
    _model: LaplacianModel
    _work: LaplacianWork

    def _set_out(self, problem: Problem, rule: Laplacian) -> None:
        """Begin with no supports."""
        n_learners = len(rule.rates)
        self._rule = rule
        self._model = LaplacianModel.empty(problem.n_features, n_learners)
        self._work = LaplacianWork.of(problem.n_features, problem.n_columns, n_learners)

    def _walk(self, points: Points, targets: FloatArray, scores: FloatArray, position: int) -> int:
        """Learn rows until the budget has no place for one with a loss; how many were learned.
        Their scores are learners × rows × columns, and `position` is that of the first."""
        stream = RowStream(points.entries, targets, scores, position)
        for first in range(0, len(targets), ROOM):
            last = min(first + ROOM, len(targets))
            self._work = self._work.with_room_for(points.entries, first, last, points.in_bytes)
            self._model = self._model.with_room_for(points, first, last)
            kept, size = self._model.met_by(points), self._model.size
            done, size = learn_laplacian(stream, first, last, kept, size, self._rule, self._work)
            self._model = self._model.grown(size, points)
            if done < last:
                return done
        return len(targets)


def fill_scores(model: LaplacianModel, rule: Laplacian, points: Points, scores: FloatArray) -> None:
    """Fill in the scores of rows: learners × rows × columns."""
    kept, (n_learners, n_rows, n_columns) = model.met_by(points), scores.shape
    work = LaplacianWork.of(points.n_features, n_columns, n_learners)
    work = work.with_room_for(points.entries, 0, n_rows, len(kept.pixels) > 0)
    score_laplacian(points.entries, kept, model.size, rule.rates, work, scores)
