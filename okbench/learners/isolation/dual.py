"""Online gradient descent with the isolation kernel as a kernel."""

from __future__ import annotations

import numpy as np

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.isolation.base import IsolationLearner
from okbench.learners.isolation.maps import Cells, IsolationMap
from okbench.learners.numeric.rules.isolation import Kept, learn_kept, score_kept
from okbench.learners.registry import learner


@learner("IK-OGD-dual", paper="ik", version=1, tasks=("binary", "multiclass"))
class IKOGDDual(IsolationLearner):
    """IK-OGD by kernel values with every row that had a loss (Ting et al. 2019, section 8.1).

    It makes the same decisions as IK-OGD. A prediction takes time in proportion to the number of
    rows that are kept, which is what the paper compares with.
    """

    _kept: Kept | None = None
    _size: int = 0

    @property
    def support_size(self) -> int:
        return self._size

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        self._kept, self._size = None, 0

    def _clear(self, problem: Problem, made: IsolationMap) -> None:
        self._kept = None
        self._size = 0

    def _learn_cells(self, cells: Cells, targets: FloatArray, scores: FloatArray) -> int:
        self._kept = kept = _with_room_for(self._kept, self._size, cells)
        size = learn_kept(cells, targets, kept, self._size, self._rule, scores)
        before, self._size = self._size, size
        return size - before

    def _score_cells(self, cells: Cells, scores: FloatArray) -> None:
        if self._kept is not None:
            score_kept(cells, self._kept, self._size, scores)


def _with_room_for(kept: Kept | None, size: int, cells: Cells) -> Kept:
    """The rows that are kept, in arrays that can take up all of these rows."""
    needed = size + len(cells)
    if kept is not None and needed <= len(kept.signs):
        return kept
    length = max(needed, 2 * size)
    columns = (np.zeros(length, dtype=np.int32) for _ in range(3))
    longer = Kept(np.zeros((length, cells.shape[1]), dtype=cells.dtype), *columns)
    if kept is not None:
        for old, new in zip(kept, longer, strict=True):
            new[:size] = old[:size]
    return longer
