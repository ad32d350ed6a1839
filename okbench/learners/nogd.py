"""Nyström online gradient descent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.losses import HINGE, RESIDUAL, add_features, step
from okbench.learners.compiled.rules.nogd import NOGDRule, learn_nogd
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import FloatArray, Problem, SettingsError
from okbench.learners.linear import learn_on, score_on
from okbench.learners.maps import NystroemMap
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import check_choice, check_number, check_whole


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

    classification_loss = HINGE
    regression_loss = RESIDUAL

    def __init__(
        self,
        budget: int = 100,
        rank: int = 20,
        width: float = 8.0,
        step: float = 0.2,
        epsilon: float = 0.1,
        flush: float = 0.0,
        switch: str = "reference",
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.width = width
        self.step = step
        self.epsilon = epsilon
        self.flush = flush
        self.switch = switch

    def check_settings(self) -> None:
        super().check_settings()
        self.check_step()
        check_whole(self, "rank", at_least=1)
        check_number(self, "flush", at_least=0.0)
        check_choice(self, "switch", ("reference", "paper"))
        if self.rank > self.budget:
            raise SettingsError(
                f"{self.name}: rank = {self.rank}: it must not exceed budget = {self.budget}"
            )

    def rule(self, problem: Problem) -> NOGDRule:
        return NOGDRule(
            budget=self.budget,
            loss=self.loss(problem.task),
            epsilon=float(self.epsilon),
            sharpness=self.sharpness,
            step=float(self.step),
        )

    @property
    def _map(self) -> NystroemMap | None:
        """The map, once it has taken over."""
        supports, _, memory = self._learned()
        return NystroemMap(supports.lanes, self.sharpness, memory.basis) if memory else None

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

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        return learn_nogd(stream, first, model.supports, model.size, self._rule, work)

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
