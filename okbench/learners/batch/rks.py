"""Random kitchen sinks, and several of them that are trained on the same rows together.

Learners that differ in step and decay have the same features and mini-batches. These are made once
for all of them, and every weight has the value that it has alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.batch.base import Progress
from okbench.learners.batch.mini_batches import Picked, mini_batches, taken, updates_in
from okbench.learners.batch.random_features import (
    Features,
    OneScale,
    diverged,
    drawn_model,
    rows_at_once,
)
from okbench.learners.contract import Clock, FloatArray
from okbench.learners.loss_choice import chosen_loss
from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.rules.mini_batch import Many, add_rows_to_many, move_many_by_mean
from okbench.learners.numeric.rules.rrf import Workspace
from okbench.learners.registry import learner
from okbench.learners.rows import Block, digest_of
from okbench.learners.settings import Flag


@learner("RKS", paper="bkm", version=1, tasks=("binary", "multiclass"))
class RKS(OneScale):
    """Random kitchen sinks: a linear model over fixed random features (Rahimi and Recht 2007).

    Frequencies are normals times `scale`; the features are cosines and sines, not divided by √D.
    `step` moves the weights by the mean gradient of a mini-batch of `batch` rows, `decay` is the
    regulariser λ, and `loss` is hinge or logistic. With `divide_step` the step is divided by the
    number of rows.
    """

    divide_step = Flag(False, meaning="whether the step is divided by the number of rows")

    shared_settings: ClassVar[tuple[str, ...]] = ("step", "decay")
    has_fixed_features = True

    _together: tuple[TrainedTogether, int] | None = None  # with others, and its number among them

    @staticmethod
    def share(learners: Sequence[RKS]) -> None:
        """Have learners that differ in step and decay, and are fitted to the same rows, be trained
        together."""
        together = TrainedTogether(learners)
        for number, each in enumerate(learners):
            each._together = together, number

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        found = None
        if self._together is not None:
            together, number = self._together
            found = together.training_of(number, block, targets, clock)
        if found is None:
            super()._train(block, targets, clock)
            return
        self._model = (found.features,)
        updates = updates_in(self.epochs, len(block), found.size)
        progress = Progress(clock, len(block), updates * found.size)
        for mistakes in found.mistakes:
            progress.advance(found.size, found.size, int(mistakes))
            self.updates += 1
        if found.bad_row >= 0:
            raise diverged(self.name, found.bad_row)

    def _rate(self, n_rows: int) -> float:
        return super()._rate(n_rows) / (n_rows if self.divide_step else 1)


class Training(NamedTuple):
    """What a learner has learned together with others: its model, its mistakes in each mini-batch
    of `size` rows, and the row at which it diverged, or -1."""

    features: Features
    mistakes: NDArray[np.int64]
    size: int
    bad_row: int


class TrainedTogether:
    """Learners that differ in step and decay. All are trained when the first of them is."""

    def __init__(self, learners: Sequence[RKS]) -> None:
        self._learners, self._draws = tuple(learners), deepcopy(learners[0].draws)
        self._rows = b""
        self._found: list[Training] = []

    def training_of(
        self, number: int, block: Block, targets: FloatArray, clock: Clock
    ) -> Training | None:
        """What the learner of this number learns of these rows; None where it must be trained
        alone."""
        rows = digest_of(block, targets)
        if not self._rows:
            self._rows = rows
            self._found = self._trained(block, targets, clock)
        return self._found[number] if self._found and self._rows == rows else None

    def _trained(self, block: Block, targets: FloatArray, clock: Clock) -> list[Training]:
        """All of them, or none where mini-batches are too large or the clock says to stop."""
        first = self._learners[0]
        problem, (scale,) = first._begun(), first.first_scales
        features = drawn_model(problem, self._draws, first.components, scale, first.has_sines)
        size = min(first.batch, len(block))
        if rows_at_once(features, block, size) < size:
            return []
        steps = np.array([each._rate(len(block)) for each in self._learners])
        decays = np.array([float(each.decay) for each in self._learners])
        many = Many.of(features.model, steps, decays)
        loss, _ = chosen_loss(first, problem.task)
        work, picked, own = Workspace.of(features.model), Picked(block, size), np.empty(size)
        scores = np.empty((len(steps), problem.n_columns))
        batches = mini_batches(self._draws.stream("batches"), len(block), size)
        counts: list[NDArray[np.int64]] = []
        bad_rows, lengths = np.full(len(steps), -1), np.zeros(len(steps), np.int64)
        for _ in range(updates_in(first.epochs, len(block), size)):
            if clock.should_stop():
                return []
            chosen = next(batches)
            given = taken(targets, chosen, own)
            add_rows_to_many(picked.take(chosen), given, work, features.phases, loss, many, scores)
            bad_rows = np.where((many.bad >= 0) & (bad_rows < 0), chosen[many.bad], bad_rows)
            lengths += bad_rows < 0
            counts.append(many.mistakes.copy())
            move_many_by_mean(many, size)
        weights = np.split(many.weights, len(steps))
        return [
            Training(_with_weights(features, own), mistakes[:length], size, int(row))
            for own, mistakes, length, row in zip(
                weights, np.transpose(counts), lengths, bad_rows, strict=True
            )
        ]


def _with_weights(features: Features, weights: FloatArray) -> Features:
    """The same features with a copy of these weights that begins on a cache line."""
    held = aligned(*weights.shape)
    held[:] = weights
    return features._replace(model=features.model._replace(weights=held))
