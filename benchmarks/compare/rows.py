"""The rows that both commits learn: generated ones, dense and sparse, and sets that okbench has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.streams import made
from okbench.datasets import load

N_ROWS = 20_000
GENERATED = {"dense": (22, 22), "sparse": (123, 14)}  # columns, values of a row
EMBEDDED = ("digits-even", "friedman1")
NAMES = (*GENERATED, *EMBEDDED)


@dataclass(frozen=True)
class Rows:
    """Rows in a file, for one task."""

    name: str
    task: str
    path: str
    n_rows: int


def rows_for(name: str, tasks: list[str], folder: Path) -> Rows | None:
    """The rows of that name for a learner that does these tasks; None if none of them fits."""
    if name in GENERATED:
        task = "binary" if "binary" in tasks else "regression"
    else:
        task = load(name).task
    if task not in tasks:
        return None
    path = folder / f"{name}-{task}.npz"
    if not path.exists():
        _save(path, *_rows(name, task))
    return Rows(name, task, str(path), N_ROWS if name in GENERATED else load(name).n_rows)


def _rows(name: str, task: str) -> tuple[Any, Any]:
    if name not in GENERATED:
        dataset = load(name)
        order = np.random.default_rng(0).permutation(dataset.n_rows)
        return dataset.X[order], dataset.y[order]
    X, values = made(N_ROWS, *GENERATED[name])
    X.sort_indices()
    y = values if task == "regression" else np.where(values > np.median(values), 1, -1)
    return (X if name == "sparse" else X.toarray()), y


def _save(path: Path, X: Any, y: Any) -> None:
    if not sp.issparse(X):
        np.savez(path, X=X, y=y)
        return
    indices, starts = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    np.savez(path, data=X.data, indices=indices, indptr=starts, shape=X.shape, y=y)
