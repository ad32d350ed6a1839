"""Kernel expansions whose supports live in a fixed number of slots."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.compiled.lanes import Entries, aligned, kernel_rows
from okbench.learners.compiled.supports import Supports
from okbench.learners.compiled.walks import CRAMPED, CROWDED, UNDRAWN, RowStream, Work, score_rows
from okbench.learners.contract import FloatArray, Problem, RowsError
from okbench.learners.kernel import KernelLearner
from okbench.learners.rows import Block
from okbench.learners.settings import check_whole


class BudgetModel(NamedTuple):
    """What a learner on a budget has learned."""

    supports: Supports
    size: int
    memory: Any = ()  # what its rule remembers besides: arrays, or tuples of them


class BudgetedLearner(KernelLearner):
    """A kernel expansion of at most `budget` supports.

    A subclass gives its settings as the numbers of a compiled rule, makes what the rule remembers
    besides the supports, and calls its walk in `_advance`.
    """

    budget: int

    _model: BudgetModel | None = None
    _rule: Any

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def coefficients(self) -> FloatArray:
        return self._learned().supports.coefficients[:, self._slots]

    @property
    def support_rows(self) -> NDArray[np.int64]:
        return self._learned().supports.rows[self._slots]

    def support_kernel(self) -> FloatArray:
        """The Gram matrix of the supports, oldest first."""
        supports = self._learned().supports
        values = aligned(len(supports.order), supports.coefficients.shape[1])
        kernel_rows(supports.entries, supports.lanes, self.sharpness, values)
        return values[np.ix_(self._slots, self._slots)]

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "budget", at_least=1)

    @abstractmethod
    def rule(self, problem: Problem) -> Any:
        """The learner in numbers: the rule of its walk."""

    def memory(self, problem: Problem) -> Any:
        """What its rule remembers besides the supports, empty."""
        return ()

    @property
    def _slots(self) -> NDArray[np.int32]:
        supports, size, _ = self._learned()
        return supports.order[:size]

    def _learned(self) -> BudgetModel:
        self._begun()
        assert self._model is not None  # what has begun has a model
        return self._model

    def _clear(self, problem: Problem) -> None:
        self._rule = self.rule(problem)
        supports = Supports.empty(problem.n_features, problem.n_columns, self.budget)
        self._model = BudgetModel(supports, 0, self.memory(problem))

    def _learn_rows(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        self._walk(block, targets, scores)

    def _walk(self, block: Block, targets: FloatArray, scores: FloatArray) -> int:
        """Learn rows in order and fill in their scores; how many were learned."""
        stream = RowStream(Entries.of(block), targets, scores, self._position)
        widest = int((stream.rows.stops - stream.rows.starts).max(initial=0))
        learned, reason = 0, CRAMPED
        while reason in (CRAMPED, CROWDED):
            model = self._learned()
            supports = self._with_room(model.supports, widest)
            if reason == CROWDED:
                supports = supports.widened(widest)
            model = model._replace(supports=supports)
            reason, learned, size, updates = self._advance(
                stream, learned, model, Work.of(supports)
            )
            self._model = model._replace(size=size)
            self.updates += updates
        if reason == UNDRAWN:
            raise RowsError(f"{self.name}: the recorded draws end before row {learned}'s removal")
        return learned

    def _with_room(self, supports: Supports, widest: int) -> Supports:
        """Slots that a row of `widest` entries can take, whatever the rule makes of them."""
        return supports.with_room_for(widest)

    @abstractmethod
    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        """Learn from row `first` on: (why it ended, rows learned up to, size, updates)."""

    def _scores(self, block: Block) -> FloatArray:
        scores = np.empty((len(block), self._begun().n_columns))
        supports, size, _ = self._learned()
        lifted = Work.of(supports).lifted
        score_rows(Entries.of(block), supports, size, self.sharpness, lifted, scores)
        return scores
