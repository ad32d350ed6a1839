"""Batch learners: how many times faster than plain NumPy loops, or than scikit-learn, they fit.

python -m benchmarks.bench_batch [--quick]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tabulate import tabulate

from benchmarks.clock import machine, medians
from benchmarks.plain.batch import mini_batches
from benchmarks.plain.bsgd import bsgd
from benchmarks.streams import SHAPES, Stream, stream
from okbench.learners.contract import Draws
from okbench.learners.isolation.maps import IsolationMap, indicators
from okbench.learners.registry import find

WIDTH, LANDMARKS, COMPONENTS, BATCH, BUDGET = 4.0, 100, 400, 200, 200
PLAIN_ROWS = 1000  # that a plain loop of BSGD meets
KERNEL_ROWS = 4000  # whose kernel fits into memory as one matrix
EPOCHS = 2
PSI = 16  # of the Laplacian and the isolation kernel
PARTITIONINGS = 100
STEPS = tuple(10.0**m for m in (-7, -5, -3, -1))  # of the search of Nguyen et al. (2018)
DECAYS = tuple(2.0**m for m in range(-15, 6, 2))


def fit(learner: str, rows: Stream, **settings: Any) -> Any:
    """A fit with the learner of okbench."""
    return find(learner).load()(**settings).begin(rows.problem, Draws(0)).fit(rows.X, rows.y)


def _plain_rks(rows: Stream) -> Any:
    draws, n_features = Draws(0), rows.X.shape[1]
    updates = math.ceil(len(rows) / BATCH)
    return mini_batches(
        rows.dense,
        rows.y,
        task="binary",
        loss="hinge",
        noise=draws.normals(n_features, COMPONENTS),
        weights=0.01 * draws.normals(1, 2 * COMPONENTS),
        log_scales=np.full(n_features, math.log(1 / WIDTH)),
        batches=[draws.stream("b").choice(len(rows), BATCH) for _ in range(updates)],
        step=0.01,
        decay=1e-3,
    )


def _by_products(rows: Stream) -> Any:
    """RKS with one product of matrices per mini-batch, as NumPy does it best."""
    draws, X, n = Draws(0), rows.dense, len(rows)
    frequencies = draws.normals(X.shape[1], COMPONENTS) / WIDTH
    weights = 0.01 * draws.normals(1, 2 * COMPONENTS)[0]
    for _ in range(math.ceil(n / BATCH)):
        chosen = draws.stream("b").choice(n, BATCH)
        angles, y = X[chosen] @ frequencies, rows.y[chosen]
        features = np.hstack([np.cos(angles), np.sin(angles)])
        pull = np.where(y * (features @ weights) < 1.0, y, 0.0)
        weights = (1.0 - 1e-5) * weights + 0.01 * (pull @ features) / BATCH
    return weights


def _searched(rows: Stream, together: bool) -> None:
    """RKS with every step and decay of a search."""
    cls: Any = find("RKS").load()
    given = {"components": COMPONENTS, "batch": BATCH, "scale": 1 / WIDTH, "epochs": 1}
    learners = [
        cls(step=step, decay=decay, **given).begin(rows.problem, Draws(0))
        for step in STEPS
        for decay in DECAYS
    ]
    if together:
        cls.share(learners)
    for each in learners:
        each.fit(rows.X, rows.y)


def _plain_bsgd(rows: Stream) -> Any:
    again = np.tile(rows.dense, (EPOCHS, 1)), np.tile(rows.y, EPOCHS)
    given = {"n_columns": 1, "budget": BUDGET, "width": WIDTH, "decay": 1e-4, "merging": True}
    return bsgd(*again, **given)


def _scikit(rows: Stream) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.svm import LinearSVC

    features = Nystroem(gamma=1 / (2 * WIDTH**2), n_components=LANDMARKS, random_state=0)
    mapped = features.fit_transform(rows.X)
    model = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=0.01, max_iter=30)
    return model.fit(mapped, rows.y)


def _libsvm(rows: Stream) -> Any:
    """LIBSVM by scikit-learn with the same kernel, as one matrix."""
    from sklearn.metrics.pairwise import laplacian_kernel
    from sklearn.svm import SVC

    rate = math.log(PSI) / rows.X.shape[1]
    return SVC(kernel="precomputed").fit(laplacian_kernel(rows.X, gamma=rate), rows.y)


def _libsvm_of_shares(rows: Stream) -> Any:
    """LIBSVM by scikit-learn with the isolation kernel of trees, as one matrix."""
    from sklearn.svm import SVC

    map_ = IsolationMap(partitionings=PARTITIONINGS, psi=PSI).fit(rows.X, Draws(0))
    features = indicators(map_.transform(rows.X), map_.size)
    kernel = (features @ features.T).toarray() / PARTITIONINGS
    return SVC(kernel="precomputed").fit(kernel, rows.y)


Contest = dict[str, tuple[Stream, Callable[[Stream], Any]]]


def contests(rows: Stream) -> dict[str, Contest]:
    """For each learner the ways to fit it, each with as many rows as its speed allows."""
    few, some = rows.head(PLAIN_ROWS), rows.head(KERNEL_ROWS)
    fourier = {"components": COMPONENTS, "batch": BATCH, "scale": 1 / WIDTH, "epochs": 1}
    kernel = {"budget": BUDGET, "width": WIDTH, "epochs": EPOCHS}
    nystroem = {"budget": LANDMARKS, "width": WIDTH, "decay": 1.0, "landmarks": "random"}
    return {
        "RKS": {
            "okbench": (rows, partial(fit, "RKS", **fourier)),
            "plain loop": (few, _plain_rks),
            "NumPy products": (rows, _by_products),
        },
        "RKS, 44 steps and decays": {
            "okbench": (some, partial(_searched, together=True)),
            "one after the other": (some, partial(_searched, together=False)),
        },
        "BSGD": {
            "okbench": (few, partial(fit, "BSGD", **kernel)),
            "plain loop": (few, _plain_bsgd),
        },
        "LLSVM": {
            "okbench": (rows, partial(fit, "LLSVM", **nystroem)),
            "scikit-learn": (rows, _scikit),
        },
        "Laplacian-LIBSVM": {
            "okbench": (some, partial(fit, "Laplacian-LIBSVM", psi=PSI)),
            "scikit-learn": (some, _libsvm),
        },
        "IK-LIBSVM": {
            "okbench": (some, partial(fit, "IK-LIBSVM", psi=PSI, map="iforest")),
            "scikit-learn": (some, _libsvm_of_shares),
        },
    }


def main(quick: bool) -> None:
    """Measure and print."""
    import warnings

    warnings.filterwarnings("ignore", category=UserWarning)  # 30 passes may not converge
    lines = []
    for name in SHAPES:
        rows = stream(name).head(4000 if quick else 20_000)
        for learner, ways in contests(rows).items():
            actions = {label: partial(action, part) for label, (part, action) in ways.items()}
            seconds = medians(actions, 3)
            rates = {label: len(ways[label][0]) / seconds[label] for label in ways}
            ours = rates.pop("okbench")
            others = "; ".join(f"{ours / rate:.1f}× {label}" for label, rate in rates.items())
            lines.append([name, learner, f"{ours / 1e3:,.1f}", others])
    print(tabulate(lines, ["dataset", "learner", "k rows/s", "against"], disable_numparse=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    print(f"{machine()}; CPU time on one thread\n")
    main(parser.parse_args().quick)
