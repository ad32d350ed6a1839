"""Ensembles of random features with learned scales that begin at different scales."""

from __future__ import annotations

import numpy as np

from okbench.learners.batch.random_features import RandomFeatures, scores_of
from okbench.learners.contract import FloatArray
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Number, Numbers

DEFAULT_SCALES = (0.03125, 0.125, 0.5)


class MultiRRF(RandomFeatures):
    """Several models of RRF-batch, one per start value in `scales`, each with its own draws."""

    scales = Numbers(
        (0.03125, 0.125, 0.5), above=0.0, meaning="deviations of the frequencies at the start"
    )
    scale_step = Number(1e-3, at_least=0.0, meaning="step of the scales of the frequencies")

    @property
    def first_scales(self) -> tuple[float, ...]:
        return tuple(map(float, self.scales))


@learner("MultiRRF-A", paper="bkm", version=1, tasks=("binary", "multiclass"))
class MultiRRFAverage(MultiRRF):
    """Several models of RRF-batch whose scores are averaged (Nguyen et al. 2018, Figure 5).

    There is one model per start value in `scales`; the other settings are those of RRF-batch.
    """

    def _scores(self, block: Block) -> FloatArray:
        members = self._fitted()
        return np.sum([scores_of(features, block) for features in members], axis=0) / len(members)


@learner("MultiRRF-V", paper="bkm", version=1, tasks=("binary", "multiclass"))
class MultiRRFVote(MultiRRF):
    """Several models of RRF-batch that vote for a class (Nguyen et al. 2018, Figure 5).

    The class with most votes is predicted, and of classes with as many votes the first.
    """

    def _scores(self, block: Block) -> FloatArray:
        """Votes by class; the votes for the second of two classes less those for the first, and
        less a half, which decides ties."""
        n_columns = self._begun().n_columns
        votes = np.zeros((len(block), n_columns))
        for features in self._fitted():
            scores = self._finite(scores_of(features, block))
            if n_columns == 1:
                votes += np.where(scores >= 0.0, 1.0, -1.0)
            else:
                votes[np.arange(len(block)), np.argmax(scores, axis=1)] += 1.0
        return votes - 0.5 if n_columns == 1 else votes
