"""What learners with the Laplacian kernel have learned, and how they learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.expansion import ROOM
from okbench.learners.isolation.laplacian_kernel import Points
from okbench.learners.numeric.expansion import Expanding, longer
from okbench.learners.numeric.rules.laplacian import (
    Kept,
    Laplacian,
    LaplacianWork,
    clear_pixels,
    learn_laplacian,
    score_laplacian,
)
from okbench.learners.numeric.walks import RowStream


class LaplacianModel(NamedTuple):
    """What has been learned: rows that had a loss, with their coefficients.

    The supports are kept as bytes, and their entries are not, as long as all of them came with rows
    that are best compared as such.
    """

    kept: Kept
    size: int

    @classmethod
    def empty(cls, n_features: int, n_learners: int = 1) -> LaplacianModel:
        gains, columns = np.zeros((0, n_learners)), np.zeros((0, n_learners), np.int32)
        supports = Expanding.empty()._replace(gains=gains, plus=columns, minus=columns)
        return cls(Kept(supports, clear_pixels(0, n_features)), 0)

    @property
    def in_bytes(self) -> bool:
        return len(self.kept.pixels) > 0

    def with_room_for(self, points: Points, first: int, last: int) -> LaplacianModel:
        """The same supports in arrays that can take up all of rows[first:last]."""
        (supports, pixels), size = self.met_by(points), self.size
        entries, n_supports = points.entries, size + last - first
        if points.in_bytes and (self.in_bytes or size == 0):
            none = np.zeros_like(entries.starts)
            entries = entries._replace(starts=none, stops=none)
            pixels = longer(pixels, n_supports) if n_supports > len(pixels) else pixels
        supports = supports.with_room_for(size, entries, first, last)
        return LaplacianModel(Kept(supports, pixels), size)

    def met_by(self, points: Points) -> Kept:
        """The supports as these rows are compared with them."""
        return self.in_numbers() if self.in_bytes and not points.in_bytes else self.kept

    def in_numbers(self) -> Kept:
        """The supports as numbers."""
        supports, pixels = self.kept
        if not self.in_bytes:
            return self.kept
        rows, columns = np.nonzero(pixels[: self.size])
        starts, stops = np.zeros((2, len(supports.gains)), np.int64)
        counts = np.bincount(rows, minlength=self.size)
        stops[: self.size] = np.cumsum(counts)
        starts[: self.size] = stops[: self.size] - counts
        entries = supports.entries._replace(
            values=pixels[rows, columns].astype(np.float64),
            columns=columns.astype(np.int32),
            starts=starts,
            stops=stops,
        )
        return Kept(supports._replace(entries=entries), pixels[:0])


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
            self._model = self._model.with_room_for(points, first, last)
            kept, size = self._model
            in_bytes = self._model.in_bytes
            self._work = self._work.with_room_for(points.entries, first, last, in_bytes)
            done, size = learn_laplacian(stream, first, last, kept, size, self._rule, self._work)
            self._model = LaplacianModel(kept, size)
            if done < last:
                return done
        return len(targets)


def fill_scores(model: LaplacianModel, rule: Laplacian, points: Points, scores: FloatArray) -> None:
    """Fill in the scores of rows: learners × rows × columns."""
    kept, (n_learners, n_rows, n_columns) = model.met_by(points), scores.shape
    work = LaplacianWork.of(points.n_features, n_columns, n_learners)
    work = work.with_room_for(points.entries, 0, n_rows, len(kept.pixels) > 0)
    score_laplacian(points.entries, kept, model.size, rule.rates, work, scores)
