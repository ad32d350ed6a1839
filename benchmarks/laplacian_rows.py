"""Online gradient descent with the Laplacian kernel on rows of several shapes, for
`bench_isolation`: what a pair of a row and a support costs, and what all psi of a search cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from tabulate import tabulate

from benchmarks.clock import medians
from okbench.learners.contract import Draws, FloatArray, Problem
from okbench.learners.isolation.laplacian import LaplacianOGD

PSI, BLOCK = 16, 4096  # rows that are learned in one call
FEW = 300  # rows of the plain loop
SHAPES = {  # columns, values of a row, the largest of them, and whether rows are dense
    "covtype": (54, 12, None, False),
    "a9a": (123, 14, 1, False),
    "ijcnn1": (22, 22, None, True),
    "mnist": (780, 150, None, False),
    "mnist, bytes": (780, 150, 255, False),
    "cifar-10": (3072, 3072, None, True),
    "cifar-10, bytes": (3072, 3072, 255, True),
}


def pairs_table(n_rows: int, rounds: int) -> str:
    """Nanoseconds of a pair of a row and a support that joined before, beside a NumPy loop."""
    lines = []
    for name in SHAPES:
        X, y = rows_of(name, n_rows // 4 if "cifar" in name else n_rows)
        few = X[:FEW].toarray() if sp.issparse(X) else X[:FEW]
        actions: dict[str, Callable[[], Any]] = {
            "okbench": lambda X=X, y=y: learned([begun(X, PSI)], X, y),
            "NumPy": partial(plain_descent, few, y[:FEW]),
        }
        seconds = medians(actions, rounds)
        (learner,) = learned([begun(X, PSI)], X, y)
        pairs = int((X.shape[0] - 1 - learner.support_rows).sum())
        ours, theirs = seconds["okbench"] / pairs, seconds["NumPy"] / plain_descent(few, y[:FEW])
        lines.append([name, f"{1e9 * ours:.2f}", f"{1e9 * theirs:,.0f}", f"{theirs / ours:,.0f}"])
    heads = ["LaplacianOGD, ns a pair", "okbench", f"NumPy, {FEW} rows", "times"]
    return tabulate(lines, heads, disable_numparse=True)


def search_table(psis: Sequence[int], n_rows: int, rounds: int) -> str:
    """All psi of a search, learned one after the other, against the largest alone."""
    lines = []
    for name in ("covtype", "cifar-10, bytes"):
        X, y = rows_of(name, n_rows)
        seconds = medians(
            {"largest": partial(searched, psis[-1:], X, y), "all": partial(searched, psis, X, y)},
            rounds,
        )
        ratio = seconds["all"] / seconds["largest"]
        lines.append([name, *(f"{each:.2f}" for each in seconds.values()), f"{ratio:.2f}"])
    heads = [f"LaplacianOGD, {n_rows:,} rows", f"psi = {psis[-1]:,}, s", "every psi, s", "times"]
    return tabulate(lines, heads, disable_numparse=True)


def rows_of(name: str, n_rows: int) -> tuple[Any, FloatArray]:
    """Rows of a shape with random labels, so that almost all of them have a loss."""
    n_columns, n_values, largest, is_dense = SHAPES[name]
    rng = np.random.default_rng(0)
    X: Any = rng.random((n_rows, n_columns))
    if largest is not None:
        X = np.ceil(X * largest)
    if not is_dense:
        places = rng.random(X.shape).argsort(axis=1)
        X = sp.csr_array(X * (places < n_values))
    return X, np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)


def begun(X: Any, psi: int) -> LaplacianOGD:
    """A learner that knows the problem."""
    return LaplacianOGD(psi=psi).begin(Problem("binary", X.shape[1], (-1, 1), X.shape[0]), Draws(0))


def learned(learners: Sequence[LaplacianOGD], X: Any, y: FloatArray) -> Sequence[LaplacianOGD]:
    """Learn all rows, one learner after the other."""
    for learner in learners:
        for first in range(0, X.shape[0], BLOCK):
            learner.learn(X[first : first + BLOCK], y[first : first + BLOCK])
    return learners


def searched(psis: Sequence[int], X: Any, y: FloatArray) -> None:
    """Learn all rows with learners that share what they can."""
    learners = [begun(X, psi) for psi in psis]
    LaplacianOGD.share(learners)
    learned(learners, X, y)


def plain_descent(X: FloatArray, y: FloatArray) -> int:
    """The plain loop: how many pairs it met."""
    rate, supports, gains, pairs = np.log(PSI) / X.shape[1], np.empty_like(X), [], 0
    for row, target in zip(X, y, strict=True):
        held = supports[: len(gains)]
        pairs += len(held)
        score = np.exp(-rate * np.abs(held - row).sum(axis=1)) @ np.array(gains)
        if target * score < 1.0:
            supports[len(gains)] = row
            gains.append(0.5 * target)
    return pairs
