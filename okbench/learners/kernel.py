"""What learners with a Gaussian kernel share: its width, a loss by task, the supports they show.

Which base a new learner derives from depends on where its model lives:

- `Expansion`: every row that joins stays. Bring losses, or a `motion`.
- `BudgetedLearner`: at most `budget` rows stay. Bring a walk in `compiled/rules` that says which
  support leaves, and `_advance`, which calls it.
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
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from okbench.learners.base import OnlineLearner, arrays_in
from okbench.learners.compiled.losses import MISTAKE, SIGN
from okbench.learners.contract import FloatArray, Problem, Task
from okbench.learners.rows import Block
from okbench.learners.settings import check_number

BLOCK = 8192  # rows taken at once: bounds what it costs to read dense rows as sparse ones


class KernelLearner(OnlineLearner):
    """A learner whose model is a sum of Gaussian kernels at rows it has kept.

    A subclass names the losses it moves by (codes of `compiled.losses`) and says how rows are kept.
    """

    has_gaussian_kernel = True
    classification_loss: ClassVar[int] = MISTAKE
    regression_loss: ClassVar[int] = SIGN

    width: float  # of the kernel exp(-distance² / (2 width²))
    sharpness: float  # the factor of the squared distance in its exponent
    step: float  # multiplies what a row adds
    epsilon: float  # residuals up to it are no loss in regression

    _position: int  # rows learned

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

    def check_settings(self) -> None:
        """Refuse settings that make no sense."""
        check_number(self, "width", above=0.0)

    def check_step(self) -> None:
        """The same for the step and the silent tube, which most have."""
        check_number(self, "step", above=0.0)
        check_number(self, "epsilon", at_least=0.0)

    def _start(self, problem: Problem) -> None:
        self.check_settings()
        self.sharpness = -0.5 / float(self.width) / float(self.width)
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
