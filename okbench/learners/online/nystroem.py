"""NOGD: gradient descent on the Nyström map of the supports, once there are enough."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from okbench.base.blas_threads import one_thread
from okbench.learners.budget_base import BudgetedLearner
from okbench.learners.contract import FloatArray, Problem, SettingsError
from okbench.learners.linear import learn_on, score_on
from okbench.learners.maps import NystroemMap
from okbench.learners.numeric.lanes import Entries
from okbench.learners.numeric.losses import HINGE, RESIDUAL, add_features, step
from okbench.learners.numeric.supports import Supports, crowded
from okbench.learners.numeric.walks import (
    FULL,
    NEEDS_COLUMNS,
    Met,
    Row,
    Work,
    join,
    learns_by,
)
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Number, Whole


class MapModel(NamedTuple):
    """What NOGD has learned beside its supports, once the map has taken over."""

    basis: FloatArray  # lanes × rank
    weights: FloatArray  # columns × rank


@learner("NOGD", paper="lsokl", version=1)
class NOGD(BudgetedLearner):
    """Online gradient descent on the Nyström map of its supports (Lu et al. 2016, Algorithm 2).

    Until the budget is full it is kernel online gradient descent; then the supports make the map.
    It keeps the `rank` largest eigenvalues of the supports' Gram matrix; those not above
    rounding (budget × 2^-52 × the largest) take no part, as in a pseudo-inverse. The weights begin
    where the expansion ended. `switch` says when: with the first row to be learned after the budget
    was filled, as the authors' programs do ("reference"), or as soon as it is filled ("paper").
    Scores within `flush` of zero count as zero.
    """

    rank = Whole(20, at_least=1, meaning="eigenvalues of the Gram matrix that are kept (k)")
    step = Number(0.2, above=0.0, meaning="step size of the updates (η)")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")
    flush = Number(0.0, at_least=0.0, meaning="scores this close to zero count as zero")
    switch = Choice("reference", ("reference", "paper"), meaning="when the map takes over")

    classification_loss = HINGE
    regression_loss = RESIDUAL

    def check_settings(self) -> None:
        super().check_settings()
        if self.rank > self.budget:
            raise SettingsError(
                f"{self.name}: rank = {self.rank}: it must not exceed budget = {self.budget}"
            )

    def rule(self, problem: Problem) -> NOGDRule:
        return NOGDRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=self.epsilon,
            formula=self.formula,
            step=self.step,
        )

    @property
    def _map(self) -> NystroemMap | None:
        """The map, once it has taken over."""
        supports, _, memory = self._learned()
        return NystroemMap(supports.lanes, self.formula, memory.basis) if memory else None

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        self._rank, self._flush, self._early = self.rank, self.flush, self.switch == "paper"

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        return self._flushed(super()._learn(block, targets))

    def _scores(self, block: Block) -> FloatArray:
        features, memory = self._map, self._learned().memory
        if features is None:
            return self._flushed(super()._scores(block))
        scores = np.empty((len(block), len(memory.weights)))
        score_on(features, memory.weights, block, scores)
        return self._flushed(scores)

    def _learn_rows(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        done = 0
        if self._map is None:
            done = self._learn_expansion(block, targets, scores)
        features, memory = self._map, self._learned().memory
        if features is not None:
            rest = slice(done, None)
            self.updates += learn_on(
                features,
                memory.weights,
                block[rest],
                targets[rest],
                scores[rest],
                self._rule.loss,
                self._rule.epsilon,
                self._rule.step,
            )

    def _learn_expansion(self, block: Block, targets: FloatArray, scores: FloatArray) -> int:
        """Learn rows until the map takes over, if it does; how many were learned."""
        learned = self._walk(block, targets, scores)
        if self._early and self.support_size == self._rule.budget:
            self._switch()
            return max(0, int(self.support_rows[-1]) + 1 - self._position)
        if learned < len(block):
            self._switch()
            self._learn_at_the_switch(block[learned : learned + 1], targets, scores, learned)
            learned += 1
        return learned

    @one_thread
    def _switch(self) -> None:
        """With K = V Λ Vᵀ, the map is T k, T = Λ^(-1/2) Vᵀ, and the weights c T⁺ = c V Λ^(1/2)."""
        eigenvalues, vectors = np.linalg.eigh(self.support_kernel())
        eigenvalues, vectors = eigenvalues[-self._rank :], vectors[:, -self._rank :]
        rounding = self._rule.budget * np.finfo(np.float64).eps * eigenvalues[-1]
        kept = eigenvalues > rounding
        roots = np.sqrt(eigenvalues, where=kept, out=np.zeros_like(eigenvalues))
        inverse_roots = np.divide(1.0, roots, where=kept, out=np.zeros_like(roots))
        model = self._learned()
        basis = np.zeros((model.supports.coefficients.shape[1], self._rank))
        basis[self._slots] = vectors * inverse_roots
        weights = np.ascontiguousarray(self.coefficients @ vectors * roots)
        self._model = model._replace(memory=MapModel(basis, weights))

    def _learn_at_the_switch(
        self, row: Block, targets: FloatArray, scores: FloatArray, i: int
    ) -> None:
        """The update of the row at which the map takes over: its score is the expansion's."""
        nystroem, rule = self._map, self._rule
        assert nystroem is not None
        gain, plus, minus, _ = step(rule.loss, scores, i, targets[i], rule.epsilon)
        features = np.empty((1, self._rank))
        nystroem.project(row, 0, features)
        weights = self._learned().memory.weights
        add_features(weights, plus, minus, rule.step * gain, features[0])
        self.updates += 1

    def _flushed(self, scores: FloatArray) -> FloatArray:
        scores[np.abs(scores) <= self._flush] = 0.0
        return scores


class NOGDRule(NamedTuple):
    """NOGD in numbers."""

    budget: int
    loss: int
    epsilon: float
    formula: Any
    step: float


@learns_by(NOGDRule)
def learn_nogd(
    rule: Any, memory: Any, scratch: Any, uniforms: Any, n_removed: int, row: Row, rows: Entries,
    scores: Any, met: Met, supports: Supports, size: int, work: Work,
) -> tuple[int, bool]:  # fmt: skip
    """Rows join until the budget is full.

    The scores of the row that would exceed it are there already.
    """
    gain, plus, minus, _ = met
    if size == rule.budget:
        return FULL, False
    if crowded(rows, row[0], supports.lanes):
        return NEEDS_COLUMNS, False
    join(row, rows, supports, supports.order[size], plus, minus, rule.step * gain)
    return size + 1, True
