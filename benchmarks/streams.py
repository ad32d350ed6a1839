"""Rows to time learners on: real sets when ../shared is here, else seeded ones of their shape."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from okbench.learners.contract import FloatArray, Problem

SHARED = Path(os.environ.get("OKBENCH_SHARED", Path(__file__).parents[2] / "shared"))
SHAPES = {"a9a": (32_561, 123, 14), "ijcnn1": (49_990, 22, 22), "cod-rna": (59_535, 8, 8)}


@dataclass(frozen=True)
class Stream:
    """Shuffled rows of a binary set."""

    name: str
    source: str
    X: FloatArray | sp.csr_array
    y: FloatArray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def problem(self) -> Problem:
        return Problem("binary", self.X.shape[1], (-1.0, 1.0), len(self))

    @property
    def dense(self) -> FloatArray:
        return self.X if isinstance(self.X, np.ndarray) else self.X.toarray()

    @property
    def filled(self) -> float:
        """The number of values in a row."""
        return self.X.size / len(self)

    def head(self, n_rows: int) -> Stream:
        return Stream(self.name, self.source, self.X[:n_rows], self.y[:n_rows])


@cache
def stream(name: str) -> Stream:
    """A set by name, sparse when less than a third of it is filled."""
    n_rows, n_features, n_filled = SHAPES[name]
    order = np.random.default_rng(0).permutation(n_rows)
    path = SHARED / "data" / name / f"{name}.bz2"
    if path.exists():
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(path), n_features=n_features)
        source = "real"
    else:
        X, values = made(n_rows, n_features, n_filled)
        y = np.where(values > np.quantile(values, 0.75), 1.0, -1.0)
        source = "made"
    X = sp.csr_array(X)[order]
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    sparse = X.nnz < n_rows * n_features / 3
    return Stream(name, source, X if sparse else X.toarray(), y[order])


def made(n_rows: int, n_features: int, n_filled: int) -> tuple[sp.csr_array, FloatArray]:
    """Seeded rows with so many values each, and a noisy linear function of them."""
    rng = np.random.default_rng(1)
    columns = np.argsort(rng.random((n_rows, n_features)), axis=1)[:, :n_filled]
    values = np.ones(columns.size) if n_filled < n_features else rng.random(columns.size)
    starts = np.arange(0, columns.size + 1, n_filled)
    X = sp.csr_array((values, columns.ravel(), starts), shape=(n_rows, n_features))
    signal = X @ rng.standard_normal(n_features)
    return X, signal + 0.5 * np.std(signal) * rng.standard_normal(n_rows)
