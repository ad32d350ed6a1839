"""Reparameterised random features."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner, arrays_in
from okbench.learners.contract import FloatArray, Problem, Rows
from okbench.learners.kernel import BLOCK
from okbench.learners.kernel_gaps import fourier_gaps
from okbench.learners.loss_choice import LOSSES, check_loss, chosen_loss
from okbench.learners.maps import FourierMap
from okbench.learners.numeric.lanes import aligned, padded
from okbench.learners.numeric.rules.rrf import (
    Model,
    Rates,
    Workspace,
    learn_with_scales,
    score_with_scales,
)
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Number, Whole

FIRST_WEIGHTS = 0.01  # their standard deviation, in the authors' program


@learner("RRF", paper="rrf", version=2)
class RRF(OnlineLearner):
    """Random features that learn a scale for every input as they go (Nguyen et al. 2017).

    Frequencies are noise times scales; noise stays, and scales begin at 1 / width. `step` moves the
    weights, `scale_step` the scales' logarithms; with scale_step=0 the features are fixed. `decay`
    is the regulariser λ. Features are not divided by √D. `loss` is hinge or logistic, and in
    regression eps_insensitive (silent up to epsilon), l1 or l2; by default the first of them.
    """

    components = Whole(100, at_least=1, meaning="number of random frequencies (D)")
    width = Number(1.0, above=0.0, meaning="width of the kernel exp(-‖x - z‖² / (2 width²)) (σ)")
    step = Number(0.003, above=0.0, meaning="step size of the updates (η)")
    scale_step = Number(1e-4, at_least=0.0, meaning="step of the scales of the frequencies")
    decay = Number(0.0, at_least=0.0, meaning="strength of the regulariser (λ)")
    loss = Choice[str | None](None, LOSSES, meaning="the loss function")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")

    has_gaussian_kernel = True

    @property
    def log_scales(self) -> FloatArray:
        """The logarithm of the frequencies' standard deviation, for every input."""
        self._begun()
        return self._model.log_scales

    @property
    def weights(self) -> FloatArray:
        """Weights of the cosines, then of the sines: columns × 2 components."""
        self._begun()
        held = self._model.weights[:, : self._model.components]
        return held.reshape(len(held) // 2, -1)

    @np.errstate(all="ignore")  # gaps that are not finite raise Diverged
    def kernel_gaps(self, X: Rows) -> FloatArray:
        """How far the kernel of rows 0 and 1, 2 and 3, … is from the exact one, once for each; with
        the scales as learned so far."""
        self._begun()
        scales = self._model.scales
        frequencies = scales[:, np.newaxis] * self._model.noise[:, : self._model.components]
        gaps = fourier_gaps(FourierMap.of(frequencies), scales, self._moved(X))
        return self._finite(gaps, "kernel gap")

    @property
    def nbytes(self) -> int:
        held = (self._model, self._origin) if self.problem else ()
        return sum(array.nbytes for array in arrays_in(held))

    def _start(self, problem: Problem) -> None:
        check_loss(self, problem.task)
        loss, epsilon = chosen_loss(self, problem.task)
        keep = 1.0 - self.step * self.decay
        self._rates = Rates(loss, epsilon, self.step, self.scale_step, keep)
        self._model = self._drawn(problem)

    def _drawn(self, problem: Problem) -> Model:
        """The model before any row. The authors' program draws start weights (2D × columns), then
        as many numbers as the noise has, which it drops, then the noise."""
        n_features, n_columns, size = problem.n_features, problem.n_columns, self.components
        lanes = padded(size)
        noise, weights = aligned(n_features, lanes), aligned(2 * n_columns, lanes)
        drawn, used = np.empty((2 * n_columns, size)), noise[:, :size]
        self.draws.fill_normals(drawn, used, used)  # the second time over what is dropped
        first = FIRST_WEIGHTS * drawn.reshape(2, size, n_columns)
        weights[:, :size] = first.transpose(2, 0, 1).reshape(-1, size)
        log_scales = np.full(n_features, -math.log(self.width))
        return Model(
            components=size,
            noise=noise,
            log_scales=log_scales,
            scales=np.exp(log_scales),
            weights=weights,
        )

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores = np.empty((len(block), self._begun().n_columns))
        work = Workspace.of(self._model)
        for rows in _slices(block):
            entries = _entries(block[rows])
            self.updates += learn_with_scales(
                entries, targets[rows], work, self._rates, scores[rows]
            )
        return scores

    def _scores(self, block: Block) -> FloatArray:
        scores = np.empty((len(block), self._begun().n_columns))
        work = Workspace.of(self._model)
        for rows in _slices(block):
            score_with_scales(_entries(block[rows]), work, scores[rows])
        return scores


def _slices(block: Block) -> Iterator[slice]:
    return (slice(first, first + BLOCK) for first in range(0, len(block), BLOCK))


def _entries(block: Block) -> tuple[FloatArray, NDArray[np.int32], NDArray[np.int64]]:
    return block.values, block.columns, block.starts
