"""The recorded runs of the RRF authors' program, when ../shared is here."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.io

from okbench.learners.contract import Problem
from tests.shared import SHARED

FOLDER = SHARED / "oracle" / "rrf"
LOSSES = {"logit": "logistic"}  # where our names differ from theirs


def names(pattern: str) -> list[str]:
    """The records that match, or their pattern when ../shared is not here."""
    return sorted(path.stem for path in FOLDER.glob(f"{pattern}.npz")) or [pattern]


def read(name: str) -> tuple[dict[str, Any], Any, Any, Problem, str]:
    """A record, its rows and targets in the recorded order, their problem, the loss by our name."""
    with np.load(FOLDER / f"{name}.npz") as held:
        record = {key: held[key] for key in held.files}
    _, dataset, told = name.split("_", 2)
    X, y = rows(dataset)
    task = {"german": "binary", "digits": "multiclass", "housing": "regression"}[dataset]
    classes = () if task == "regression" else tuple(np.unique(y).tolist())
    loss = told.partition("_lbd")[0]
    order = record["perm"]
    return (
        record,
        X[order],
        y[order],
        Problem(task, X.shape[1], classes, len(y)),
        LOSSES.get(loss, loss),
    )


@cache
def rows(dataset: str) -> tuple[Any, Any]:
    """Rows and targets as the recorded runs took them, in their file's order."""
    if dataset == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X / 16.0, y
    held = scipy.io.loadmat(SHARED / "data" / "lsokl-mat" / f"{dataset}.mat")["data"]
    X, y = held[:, 1:].astype(np.float64), held[:, 0].astype(np.float64)
    if dataset == "german":
        low, high = X.min(axis=0), X.max(axis=0)
        X = 2.0 * (X - low) / (high - low) - 1.0
    return X, y
