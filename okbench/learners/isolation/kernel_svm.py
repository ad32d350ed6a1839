"""Kernel support vector machines with the kernels of Ting et al."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.learners.batch.kernel_machine import KernelMachine
from okbench.learners.contract import Clock, FloatArray, Problem
from okbench.learners.isolation.laplacian_kernel import (
    Others,
    Points,
    entries_of,
    fill_kernel,
    rate_of,
)
from okbench.learners.isolation.mapped import OnIsolationMap
from okbench.learners.numeric.kernel_matrices import Members, fill_chi_square, fill_shares
from okbench.learners.origin import Origin
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Whole


class OnEntries(KernelMachine):
    """With a kernel of the entries of rows."""

    def _points_of(self, block: Block) -> Points:
        return Points.of(block)

    def _chosen(self, points: Points, places: NDArray[np.int64]) -> Points:
        return points.of_rows(places)


@learner("Laplacian-LIBSVM", paper="ik", version=2, tasks=("binary", "multiclass"))
class LaplacianLIBSVM(OnEntries):
    """LIBSVM with the Laplacian kernel psi^(-‖x - z‖₁ / d) of rows of d columns (Ting et al. 2019).

    `cost` is C, and `cache` the memory for rows of the kernel in megabytes.
    """

    psi = Whole(16, at_least=2, meaning="rows from which a partitioning is made (ψ)")

    together = 16  # they are the lanes that all training rows sweep over

    _rate = 0.0  # as `rate_of` has it, of the rows that were learned

    def _new_origin(self, problem: Problem) -> Origin:
        return Origin.for_psi(self.psi, problem.n_features)

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        self._rate = rate_of(self.psi, self._begun().n_features)
        super()._train(block, targets, clock)

    def _against(self, points: Points) -> Others:
        return Others.of(points)

    def _fill_kernel(self, points: Points, others: Others, out: NDArray[Any]) -> None:
        fill_kernel(points, others, self._rate, out)

    def _diagonal(self, block: Block) -> FloatArray:
        return np.ones(len(block))


@learner("ChiSquare-LIBSVM", paper="ik", version=2, tasks=("binary", "multiclass"))
class ChiSquareLIBSVM(OnEntries):
    """LIBSVM with the additive χ² kernel Σ 2 x z / (|x| + |z|) (Ting et al. 2019).

    Negative values are mapped by the odd extension, as in ChiSquare-SVM. `cost` is C, and `cache`
    the memory for rows of the kernel in megabytes.
    """

    def _fill_kernel(self, points: Points, others: Points, out: NDArray[Any]) -> None:
        fill_chi_square(points.entries, others.entries, np.zeros(points.n_features), out)

    def _diagonal(self, block: Block) -> FloatArray:
        return entries_of(block).squared_norms  # Σ |x|


@learner("IK-LIBSVM", paper="ik", version=2, tasks=("binary", "multiclass"))
class IKLIBSVM(OnIsolationMap, KernelMachine):
    """LIBSVM with the isolation kernel (Ting et al. 2019).

    The kernel of two rows is the share of partitionings in which they are in the same cell. `cost`
    is C, and `cache` the memory for rows of the kernel in megabytes.
    """

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        self._fit_map(block)
        super()._train(block, targets, clock)

    def _points_of(self, block: Block) -> Any:
        return self._map.cells(block)

    def _chosen(self, points: Any, places: NDArray[np.int64]) -> Any:
        return points[places]

    def _against(self, points: Any) -> Members:
        return Members.of(points, self._map.size)

    def _fill_kernel(self, points: Any, others: Members, out: NDArray[Any]) -> None:
        fill_shares(points, others, np.empty(out.shape[1], dtype=np.int32), out)

    def _diagonal(self, block: Block) -> FloatArray:
        return np.ones(len(block))
