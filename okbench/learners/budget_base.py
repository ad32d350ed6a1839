"""Kernel expansions whose supports live in a fixed number of slots."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Problem, RowsError
from okbench.learners.kernel import KernelLearner
from okbench.learners.numeric.lanes import Entries, aligned, kernel_rows
from okbench.learners.numeric.supports import Supports
from okbench.learners.numeric.walks import (
    NEEDS_COLUMNS,
    NEEDS_ENTRIES,
    OUT_OF_DRAWS,
    RowStream,
    Work,
    learn_slots,
    score_rows,
)
from okbench.learners.rows import Block
from okbench.learners.settings import Whole


class BudgetModel(NamedTuple):
    """What a learner on a budget has learned."""

    supports: Supports
    size: int
    memory: Any = ()  # what its rule remembers besides: arrays, or tuples of them


class BudgetedLearner(KernelLearner):
    """A kernel expansion of at most `budget` supports.

    A subclass gives its settings as a rule (`okbench.learners.numeric.walks`), and makes what the
    rule remembers besides the supports.
    """

    budget = Whole(100, at_least=1, meaning="the largest number of support vectors (B)")

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
        kernel_rows(supports.entries, supports.lanes, self.formula, values)
        return values[np.ix_(self._slots, self._slots)]

    @abstractmethod
    def rule(self, problem: Problem) -> Any:
        """The learner in numbers: the rule of its walk."""

    @property
    def draws_removals(self) -> bool:
        """Whether uniforms choose which support leaves."""
        return False

    def memory(self, problem: Problem) -> Any:
        """What its rule remembers besides the supports, empty."""
        return ()

    def scratch(self, supports: Supports) -> Any:
        """What its rule computes in."""
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
        walk = learn_slots(type(self._rule))  # type: ignore[arg-type]
        learned, reason = 0, NEEDS_ENTRIES
        while reason in (NEEDS_ENTRIES, NEEDS_COLUMNS):
            model = self._learned()
            supports = self._with_room(model.supports, widest)
            if reason == NEEDS_COLUMNS:
                supports = supports.widened(widest)
            n_draws = len(targets) - learned if self.draws_removals else 0
            reason, learned, size, updates, n_removed = walk(
                stream, learned, supports, model.size, self._rule, model.memory,
                self.scratch(supports), self.draws.look_ahead(n_draws), Work.of(supports),
            )  # fmt: skip
            self._model = model._replace(supports=supports, size=size)
            self.updates += updates
            if self.draws_removals:
                self.draws.use_up(n_removed)
        if reason == OUT_OF_DRAWS:
            raise RowsError(f"{self.name}: the recorded draws end before row {learned}'s removal")
        return learned

    def _with_room(self, supports: Supports, widest: int) -> Supports:
        """Slots that a row of `widest` entries can take, whatever the rule makes of them."""
        return supports.with_room_for(widest)

    def _scores(self, block: Block) -> FloatArray:
        scores = np.empty((len(block), self._begun().n_columns))
        supports, size, _ = self._learned()
        lifted = Work.of(supports).lifted
        score_rows(Entries.of(block), supports, size, self.formula, lifted, scores)
        return scores
