"""What kernel learners share: the kernel and its width, a loss by task, the supports they show.

Which base a new learner derives from depends on where its model lives:

- `Expansion`: every row that joins stays. Bring losses, or a `motion`.
- `BudgetedLearner`: at most `budget` rows stay. Bring a rule (`numeric.walks`) that says which
  support leaves.
- `Pegasos`: at most `budget` vectors that may be merged, with steps of 1 / (decay · n).
- `LinearOnMap` (module `linear`): weights on features. Bring the map.
- `OnlineLearner` (module `base`): anything else.

What a learner has learned is one record of arrays and numbers, `_model`: it is what `nbytes` counts
and what a file of the model has to hold. Scratch is local to a call, or in `_work` where making it
anew for every call would cost too much; only learning writes to it. So several threads may call
`predict` on one learner at the same time.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner, arrays_in
from okbench.learners.contract import FloatArray, Problem, Task
from okbench.learners.kernels import KERNELS, refuse_kernel
from okbench.learners.numeric.losses import MISTAKE, SIGN
from okbench.learners.origin import Origin
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Number

BLOCK = 8192  # rows taken at once: bounds what it costs to read dense rows as sparse ones


class KernelLearner(OnlineLearner):
    """A learner whose model is a sum of kernels at rows it has kept.

    A subclass names the losses it moves by (codes of `numeric.losses`) and says how rows are kept.
    """

    width = Number(8.0, above=0.0, meaning="width of the kernel (σ)")
    kernel = Choice("gaussian", KERNELS, is_later=True, meaning="the kernel by its name (κ)")

    has_gaussian_kernel = True
    classification_loss: ClassVar[int] = MISTAKE
    regression_loss: ClassVar[int] = SIGN

    needs_unit_norm: ClassVar[bool] = False  # whether its rule is derived for κ(x, x) = 1

    formula: Any  # the kernel in numbers
    step: float  # multiplies what a row adds
    epsilon: float  # residuals up to it are no loss in regression

    _position: int  # rows learned

    def check_settings(self) -> None:
        super().check_settings()
        if self.needs_unit_norm and not KERNELS[self.kernel].is_normalized:
            raise refuse_kernel(
                self, "its rule is derived for kernels with κ(x, x) = 1, and this is none"
            )

    def loss(self, task: Task) -> int:
        """The code of the loss for a task."""
        return self.regression_loss if task == "regression" else self.classification_loss

    @property
    def nbytes(self) -> int:
        return model_bytes(self)

    @property
    @abstractmethod
    def coefficients(self) -> FloatArray:
        """Coefficients of the supports, columns × supports, oldest first."""

    @property
    @abstractmethod
    def support_rows(self) -> NDArray[np.int64]:
        """Where in the stream the supports were met, counted from 0, oldest first."""

    def _new_origin(self, problem: Problem) -> Origin:
        if not KERNELS[self.kernel].is_shift_invariant:
            return Origin()
        return super()._new_origin(problem)

    def _start(self, problem: Problem) -> None:
        self.formula = KERNELS[self.kernel].numbers(self.width)
        self._position = 0
        self._clear(problem)

    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        scores = np.empty((len(block), self._begun().n_columns))
        # Sparse rows are taken whole: cutting them costs, reading them does not.
        size = max(1, len(block)) if block.is_sparse else BLOCK
        for first in range(0, len(block), size):
            rows = slice(first, first + size)
            self._learn_rows(block[rows], targets[rows], scores[rows])
            self._position += len(scores[rows])
        return scores

    @abstractmethod
    def _clear(self, problem: Problem) -> None:
        """Forget all supports."""

    @abstractmethod
    def _learn_rows(self, block: Block, targets: FloatArray, scores: FloatArray) -> None:
        """Learn rows in order and fill in the scores they had before."""


def model_bytes(learner: OnlineLearner) -> int:
    """Bytes of all arrays that a learner holds but for its scratch."""
    held = [value for name, value in vars(learner).items() if name != "_work"]
    return sum(array.nbytes for array in arrays_in(held))
