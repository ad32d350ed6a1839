"""Raker for environments that change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.many_kernels.instances import Instances, loss_code
from okbench.learners.many_kernels.raker import RELEASED_PART
from okbench.learners.numeric.losses import RESIDUAL
from okbench.learners.numeric.rules.raker import InstanceRule
from okbench.learners.registry import learner
from okbench.learners.settings import Whole, default

LARGEST_STEP = 0.5
LONGEST = 2**31  # rows that instances are ready for where the number of rows is not known


@learner("AdaRaker", paper="raker", version=1, tasks=("binary", "regression"))
class AdaRaker(Instances):
    """Instances of Raker on intervals of length 1, S, S², …, weighted (Shen et al. 2019).

    The instance of an interval of length L begins anew with every interval, with the step min(1/2,
    `step` / √L) for its weights on features, on kernels and for its own weight, which follows the
    exponential of its regret. `base` is S. The other settings are those of Raker. form="released"
    follows the authors' program: no more than an instance's own weight is set back, its steps are
    min(step / S, step / √(S L)), and instances that are not used yet answer 0 (its step is 0.1 in
    regression and 1 in classification).
    """

    step = default(1.0)
    base = Whole(2, at_least=2, meaning="ratio of the lengths of the intervals (S)")

    def rule(self, problem: Problem) -> InstanceRule:
        loss, is_released = loss_code(problem), self.form == "released"
        lengths = self._lengths(problem)
        steps = self._steps(lengths)
        part = RELEASED_PART if is_released and loss == RESIDUAL else 1.0
        return InstanceRule(
            loss=loss,
            is_released=is_released,
            is_layered=True,
            components=self.components,
            scale=self._scale,
            lengths=lengths,
            first_weights=steps if is_released else np.log(steps),
            steps=steps / part,
            keeps=1.0 - steps * self.decay / part,
            weight_steps=steps,
        )

    def _lengths(self, problem: Problem) -> NDArray[np.int64]:
        """The lengths of intervals: S^k up to the number of rows."""
        most, lengths = problem.n_rows or LONGEST, [1]
        while lengths[-1] * self.base <= most:
            lengths.append(lengths[-1] * self.base)
        return np.array(lengths, dtype=np.int64)

    def _steps(self, lengths: NDArray[np.int64]) -> FloatArray:
        if self.form == "released":
            return np.minimum(self.step / self.base, self.step / np.sqrt(self.base * lengths))
        return np.minimum(LARGEST_STEP, self.step / np.sqrt(lengths))
