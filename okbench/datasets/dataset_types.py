"""Rows in memory, and the fingerprint that stands for them in a trial's id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from okbench.base.shared_types import Task

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp
    from numpy.typing import NDArray

READER_VERSION = 2  # raised by hand when a reader gives other rows from the same bytes
PREPARATION_VERSION = 1  # raised by hand when preparation gives other rows from the same files

_LABELS = 1 << 18  # that are hashed at once

Changes = tuple[tuple[int, int], ...]  # of a stream's concept: first row, first row after it


@dataclass(frozen=True)
class Dataset:
    """Prepared rows, ready to be learned.

    X is C-order float64, or CSR with float64 values and int32 indices; both are finite. y holds the
    labels (integers or strings, each one of `classes`) or float64 targets. `orders` are the
    permutations that a paper published, one per line, if it did. `n_train` says where the test rows
    begin when the set comes in two parts. `fingerprint` stands for the exact rows in a trial's id.
    `changes` are the rows at which the concept of a stream is known to change.
    """

    name: str
    X: NDArray[np.float64] | sp.csr_array
    y: NDArray[Any]
    task: Task
    classes: tuple[Any, ...]
    fingerprint: str
    orders: NDArray[np.int64] | None = None
    n_train: int | None = None
    changes: Changes = ()

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def fingerprint(
    X: NDArray[np.float64] | sp.csr_array, y: NDArray[Any], classes: tuple[Any, ...]
) -> str:
    """Sixteen hexadecimal digits over every value, label and class, in order."""
    import numpy as np

    head = f"{PREPARATION_VERSION} {X.shape} {y.shape} {[str(name) for name in classes]}"
    digest = hashlib.sha256(head.encode())
    if isinstance(X, np.ndarray):
        digest.update(np.ascontiguousarray(X, dtype="<f8").data)
    else:
        digest.update(np.ascontiguousarray(X.data, dtype="<f8").data)
        digest.update(np.ascontiguousarray(X.indices, dtype="<i4").data)
        digest.update(np.ascontiguousarray(X.indptr, dtype="<i8").data)
    for start in range(0, len(y), _LABELS):
        part = y[start : start + _LABELS]
        if y.dtype.kind in "fiub":
            digest.update(np.ascontiguousarray(part, dtype="<f8").data)
        else:
            between = "\n" if start else ""
            digest.update((between + "\n".join(map(str, part.tolist()))).encode())
    return digest.hexdigest()[:16]
