"""Rows in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from okbench.base.shared_types import Task

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Dataset:
    """Prepared rows, ready to be learned.

    X is C-order float64, or CSR with float64 values and int32 indices; both are finite. y holds the
    labels (integers or strings, each one of `classes`) or float64 targets. `orders` are the row
    orders a paper published, one a line, if it did. `n_train` says where the test rows begin when
    the set comes in two parts. `fingerprint` stands for the exact rows in a trial's id.
    """

    name: str
    X: NDArray[np.float64] | sp.csr_array
    y: NDArray[Any]
    task: Task
    classes: tuple[Any, ...]
    fingerprint: str
    orders: NDArray[np.int64] | None = None
    n_train: int | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])
