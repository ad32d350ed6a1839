"""Linear support vector machines on maps, trained by LIBLINEAR."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from okbench.learners.batch.scikit import LinearMachine
from okbench.learners.contract import Diverged, FloatArray
from okbench.learners.holdings import Holdings
from okbench.learners.isolation.mapped import OnIsolationMap
from okbench.learners.isolation.maps import ChiSquareMap, indicators
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Number, Whole

STEEPEST = 1e90  # of cost × squared features: beyond it the primal solver overflows and never ends
FLATTEST = 1e-140  # of cost × the largest feature: below it the squares of its gradients vanish


class LinearSVM(LinearMachine):
    """An L2-regularised linear SVM on a map, with the squared hinge loss and without a bias.

    Several classes are learned one against the rest. The solver may use all its `iterations`
    without having converged.
    """

    cost = Number(1.0, above=0.0, finite=True, meaning="weight of the losses (C)")
    iterations = Whole(1000, at_least=1, meaning="the largest number of passes of the solver")

    loss = "squared_hinge"
    bias = False
    several = "one_against_rest"
    tolerance = 1e-4
    max_iterations = 0  # `iterations` ends the solver, and it is no error

    @property
    def _most_passes(self) -> int:
        return self.iterations

    def _prepared(self, block: Block) -> tuple[Any, Any]:
        self._fit_map(block)
        return super()._prepared(block)

    def _has_converged(self, estimator: Any) -> bool:
        return True  # a solution after the last pass counts as well

    @abstractmethod
    def _fit_map(self, block: Block) -> None:
        """Make the map of rows."""


@learner("IK-SVM", paper="ik", version=1, tasks=("binary", "multiclass"))
class IKSVM(OnIsolationMap, LinearSVM):
    """A linear SVM on the map of the isolation kernel, by LIBLINEAR (Ting et al. 2019).

    Features are 1/√partitionings or 0, so that inner products are kernel values and `cost` means
    the same as for an SVM with the kernel. `iterations` is the most passes that the solver makes.
    """

    holdings = Holdings(cell_weights=8)

    def _features(self, block: Block) -> Any:
        made = self._map
        return indicators(made.cells(block), made.size, made.partitionings**-0.5)


@learner("ChiSquare-SVM", paper="ik", version=2, tasks=("binary", "multiclass"))
class ChiSquareSVM(LinearSVM):
    """A linear SVM on the additive χ² map, by LIBLINEAR (Ting et al. 2019).

    The map has one feature sign(x) √|x| for each input, which is its form with b = 0. LIBLINEAR
    solves the primal problem: its descent in the dual does not converge where features are large,
    as roots of pixels are. `iterations` is the most steps that the solver makes.
    """

    holdings = Holdings(weights=True)
    in_dual = False
    tolerance = 1e-2  # LIBLINEAR's for the primal

    def _fit_map(self, block: Block) -> None:
        self._check_slopes(np.abs(block.values))
        self._map = ChiSquareMap().fit(block.matrix)

    def _check_slopes(self, sizes: FloatArray) -> None:
        """Refuse rows, of which these are the squares of the features, that the solver would never
        end with."""
        largest = float(np.sqrt(sizes.max(initial=0.0)))
        steepness, slope = self.cost * sizes.sum(), self.cost * largest
        if not steepness < STEEPEST:
            what, advice = f"the sum of all absolute values is {steepness:.3g}", "lower the cost"
        elif largest and slope < FLATTEST:
            what, advice = f"the root of the largest value is {slope:.3g}", "raise the cost"
        else:
            return
        raise Diverged(
            0,
            f"{self.name}: cost × {what}, which the solver cannot take; scale the columns, or "
            f"{advice}",
        )

    def _features(self, block: Block) -> Any:
        return self._map.transform(block.matrix)
