"""The isolation maps and the learners on them, as ratios of one run.

    python -m benchmarks.bench_isolation [--quick | --full]

With --full it maps as many sparse rows as url has, and prints the most memory that this took.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from tabulate import tabulate

from benchmarks.clock import machine, medians, peak_megabytes
from benchmarks.plain import isolation as plain
from okbench.learners.contract import Draws, FloatArray, Problem
from okbench.learners.isolation.maps import Cells, IsolationMap
from okbench.learners.isolation.references import sub_samples
from okbench.learners.registry import find

PARTITIONINGS, PSI, COLUMNS = 100, 64, 54  # the shape of covtype
PLAIN_ROWS, OTHER_ROWS = 400, 400  # fewer rows for what is slow
WIDE = (2_366_130, 3_231_961, 116)  # rows, columns and values of a row of url
PSIS = (16, 256, 4096)
NODES = "million node visits a second"


def main(quick: bool) -> None:
    """Measure and print; rates in thousand rows a second."""
    rounds = 2 if quick else 5
    print(_maps(10_000 if quick else 40_000, rounds), "\n")
    print(_learners(4_000 if quick else 20_000, rounds), "\n")
    print(_wide(WIDE[0] // 100, rounds), "\n")


def _maps(n_rows: int, rounds: int) -> str:
    """Cells of dense rows, against plain NumPy, scikit-learn, and the product of matrices alone."""
    X = np.random.default_rng(0).random((n_rows, COLUMNS))
    made = {kind: _fitted(kind, PSI, X) for kind in ("nearest", "iforest")}
    few, fewer = X[:OTHER_ROWS], X[:PLAIN_ROWS]
    points = X[sub_samples(Draws(0), n_rows, PARTITIONINGS, PSI)]
    actions: dict[str, tuple[int, Callable[[], Any]]] = {
        "nearest": (n_rows, partial(made["nearest"].transform, X)),
        "its product": (n_rows, partial(_product, X, points.reshape(-1, COLUMNS))),
        "nearest, NumPy": (len(fewer), partial(_plain_nearest, fewer, points)),
        "nearest, scikit-learn k-d tree": (len(few), partial(_neighbours, few, points, "kd_tree")),
        "nearest, scikit-learn brute": (len(few), partial(_neighbours, few, points, "brute")),
        "iforest": (n_rows, partial(made["iforest"].transform, X)),
        "iforest, NumPy": (len(fewer), _plain_forest(fewer, points)),
    }
    seconds = medians({name: action for name, (_, action) in actions.items()}, rounds)
    rates = {name: rows / seconds[name] for name, (rows, _) in actions.items()}
    lines = []
    for name, rate in rates.items():
        ours = rates[name.partition(",")[0]] if "," in name else rate
        lines.append([name, f"{rate / 1e3:,.2f}", f"{ours / rate:,.1f}" if ours != rate else ""])
    lines[0][2] = f"{100 * rates['nearest'] / rates['its product']:.0f} % of its product"
    visits = rates["iforest"] * PARTITIONINGS * (PSI - 1).bit_length() / 1e6
    lines[5][2] = f"{visits:,.0f} {NODES}"
    heads = [
        f"maps, t = {PARTITIONINGS}, psi = {PSI}, d = {COLUMNS}",
        "k rows/s",
        "okbench is × as fast",
    ]
    return tabulate(lines, heads, disable_numparse=True)


def _learners(n_rows: int, rounds: int) -> str:
    """Learning on cells: by index, by all zeros and ones, by kernel values."""
    rng = np.random.default_rng(1)
    X = rng.random((n_rows, COLUMNS))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(n_rows) > 0.5, 1.0, -1.0)
    problem = Problem("binary", COLUMNS, (-1.0, 1.0), n_rows)
    lines = []
    for psi in PSIS:
        cells, targets = _fitted("iforest", psi, X).transform(X), y
        some = slice(0, max(200, n_rows * 16 // psi // 8))
        actions = {
            "indexed": (n_rows, partial(_learn, "IK-OGD", problem, psi, cells, targets)),
            "naive": (
                len(targets[some]),
                partial(
                    _learn, "IK-OGD", problem, psi, cells[some], targets[some], product="naive"
                ),
            ),
            "dual": (n_rows, partial(_learn, "IK-OGD-dual", problem, psi, cells, targets)),
        }
        seconds = medians({name: action for name, (_, action) in actions.items()}, rounds)
        rates = {name: rows / seconds[name] for name, (rows, _) in actions.items()}
        lines.append(
            [
                f"{psi:,}",
                f"{rates['indexed'] / 1e3:,.0f}",
                f"{rates['naive'] / 1e3:,.1f} ({rates['indexed'] / rates['naive']:,.0f} ×)",
                f"{rates['dual'] / 1e3:,.1f} ({rates['indexed'] / rates['dual']:,.0f} ×)",
            ]
        )
    heads = ["learning on cells: psi", "k rows/s", "naive product", f"dual, {n_rows:,} rows"]
    return tabulate(lines, heads, disable_numparse=True)


def _wide(n_rows: int, rounds: int) -> str:
    """Sparse rows with as many columns as url."""
    X = wide_rows(n_rows)
    made = {kind: _fitted(kind, PSI, X) for kind in ("iforest", "nearest")}
    seconds = medians({kind: partial(each.transform, X) for kind, each in made.items()}, rounds)
    lines = [
        [kind, f"{n_rows / seconds[kind] / 1e3:,.0f}", f"{made[kind].nbytes / 1e6:,.0f}"]
        for kind in made
    ]
    heads = [f"{n_rows:,} × {WIDE[1]:,}, {WIDE[2]} values a row", "k rows/s", "MB of the map"]
    return tabulate(lines, heads, disable_numparse=True)


def wide_rows(n_rows: int) -> sp.csr_array:
    """Sparse rows of the shape of url: half of their values in a few thousand columns."""
    _, n_columns, filled = WIDE
    rng, half, common = np.random.default_rng(0), filled // 2, 5000
    columns = np.empty((n_rows, filled), dtype=np.int32)
    columns[:, :half] = rng.integers(0, common, (n_rows, half))
    columns[:, half:] = rng.integers(common, n_columns, (n_rows, filled - half))
    columns.sort(axis=1)
    starts = np.arange(n_rows + 1, dtype=np.int32) * filled
    parts = rng.random(n_rows * filled), columns.ravel(), starts
    X = sp.csr_array(parts, shape=(n_rows, n_columns))
    X.sum_duplicates()
    return X


def _fitted(kind: str, psi: int, X: Any) -> IsolationMap:
    return IsolationMap(PARTITIONINGS, psi, kind).fit(X[:30_000], Draws(0))


def _product(X: FloatArray, points: FloatArray, block: int = 82) -> None:
    """The least that distances take: one product, in blocks of the size that the map takes."""
    out = np.empty((block, len(points)))
    for first in range(0, len(X), block):
        part = X[first : first + block]
        np.matmul(part, points.T, out=out[: len(part)])


def _plain_nearest(X: FloatArray, points: FloatArray) -> None:
    for each in points:
        plain.nearest_cells(X, each)


def _plain_forest(X: FloatArray, points: FloatArray) -> Callable[[], Any]:
    uniforms = Draws(0).stream("trees").uniforms(2 * PSI)
    trees = [plain.tree(each, uniforms) for each in points]
    return lambda: [plain.tree_cells(X, root) for root in trees]


def _neighbours(X: FloatArray, points: FloatArray, algorithm: str) -> None:
    from sklearn.neighbors import NearestNeighbors

    for each in points:
        NearestNeighbors(n_neighbors=1, algorithm=algorithm).fit(each).kneighbors(X)


def _learn(
    name: str, problem: Problem, psi: int, cells: Cells, targets: FloatArray, **settings: Any
) -> None:
    """Learn cells that are there already; the map is no part of the time."""
    learner = find(name).load()(PARTITIONINGS, psi, **settings).begin(problem, Draws(0))
    made = IsolationMap(PARTITIONINGS, psi)
    made.size = int(cells.max()) + 1
    learner._rule = learner._rule._replace(size=made.size)
    learner._clear(problem, made)
    learner._learn_cells(cells, targets, np.zeros((len(cells), 1)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_isolation")
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds")
    parser.add_argument("--full", action="store_true", help="only sparse rows, as many as url has")
    asked = parser.parse_args()
    print(f"{machine()}; CPU time on one thread\n")
    if asked.full:
        print(_wide(WIDE[0], 1), f"\n{peak_megabytes():,.0f} MB at most, rows included")
    else:
        main(asked.quick)
