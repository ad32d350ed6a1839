"""Nyström online gradient descent with the Laplacian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from okbench.base.blas_threads import one_thread
from okbench.learners.contract import FloatArray, Problem, SettingsError
from okbench.learners.isolation.laplacian import LaplacianLearner
from okbench.learners.isolation.laplacian_kernel import Others, Points, fill_kernel
from okbench.learners.numeric.fourier import project_dense
from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.rules.laplacian import learn_averaged
from okbench.learners.numeric.rules.linear import AS_THEY_ARE, score_on_map
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Flag, Whole

STRETCH = 1024  # rows whose kernel is held at a time


class MappedModel(NamedTuple):
    """What has been learned on the map that the supports make."""

    basis: FloatArray  # supports × rank
    weights: FloatArray  # columns × rank
    totals: FloatArray  # the sum of the weights after every update
    updates: int


@learner("LaplacianNOGD", paper="ik", version=1, tasks=("binary", "multiclass"))
class LaplacianNOGD(LaplacianLearner):
    """Nyström online gradient descent with the Laplacian kernel (Ting et al. 2019).

    The first `budget` rows with a loss are supports of kernel online gradient descent. The next one
    makes a map of the `rank` largest eigenvalues of their kernel matrix (those not above rounding
    take no part), and weights on it begin at 0 with that row. With `averages` scores are those of
    the mean of the weights after each update, as in the authors' program, while each update is that
    of the weights themselves.
    """

    budget = Whole(100, at_least=1, meaning="the largest number of support vectors (B)")
    rank = Whole(20, at_least=1, meaning="eigenvalues of the Gram matrix that are kept (k)")
    averages = Flag(True, meaning="whether scores are those of the mean of the weights so far")

    _mapped: MappedModel | None = None

    def check_settings(self) -> None:
        super().check_settings()
        if self.rank > self.budget:
            raise SettingsError(
                f"{self.name}: rank = {self.rank}: it must not exceed budget = {self.budget}"
            )

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        self._mapped = None
        self._rank, self._averages = self.rank, bool(self.averages)

    def _learn_part(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        if self._mapped is None:
            done = self._join(block, targets, scores)
            if done == len(block):
                return
            answered = scores[done].copy()  # before the map was made
            self._make_map()
            self._learn_mapped(block[done:], targets[done:], scores[done:])
            scores[done] = answered
        else:
            self._learn_mapped(block, targets, scores)

    @one_thread
    def _make_map(self) -> None:
        """With K = V Λ Vᵀ the map of x is Λ^(-1/2) Vᵀ k(x)."""
        model = self._learned()
        entries, size = model.in_numbers().supports.entries, model.size
        points = Points(entries, self._begun().n_features, model.in_bytes)
        kernel = self._kernel_with(points.of_rows(slice(size)))
        eigenvalues, vectors = np.linalg.eigh(kernel)
        eigenvalues, vectors = eigenvalues[-self._rank :], vectors[:, -self._rank :]
        kept = eigenvalues > size * np.finfo(np.float64).eps * eigenvalues[-1]
        basis = aligned(*vectors.shape)
        basis[:] = np.where(kept, vectors / np.sqrt(np.where(kept, eigenvalues, 1.0)), 0.0)
        shape = self._begun().n_columns, basis.shape[1]
        self._mapped = MappedModel(basis, aligned(*shape), aligned(*shape), 0)

    def _learn_mapped(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        for first, features in self._stretches(block):
            model = self._held()
            updates = learn_averaged(
                features, first, targets, model.weights, model.totals, model.updates,
                self._rule.step, self._averages, np.empty((1, len(model.weights))), scores,
            )  # fmt: skip
            self._mapped = model._replace(updates=updates)
            self.updates += updates - model.updates

    def _scores(self, block: Block) -> FloatArray:
        if self._mapped is None:
            return super()._scores(block)
        model = self._mapped
        scores = np.empty((len(block), len(model.weights)))
        weights = model.totals if self._averages else model.weights
        for first, features in self._stretches(block):
            score_on_map(AS_THEY_ARE, features, first, weights, scores)
        return scores / model.updates if self._averages else scores

    def _stretches(self, block: Block) -> Iterator[tuple[int, FloatArray]]:
        """The features of rows, a stretch at a time, with the number of its first row."""
        basis = self._held().basis
        for first in range(0, len(block), STRETCH):
            kernel = self._kernel_with(Points.of(block[first : first + STRETCH]))
            features = aligned(len(kernel), basis.shape[1])
            project_dense(kernel, 0, basis, features)
            yield first, features

    def _kernel_with(self, points: Points) -> FloatArray:
        """The kernel of rows and supports."""
        model = self._learned()
        supports, pixels = model.met_by(points)
        kernel = np.empty((len(points.entries.starts), model.size))
        fill_kernel(points, Others(supports.entries, pixels), self._rule.rates[0], kernel)
        return kernel

    def _held(self) -> MappedModel:
        assert self._mapped is not None
        return self._mapped
