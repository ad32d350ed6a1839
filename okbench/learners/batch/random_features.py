"""Linear models over random Fourier features, trained by stochastic gradients of mini-batches."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from okbench.learners.base import arrays_in
from okbench.learners.batch.base import BatchLearner, Progress
from okbench.learners.batch.mini_batches import Picked, mini_batches, taken, updates_in
from okbench.learners.contract import Clock, Diverged, Draws, FloatArray, Problem
from okbench.learners.kernel import BLOCK
from okbench.learners.loss_choice import CLASSIFICATION, chosen_loss
from okbench.learners.numeric.lanes import Entries, aligned, padded
from okbench.learners.numeric.rules.mini_batch import (
    Descent,
    Sums,
    add_rows,
    move_by_mean,
    score_in_lanes,
)
from okbench.learners.numeric.rules.rrf import Model, Workspace
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.rrf import FIRST_WEIGHTS
from okbench.learners.settings import Choice, Number, Whole

AT_ONCE = 200_000_000  # multiplications between two looks at the clock


class Features(NamedTuple):
    """A linear model over random features; the phases are zero where both halves have weights."""

    model: Model
    phases: FloatArray  # one per lane


class RandomFeatures(BatchLearner):
    """What RKS, FKL and RRF share: features, mini-batches, and the mean gradient of a batch.

    An epoch has as many mini-batches as cover the rows once, each drawn from all rows.
    """

    components = Whole(400, at_least=1, meaning="number of random frequencies (D)")
    step = Number(0.01, above=0.0, meaning="step size of the updates (η)")
    decay = Number(1e-3, at_least=0.0, meaning="strength of the regulariser (λ)")
    batch = Whole(200, at_least=1, meaning="rows of a mini-batch")
    epochs = Whole(10, at_least=1, meaning="passes over the training rows")
    loss = Choice("hinge", CLASSIFICATION, meaning="the loss function")

    has_gaussian_kernel = True
    has_sines: ClassVar[bool] = True
    scale_step: float = 0.0

    epsilon: float = 0.0  # of losses of regression, of which there is none here

    _model: tuple[Features, ...] | None = None

    @property
    def first_scales(self) -> tuple[float, ...]:
        """The start values of the frequencies' standard deviation: one per model."""
        raise NotImplementedError

    @property
    def width(self) -> float:
        """The smallest width of a kernel at the start."""
        return 1.0 / max(self.first_scales)

    @property
    def weights(self) -> FloatArray:
        """Weights of the cosines, then of the sines where there are any: columns × features."""
        return self._weights_of(self._fitted()[0])

    @property
    def log_scales(self) -> FloatArray:
        """The logarithm of the frequencies' standard deviation, one per input."""
        return self._fitted()[0].model.log_scales

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in arrays_in((self._model or (), self._origin)))

    def _rate(self, n_rows: int) -> float:
        """The step of the weights."""
        return self.step

    def _fitted(self) -> tuple[Features, ...]:
        self._check_fitted()
        assert self._model is not None
        return self._model

    def _weights_of(self, features: Features) -> FloatArray:
        model = features.model
        held = model.weights[:, : model.components].reshape(len(model.weights) // 2, 2, -1)
        return (held if self.has_sines else held[:, :1]).reshape(len(held), -1)

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        problem, scales = self._begun(), self.first_scales
        loss, _ = chosen_loss(self, problem.task)
        descent = Descent(
            loss,
            self._rate(len(block)),
            self.scale_step,
            self.decay,
            self.has_sines,
        )
        self._model = tuple(
            drawn_model(problem, self.draws, self.components, scale, self.has_sines)
            for scale in scales
        )
        updates = updates_in(self.epochs, len(block), self.batch)
        size = min(self.batch, len(block))
        progress = Progress(clock, len(block), len(scales) * updates * size)
        batches = mini_batches(self.draws.stream("batches"), len(block), size)
        for features in self._model:
            training = _Training(self.name, features, descent, block, targets, size)
            for _ in range(updates):
                if not training.learn(next(batches), progress):
                    return
                self.updates += 1

    def _scores(self, block: Block) -> FloatArray:
        return scores_of(self._fitted()[0], block)


def drawn_model(
    problem: Problem, draws: Draws, components: int, scale: float, has_sines: bool
) -> Features:
    """A model before it has learned any row."""
    n_features, n_columns, lanes = problem.n_features, problem.n_columns, padded(components)
    halves = 2 if has_sines else 1
    first = draws.stream("weights").normals(halves * components, n_columns)
    weights = aligned(2 * n_columns, lanes)
    for half in range(halves):
        held = first[half * components : (half + 1) * components]
        weights[half::2, :components] = FIRST_WEIGHTS * held.T
    noise, phases = aligned(n_features, lanes), aligned(lanes)
    draws.stream("noise").fill_normals(noise[:, :components])
    if not has_sines:
        phases[:components] = 2.0 * math.pi * draws.stream("phases").uniforms(components)
    log_scales = np.full(n_features, math.log(scale))
    scales = np.full(n_features, float(scale))
    return Features(Model(components, noise, log_scales, scales, weights), phases)


def scores_of(features: Features, block: Block) -> FloatArray:
    """The scores of rows: rows × columns."""
    scores = np.empty((len(block), len(features.model.weights) // 2))
    work = Workspace.of(features.model)
    for first in range(0, len(block), BLOCK):
        rows = slice(first, first + BLOCK)
        part = block[rows]
        starts = part.starts
        entries = Entries(part.values, part.columns, starts[:-1], starts[1:], np.empty(0))
        score_in_lanes(entries, work, features.phases, scores[rows])
    return scores


def diverged(name: str, row: int) -> Diverged:
    """A learner whose score of a row is not a finite number."""
    return Diverged(row, f"{name}: the score of row {row} is not a finite number")


def rows_at_once(features: Features, block: Block, size: int) -> int:
    """How many rows of a mini-batch are learned between two looks at the clock."""
    cost = features.model.noise.shape[1] * (int(block.values.size) // len(block) + 1)
    return min(size, max(1, AT_ONCE // cost))


class _Training:
    """One model on its way through mini-batches, with all memory that this takes."""

    def __init__(
        self,
        name: str,
        features: Features,
        descent: Descent,
        block: Block,
        targets: FloatArray,
        size: int,
    ) -> None:
        n_columns = len(features.model.weights) // 2
        self._at_once = rows_at_once(features, block, size)
        self._name, self._phases, self._descent = name, features.phases, descent
        self._work, self._sums = Workspace.of(features.model), Sums.of(features.model)
        self._picked, self._targets = Picked(block, self._at_once), targets
        self._own, self._scores = np.empty(size), np.empty((self._at_once, n_columns))

    def learn(self, chosen: np.ndarray, progress: Progress) -> bool:
        """Learn a mini-batch, unless the clock says to stop; whether it was learned."""
        for first in range(0, len(chosen), self._at_once):
            if progress.must_stop():
                return False
            part = chosen[first : first + self._at_once]
            own = taken(self._targets, part, self._own)
            mistakes, bad = add_rows(
                self._picked.take(part),
                own,
                self._work,
                self._phases,
                self._descent,
                self._sums,
                self._scores,
            )
            if bad >= 0:
                raise diverged(self._name, int(part[bad]))
            progress.advance(len(part), len(part), mistakes)
        move_by_mean(self._work, self._descent, self._sums, len(chosen))
        return True


class OneScale(RandomFeatures):
    """A single model, whose frequencies begin with the standard deviation `scale`."""

    scale = Number(
        0.1, above=0.0, meaning="deviation of the frequencies, at the start where they are learned"
    )

    @property
    def first_scales(self) -> tuple[float, ...]:
        return (self.scale,)


class LearnedScales(OneScale):
    """Features whose scales, one per input, are learned by steps of `scale_step`."""

    scale_step = Number(1e-3, at_least=0.0, meaning="step of the scales of the frequencies")


@learner("RRF-batch", paper="bkm", version=1, tasks=("binary", "multiclass"))
class RRFBatch(LearnedScales):
    """Random features with learned scales, trained by mini-batches (Nguyen et al. 2017).

    Frequencies are noise times scales, which begin at `scale`. `step` moves the weights and
    `scale_step` the logarithms of the scales, both by the mean gradient of a mini-batch; `decay` is
    the regulariser λ of the weights. The features are those of RKS.
    """


@learner("FKL", paper="bkm", version=1, tasks=("binary", "multiclass"))
class FKL(LearnedScales):
    """Fourier kernel learning: cosines with random phases and learned scales (Băzăvan et al. 2012).

    The features are cos(b + u·x), with a uniform phase b each; the settings are those of RRF-batch.
    """

    has_sines = False
