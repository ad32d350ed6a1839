"""Time and peak memory of a million rows through RRF, against scikit-learn with features of as many
components, all rows at once.

    python -m benchmarks.bench_memory

Each is a process of its own; imports, compilation and the making of the rows are outside the clock,
and the rows themselves count in the memory of both.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

from benchmarks.clock import peak_megabytes, seconds_of
from okbench.learners.contract import Draws, FloatArray, Problem

ROWS, FEATURES, CLASSES, COMPONENTS = 1_000_000, 10, 10, 200


def main(quick: bool) -> None:
    """Print both, and their ratios."""
    rows = ROWS // 10 if quick else ROWS
    ours, theirs = (_run(who, rows) for who in ("okbench", "scikit-learn"))
    print(f"{rows:,} rows × {FEATURES}, {CLASSES} classes, D = {COMPONENTS}, one pass")
    for name, run in (("RRF", ours), ("RBFSampler + SGDClassifier", theirs)):
        print(f"  {name:28}{run['seconds']:8.2f} s{run['megabytes']:8,.0f} MB at most")
    time, memory = (ours[key] / theirs[key] for key in ("seconds", "megabytes"))
    print(f"  {'RRF takes':28}{time:8.3f}  {memory:8.2f}  of that\n")


def _run(who: str, rows: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.bench_memory", who, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _measured(who: str, rows: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = rng.random((rows, FEATURES))
    y = np.argmax(X @ rng.standard_normal((FEATURES, CLASSES)), axis=1)
    learn = _with_rrf if who == "okbench" else _with_scikit
    learn(X[:200], y[:200])
    return {"seconds": seconds_of(lambda: learn(X, y)), "megabytes": peak_megabytes()}


def _with_rrf(X: FloatArray, y: FloatArray) -> None:
    from okbench.learners.rrf import RRF

    problem = Problem("multiclass", FEATURES, tuple(range(CLASSES)), len(X))
    RRF(components=COMPONENTS).begin(problem, Draws(0)).learn(X, y)


def _with_scikit(X: FloatArray, y: FloatArray) -> None:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier

    sampler = RBFSampler(gamma=0.5, n_components=2 * COMPONENTS, random_state=0)
    model = SGDClassifier(loss="hinge", learning_rate="constant", eta0=0.003)
    model.partial_fit(sampler.fit_transform(X), y, classes=np.arange(CLASSES))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_measured(sys.argv[1], int(sys.argv[2]))))
    else:
        main(quick=False)
