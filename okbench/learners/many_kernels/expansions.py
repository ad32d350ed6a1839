"""What learners with several kernels on kernel expansions share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner
from okbench.learners.budget_base import BudgetModel
from okbench.learners.contract import FloatArray, Problem, SettingsError
from okbench.learners.expansion import ROOM, ExpansionModel
from okbench.learners.kernel import BLOCK, model_bytes
from okbench.learners.kernels import KERNELS
from okbench.learners.many_kernels.dictionary import (
    KernelDictionary,
    has_polynomials,
    kernels_of,
)
from okbench.learners.numeric.expansion import Expanding, LaneWork
from okbench.learners.numeric.kernels import (
    Cauchy,
    Gaussian,
    Laplacian,
    Matern32,
    Matern52,
    Polynomial,
)
from okbench.learners.numeric.lanes import Entries
from okbench.learners.numeric.rules.omkl import (
    BEFORE_POLYNOMIALS,
    CAUCHY,
    GAUSSIAN,
    LAPLACIAN,
    MATERN32,
    MATERN52,
    Dictionary,
    DictionaryRule,
    Mind,
    SlotWork,
    learn_growing,
    learn_within,
    score_growing,
    score_within,
)
from okbench.learners.numeric.supports import Supports
from okbench.learners.numeric.walks import NEEDS_COLUMNS, RowStream
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Number, Whole

_KINDS = {
    Gaussian: GAUSSIAN,
    Laplacian: LAPLACIAN,
    Cauchy: CAUCHY,
    Matern32: MATERN32,
    Matern52: MATERN52,
    Polynomial: BEFORE_POLYNOMIALS,
}
UPDATES, COMBINATIONS = ("all", "sampled"), ("weighted", "sampled")


class KernelExpansions(KernelDictionary, OnlineLearner):
    """A kernel expansion per kernel of a dictionary, and a weight per kernel.

    `updates` says which kernels learn a row: all, or each with a probability of (1 - smoothing) ·
    (its weight / the largest) + smoothing. `combination` says how `learn` answers: with the
    weighted mean of the kernels, or with one kernel drawn by the weights; `predict` always answers
    with the mean. `budget` keeps the last so many support vectors; without it every row that
    changed the model stays.
    """

    step = Number(0.5, above=0.0, meaning="step size of the updates (η)")
    update = Choice("all", UPDATES, meaning="which kernels learn from a row")
    combination = Choice("weighted", COMBINATIONS, meaning="how the kernels are combined")
    smoothing = Number(
        0.01, at_least=0.0, at_most=1.0, meaning="the least probability of a drawn kernel"
    )
    budget = Whole[int | None](
        None, at_least=1, meaning="the largest number of support vectors (B)"
    )

    has_gaussian_kernel: ClassVar[bool] = True

    _model: ExpansionModel | BudgetModel | None = None
    _position: int  # rows learned

    @property
    def width(self) -> float | None:
        """The smallest width: that of the kernel which is most sensitive to where rows are. None
        with a polynomial kernel: rows cannot be moved then."""
        return None if has_polynomials(self) else min(self.widths)

    @property
    def kernel_weights(self) -> FloatArray:
        """The weights of the kernels, which add up to 1."""
        self._begun()
        weights = np.exp(self._mind.logarithms - self._mind.logarithms.max())
        shares: FloatArray = weights / weights.sum()
        return shares

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def nbytes(self) -> int:
        return model_bytes(self)

    @property
    def support_rows(self) -> NDArray[np.int64]:
        """The numbers of the supports in the stream, counted from 0, oldest first."""
        model = self._learned()
        if isinstance(model, ExpansionModel):
            return model.supports.rows[: model.size]
        return model.supports.rows[model.supports.order[: model.size]]

    @property
    def coefficients(self) -> FloatArray:
        """Coefficients of the supports, kernels × supports, oldest first."""
        model = self._learned()
        if isinstance(model, ExpansionModel):
            held = model.supports.gains[: model.size].T
        else:
            held = model.supports.coefficients[:, model.supports.order[: model.size]]
        return self._mind.factors[:, np.newaxis] * held

    @abstractmethod
    def rule(self, problem: Problem) -> DictionaryRule:
        """The learner in numbers."""

    def _rule_of(self, loss: int, step: float, keep: float, weight_step: float) -> DictionaryRule:
        """A rule with the settings that all learners here have."""
        return DictionaryRule(
            loss=loss,
            step=float(step),
            keep=float(keep),
            weight_step=float(weight_step),
            samples_updates=self.update == "sampled",
            samples_answer=self.combination == "sampled",
            smoothing=self.smoothing,
            budget=self.budget or 0,
        )

    def _learned(self) -> ExpansionModel | BudgetModel:
        self._begun()
        assert self._model is not None  # what has begun has a model
        return self._model

    def _start(self, problem: Problem) -> None:
        self._rule = self.rule(problem)
        self._dictionary = dictionary_of(kernels_of(self), self.widths)
        self._mind = Mind.empty(n_kernels := len(self.widths))
        self._position = 0
        if self.budget is None:
            supports = Expanding.empty()._replace(gains=np.zeros((0, n_kernels)))
            self._model = ExpansionModel(supports, 0, np.zeros(0))
        else:
            slots = Supports.empty(problem.n_features, n_kernels, self.budget)
            self._model = BudgetModel(slots, 0)

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores = np.empty((len(block), 1))
        size = max(1, len(block)) if block.is_sparse else BLOCK
        for first in range(0, len(block), size):
            rows = slice(first, first + size)
            part = block[rows]
            stream = RowStream(Entries.of(part), targets[rows], scores[rows], self._position)
            uniforms, model = self._uniforms(len(part)), self._learned()
            if isinstance(model, ExpansionModel):
                self._learn_growing(model, stream, uniforms)
            else:
                self._learn_within(model, stream, uniforms)
            self._position += len(part)
        return scores

    def _uniforms(self, n_rows: int) -> FloatArray:
        """For each row one per kernel, for its update, and one for the answer; none if unused."""
        if not (self._rule.samples_updates or self._rule.samples_answer):
            return np.empty((0, 0))
        n_each = len(self._mind.shares) + 1
        return self.draws.stream("kernels").uniforms(n_rows * n_each).reshape(n_rows, n_each)

    def _learn_growing(
        self, model: ExpansionModel, stream: RowStream, uniforms: FloatArray
    ) -> None:
        work = LaneWork.of(self._begun().n_features, len(self._mind.shares))
        for first in range(0, len(stream.targets), ROOM):
            last = min(first + ROOM, len(stream.targets))
            work = work.with_room_for(stream.rows, first, last)
            supports, before = model.supports, model.size
            supports = supports.with_room_for(before, stream.rows, first, last)
            self._model = model = model._replace(supports=supports)  # frees what it outgrew
            size = learn_growing(
                stream, first, last, uniforms, supports, before, self._dictionary, self._rule,
                self._mind, work,
            )  # fmt: skip
            self._model = model = model._replace(size=size)
            self.updates += size - before

    def _learn_within(self, model: BudgetModel, stream: RowStream, uniforms: FloatArray) -> None:
        widest = int((stream.rows.stops - stream.rows.starts).max(initial=0))
        reason, learned = NEEDS_COLUMNS, 0
        while reason == NEEDS_COLUMNS:
            supports = model.supports.with_room_for(widest)
            if not supports.lanes.has_room_for(widest):
                supports = supports.widened(widest)
            reason, learned, size, updates = learn_within(
                stream, learned, uniforms, supports, model.size, self._dictionary, self._rule,
                self._mind, SlotWork.of(supports),
            )  # fmt: skip
            self._model = model = BudgetModel(supports, size)
            self.updates += updates

    def _scores(self, block: Block) -> FloatArray:
        rows, problem, model = Entries.of(block), self._begun(), self._learned()
        scores, mind = np.empty((len(block), 1)), self._mind.with_own_scratch()
        if isinstance(model, ExpansionModel):
            work = LaneWork.of(problem.n_features, len(mind.shares))
            work = work.with_room_for(rows, 0, len(block))
            score_growing(rows, model.supports, model.size, self._dictionary, mind, work, scores)
        else:
            slots = SlotWork.of(model.supports)
            score_within(rows, model.supports, model.size, self._dictionary, mind, slots, scores)
        return scores


def dictionary_of(kernels: Sequence[str], widths: Sequence[float]) -> Dictionary:
    """The kernels in numbers."""
    numbers = [KERNELS[name].numbers(float(w)) for name, w in zip(kernels, widths, strict=True)]
    return Dictionary(
        np.array([_KINDS[type(one)] + getattr(one, "degree", 0) for one in numbers], np.int64),
        np.array([one[0] for one in numbers]),
    )


def discounted(discount: float) -> float:
    """The step of the logarithms that multiplies weights by discount^loss."""
    return -math.log(discount)


def check_shrinking(learner: Any) -> None:
    """Refuse a decay that leaves nothing of the coefficients."""
    if not learner.step * learner.decay < 1.0:
        raise SettingsError(
            f"{learner.name}: decay = {learner.decay!r}: step · decay must be below 1, since "
            "coefficients shrink by 1 - step · decay"
        )
