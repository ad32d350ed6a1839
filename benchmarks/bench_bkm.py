"""Updates of the Bayesian kernel machine: against its bound, plain loops, more particles, memory.

    python -m benchmarks.bench_bkm

The bound of an update is what its products and its sines and cosines take at best: products of
matrices by BLAS where rows are full, and where they are sparse one multiplication for each value
and lane, read from the second cache, forwards and backwards. Rows and draws are outside the clock.
"""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from tabulate import tabulate

from benchmarks import limits
from benchmarks.clock import medians
from benchmarks.plain.bkm import bkm
from benchmarks.streams import SHAPES, Stream, stream
from okbench.base.jit import compiled
from okbench.learners.batch.bkm import BKM
from okbench.learners.batch.particle_angles import SPARSE_BELOW
from okbench.learners.contract import Draws
from okbench.learners.numeric.single_precision import sincos_lines

NAMES = ("a9a", "w8a", "ijcnn1")
PARTICLES, COMPONENTS, BATCH, CLASSES = 100, 400, 200, 2
UPDATES, MORE = 4, (25, 50, 100, 200)
SHAPES.setdefault("w8a", (49_749, 300, 12))


def main(quick: bool) -> None:
    """Print what was measured."""
    rounds = 3 if quick else 7
    found = limits.measure(rounds)
    lines = [_line(stream(name), found, rounds) for name in NAMES]
    print(f"BKM, S = {PARTICLES}, D = {COMPONENTS}, B = {BATCH}: milliseconds an update")
    heads = ["", "ours", "of its bound (aim 60 %)", "plain, double (aim 10×)",
             "plain, single (aim 1.5×)", "double", "peak / particles"]  # fmt: skip
    print(tabulate(lines, heads, disable_numparse=True), "\n")
    actions = {(S, U): _fit(stream("ijcnn1"), U, particles=S) for S in MORE for U in (1, 3)}
    seconds = medians(actions, rounds)
    growth = {S: 1e3 * (seconds[S, 3] - seconds[S, 1]) / 2 for S in MORE}
    print("ijcnn1, by S:", ", ".join(f"{S}: {ms:.1f} ms" for S, ms in growth.items()))
    slope, _ = np.polyfit(np.log(list(growth)), np.log(list(growth.values())), 1)
    print(f"exponent {slope:.2f}\n")


def _line(rows: Stream, found: limits.Limits, rounds: int) -> list[str]:
    actions: dict[Any, Any] = {
        "once": _fit(rows, 1),
        "ours": _fit(rows, 1 + UPDATES),
        "double once": _fit(rows, 1, precision="double"),
        "double": _fit(rows, 1 + UPDATES, precision="double"),
        "plain": partial(_plain, rows, np.float64),
        "plain single": partial(_plain, rows, np.float32),
        "sincos": _sincos(),
    }
    sparse = np.count_nonzero(rows.dense) < SPARSE_BELOW * rows.dense.size
    if not sparse:
        actions |= _products(rows.X.shape[1])
    seconds = medians(actions, rounds)
    ours = (seconds["ours"] - seconds["once"]) / UPDATES
    double = (seconds["double"] - seconds["double once"]) / UPDATES
    if sparse:
        products = 2 * PARTICLES * BATCH * rows.filled * COMPONENTS / (2 * found.read_l2)
    else:
        products = PARTICLES * (seconds["forwards"] + seconds["backwards"])
    bound = PARTICLES * seconds["sincos"] + products
    return [
        f"{rows.name} ({'sparse' if sparse else 'dense'})",
        f"{1e3 * ours:.1f}",
        f"{100 * bound / ours:.0f} % of {1e3 * bound:.1f}",
        f"{seconds['plain'] / ours:.1f}×",
        f"{seconds['plain single'] / ours:.1f}×",
        f"{1e3 * double:.1f}",
        f"{_peak(rows):.2f}",
    ]


def _fit(rows: Stream, updates: int, **settings: Any) -> Any:
    given = {"particles": PARTICLES, "components": COMPONENTS, "batch": BATCH, **settings}
    learner = BKM(iterations=updates, **given)
    return lambda: learner.begin(rows.problem, Draws(0)).fit(rows.X, rows.y)


def _plain(rows: Stream, kind: Any) -> None:
    """One update, at the cost of few draws."""
    draws, n_features = Draws(0), rows.X.shape[1]
    n_weights = CLASSES * (2 * COMPONENTS + 1)
    weights = draws.stream("weights").normals(PARTICLES, n_weights).astype(kind)
    scales = draws.stream("scales").normals(PARTICLES, n_features).astype(kind)
    noise = draws.stream("noise").normals(COMPONENTS, n_features).astype(kind)
    part = replace(rows, X=rows.X[:BATCH], y=rows.y[:BATCH])
    labels = (part.y > 0).astype(int)
    X = np.ascontiguousarray(part.dense, dtype=kind)
    bkm(X, labels, weights.reshape(PARTICLES, CLASSES, -1), scales, noise, [np.arange(BATCH)])


def _products(n_features: int) -> dict[str, Any]:
    """Both products of a particle, ready to be timed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((BATCH, n_features)).astype(np.float32)
    noise = rng.standard_normal((n_features, COMPONENTS)).astype(np.float32)
    angles, back = np.empty((BATCH, COMPONENTS), np.float32), np.empty_like(noise)
    return {
        "forwards": lambda: np.matmul(X, noise, out=angles),
        "backwards": lambda: np.matmul(X.T, angles, out=back),
    }


def _sincos() -> Any:
    """The sines and cosines of a particle, line by line in the nearest cache."""
    angles = np.random.default_rng(0).uniform(-30, 30, (1, COMPONENTS)).astype(np.float32)
    sines, cosines = np.empty((2, 1, COMPONENTS), np.float32)
    return lambda: _sincos_again(angles, sines, cosines, BATCH)


@compiled()
def _sincos_again(angles: Any, sines: Any, cosines: Any, times: int) -> None:
    for _ in range(times):
        sincos_lines(angles, 0, sines, cosines)


def _peak(rows: Stream) -> float:
    """The most memory that a fit takes beside the rows and their targets, over the bytes of its
    particles."""
    X = rows.X if isinstance(rows.X, np.ndarray) else sp.csr_array(rows.X)
    learner = BKM(particles=PARTICLES, components=COMPONENTS, batch=BATCH, iterations=2)
    learner.begin(rows.problem, Draws(0))
    tracemalloc.start()
    try:
        learner.fit(X, rows.y)
        _, peak = tracemalloc.get_traced_memory()
        return (peak - rows.problem.encode(rows.y).nbytes) / learner.numbers.nbytes
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main(quick=True)
