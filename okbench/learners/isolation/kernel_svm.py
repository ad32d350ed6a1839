"""Kernel support vector machines with the kernels of Ting et al., trained by LIBSVM."""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.learners.batch.scikit import LIBSVM
from okbench.learners.compiled.kernel_matrices import fill_chi_square, fill_shares
from okbench.learners.contract import FloatArray
from okbench.learners.isolation.laplacian import entries_of, laplacian_kernel
from okbench.learners.isolation.mapped import OnIsolationMap
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import check_whole


class KernelMachine(LIBSVM):
    """LIBSVM with its usual stopping rule and a kernel of its own, `_kernel_with`.

    The kernel of all training rows is held in memory as one matrix, and a fit for which it is too
    large is refused before it begins.
    """

    tolerance = 1e-3
    max_iterations = 10_000_000

    def check_settings(self) -> None:
        self._check_positive("cost")
        self._check_positive("cache")

    def needed_bytes(self, n_rows: int) -> int:
        return self._cached_bytes(n_rows) + 8 * n_rows**2

    def _prepared(self, block: Block) -> tuple[Any, Any]:
        self._check_memory(len(block))
        self._rows = block
        return self._machine("precomputed"), self._kernel_with(block, slice(None))


@learner("Laplacian-LIBSVM", paper="ik", version=1, tasks=("binary", "multiclass"))
class LaplacianLIBSVM(KernelMachine):
    """LIBSVM with the Laplacian kernel psi^(-‖x - z‖₁ / d) of rows of d columns (Ting et al. 2019).

    `cost` is C, and `cache` the memory for rows of the kernel in megabytes.
    """

    def __init__(self, psi: int = 16, cost: float = 1.0, cache: float = 200.0) -> None:
        self.psi = psi
        self.cost = cost
        self.cache = cache

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "psi", at_least=2)

    def _kernel_with(self, block: Block, places: Any) -> FloatArray:
        assert self._rows is not None
        return laplacian_kernel(block.matrix, self._rows.matrix[places], self.psi)


@learner("ChiSquare-LIBSVM", paper="ik", version=1, tasks=("binary", "multiclass"))
class ChiSquareLIBSVM(KernelMachine):
    """LIBSVM with the additive χ² kernel Σ 2 x z / (|x| + |z|) (Ting et al. 2019).

    Negative values are mapped by the odd extension, as in ChiSquare-SVM. `cost` is C, and `cache`
    the memory for rows of the kernel in megabytes.
    """

    def __init__(self, cost: float = 1.0, cache: float = 200.0) -> None:
        self.cost = cost
        self.cache = cache

    def _kernel_with(self, block: Block, places: Any) -> FloatArray:
        assert self._rows is not None
        others = Block(self._rows.matrix[places])
        out = np.empty((len(block), len(others)))
        scratch = np.zeros(block.matrix.shape[1])
        fill_chi_square(entries_of(block), entries_of(others), scratch, out)
        return out


@learner("IK-LIBSVM", paper="ik", version=1, tasks=("binary", "multiclass"))
class IKLIBSVM(OnIsolationMap, KernelMachine):
    """LIBSVM with the isolation kernel (Ting et al. 2019).

    The kernel of two rows is the share of partitionings in which they are in the same cell. `cost`
    is C, and `cache` the memory for rows of the kernel in megabytes.
    """

    def __init__(
        self,
        partitionings: int = 100,
        psi: int = 16,
        map: str = "nearest",
        cost: float = 1.0,
        cache: float = 200.0,
        library: str = "numpy",
    ) -> None:
        self.partitionings = partitionings
        self.psi = psi
        self.map = map
        self.cost = cost
        self.cache = cache
        self.library = library

    def _prepared(self, block: Block) -> tuple[Any, Any]:
        self._check_memory(len(block))
        self._fit_map(block)
        self._cells = self._map.cells(block)
        return super()._prepared(block)

    def _kernel_with(self, block: Block, places: Any) -> FloatArray:
        cells = self._cells if block is self._rows else self._map.cells(block)
        others = np.ascontiguousarray(self._cells[places].T)
        out = np.empty((len(cells), others.shape[1]))
        fill_shares(cells, others, np.empty(len(out.T), dtype=np.int32), out)
        return out
