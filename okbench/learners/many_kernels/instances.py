"""What Raker and AdaRaker share: random features of a dictionary of kernels, and instances."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import ClassVar

import numpy as np

from okbench.learners.base import OnlineLearner
from okbench.learners.contract import FloatArray, Problem, Rows, SettingsError
from okbench.learners.frequencies import DIRECTIONS, frequencies, orthogonal_directions
from okbench.learners.kernel_gaps import fourier_gaps
from okbench.learners.linear import stretches
from okbench.learners.many_kernels.dictionary import KernelDictionary, kernels_of, mean_kernel
from okbench.learners.maps import FourierMap
from okbench.learners.numeric.lanes import aligned, padded
from okbench.learners.numeric.losses import LOGISTIC, RESIDUAL
from okbench.learners.numeric.rules.raker import (
    InstanceModel,
    InstanceRule,
    InstanceWork,
    learn_instances,
    score_instances,
)
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Number, Whole

FORMS = ("paper", "released")
RELEASED = ("orthogonal", "gaussian")  # the features of the released program


class Instances(KernelDictionary, OnlineLearner):
    """Weights on the random features of several kernels, combined by weights on the kernels."""

    components = Whole(50, at_least=1, meaning="number of random frequencies (D)")
    step = Number(0.5, above=0.0, meaning="step size of the updates (η)")
    decay = Number(0.01, at_least=0.0, meaning="strength of the regulariser (λ)")
    directions = Choice("orthogonal", DIRECTIONS, meaning="how the random frequencies are drawn")
    form = Choice("paper", FORMS, meaning="the algorithm of the paper or of the authors' program")

    takes_polynomials = False

    has_gaussian_kernel: ClassVar[bool] = True
    has_fixed_features: ClassVar[bool] = True

    map: FourierMap  # the features of all kernels, each padded to whole lanes

    @property
    def width(self) -> float:
        """The smallest width: that of the kernel which is most sensitive to where rows are."""
        return min(self.widths)

    @property
    def kernel_weights(self) -> FloatArray:
        """The weights of the kernels, which add up to 1, in every instance: instances × kernels."""
        self._begun()
        weights = self._model.kernel_weights.T
        if not self._rule.is_released:
            weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return shares

    @property
    def nbytes(self) -> int:
        return super().nbytes + (self.map.nbytes if self.problem else 0)

    @np.errstate(all="ignore")  # what overflows shows in the gaps
    def kernel_gaps(self, X: Rows) -> FloatArray:
        """How far the kernel of rows 0 and 1, 2 and 3, … is from the exact one, once for each. With
        several kernels it is the mean of them."""
        moved = self._moved(X)
        used = np.arange(self.map.width) % padded(self._size) < self._size
        features = FourierMap.of(self.map.frequencies[:, used])
        return fourier_gaps(features, np.ones(len(features.frequencies)), moved, self._exact)

    def check_settings(self) -> None:
        super().check_settings()
        if self.form == "released" and (self.directions, *set(self.kernels)) != RELEASED:
            raise SettingsError(
                f"{self.name}: form = 'released': its features are Gaussian and orthogonal; leave "
                "out kernels and directions"
            )

    @abstractmethod
    def rule(self, problem: Problem) -> InstanceRule:
        """The settings in numbers."""

    @property
    def _scale(self) -> float:
        """The factor of the features."""
        return 1.0 if self.form == "released" else 1.0 / float(np.sqrt(self.components))

    def _start(self, problem: Problem) -> None:
        self._rule = rule = self.rule(problem)
        self.map = self._drawn(problem.n_features)
        self._size = self.components
        self._exact = partial(mean_kernel, kernels_of(self), tuple(self.widths))
        n_kernels, n_instances = len(self.widths), len(rule.lengths)
        kernel_weights = aligned(n_kernels, n_instances)
        kernel_weights[:] = 1.0 / n_kernels if rule.is_released else 0.0
        instance_weights = aligned(n_instances)
        instance_weights[:] = 1.0
        instance_weights[0] = rule.first_weights[0]
        weights = aligned(n_kernels * n_instances, 2 * padded(self.components))
        self._model = InstanceModel(
            weights, kernel_weights, instance_weights, np.zeros(1, dtype=np.int64)
        )

    def _drawn(self, n_features: int) -> FourierMap:
        """The map of all kernels. The released program multiplies by the width where others divide,
        and the lengths of its frequencies have one degree of freedom."""
        n_lanes = padded(self.components)
        stacked = aligned(n_features, len(self.widths) * n_lanes)
        for place, (kernel, width) in enumerate(zip(kernels_of(self), self.widths, strict=True)):
            if self.form == "released":
                lengths = np.abs(self.draws.stream("lengths").normals(self.components, 1)[:, 0])
                drawn = orthogonal_directions(self.draws, n_features, self.components)
                drawn = drawn * (lengths * width)
            else:
                drawn = frequencies(
                    self.draws, n_features, self.components, kernel, self.directions
                )
                drawn /= width
            stacked[:, place * n_lanes : place * n_lanes + self.components] = drawn
        return FourierMap(stacked)

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores, work = np.empty((len(block), 1)), InstanceWork.of(self._model)
        for first, projected in stretches(self.map, block):
            learn_instances(projected, first, targets, self._model, self._rule, work, scores)
        self.updates += len(block)
        return scores

    def _scores(self, block: Block) -> FloatArray:
        scores, work = np.empty((len(block), 1)), InstanceWork.of(self._model)
        for first, projected in stretches(self.map, block):
            score_instances(projected, first, self._model, self._rule, work, scores)
        return scores


def loss_code(problem: Problem) -> int:
    """The squared loss in regression, else the logistic loss."""
    return RESIDUAL if problem.task == "regression" else LOGISTIC
