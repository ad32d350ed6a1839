"""The isolation maps, the learners on them and that with the Laplacian kernel, as ratios of one
run.

    python -m benchmarks.bench_isolation [--quick | --full]

With --full it maps as many sparse rows as url has, and prints the most memory that this took.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from tabulate import tabulate

from benchmarks.clock import machine, medians, peak_megabytes
from benchmarks.laplacian_rows import pairs_table, search_table
from benchmarks.plain import isolation as plain
from okbench.learners.contract import Draws, FloatArray, Problem
from okbench.learners.isolation.array_libraries import NumpyFinder
from okbench.learners.isolation.maps import Cells, IsolationMap
from okbench.learners.isolation.references import sub_samples
from okbench.learners.isolation.shared_maps import SharedMaps
from okbench.learners.registry import find
from okbench.learners.rows import Block

PARTITIONINGS, PSI, COLUMNS = 100, 64, 54  # the shape of covtype
PLAIN_ROWS, OTHER_ROWS, MANY_ROWS = 400, 400, 4000  # fewer rows for what is slow
WIDE = (2_366_130, 3_231_961, 116)  # rows, columns and values of a row of url
PSIS = (16, 256, 4096)
SEARCHED = tuple(2**k for k in range(2, 13))  # every psi of the paper's search
NODES = "million node visits a second"


def main(quick: bool) -> None:
    """Measure and print; rates in thousand rows a second."""
    rounds = 2 if quick else 5
    print(_maps(10_000 if quick else 40_000, rounds), "\n")
    print(_shared(5_000 if quick else 20_000, rounds), "\n")
    print(_learners(4_000 if quick else 20_000, rounds), "\n")
    print(_parts(4_000 if quick else 20_000, rounds), "\n")
    print(_wide(WIDE[0] // 100, rounds), "\n")
    print(pairs_table(4_000 if quick else 12_000, rounds), "\n")
    print(search_table(SEARCHED, 4_000 if quick else 16_000, min(rounds, 3)), "\n")


def _maps(n_rows: int, rounds: int) -> str:
    """Cells of dense rows, against plain NumPy, scikit-learn, and the product of matrices alone."""
    X = np.random.default_rng(0).random((n_rows, COLUMNS))
    made = {kind: _fitted(kind, PSI, X) for kind in ("nearest", "iforest")}
    few, fewer, many = X[:OTHER_ROWS], X[:PLAIN_ROWS], X[:MANY_ROWS]
    points = X[sub_samples(Draws(0), n_rows, PARTITIONINGS, PSI)]
    actions: dict[str, tuple[int, Callable[[], Any]]] = {
        "nearest": (n_rows, partial(made["nearest"].transform, X)),
        "its product": (n_rows, partial(_product, X, points.reshape(-1, COLUMNS))),
        "nearest, NumPy": (len(fewer), partial(_plain_nearest, fewer, points)),
        f"nearest, scikit-learn k-d tree, {len(few)} rows": (
            len(few), partial(_neighbours, few, points, "kd_tree")
        ),
        f"nearest, scikit-learn brute, {len(few)} rows": (
            len(few), partial(_neighbours, few, points, "brute")
        ),
        f"nearest, scikit-learn brute, {len(many):,} rows": (
            len(many), partial(_neighbours, many, points, "brute")
        ),
        "iforest": (n_rows, partial(made["iforest"].transform, X)),
        "iforest, NumPy": (len(fewer), _plain_forest(fewer, points)),
    }  # fmt: skip
    seconds = medians({name: action for name, (_, action) in actions.items()}, rounds)
    rates = {name: rows / seconds[name] for name, (rows, _) in actions.items()}
    lines = []
    for name, rate in rates.items():
        ours = rates[name.partition(",")[0]] if "," in name else rate
        lines.append([name, f"{rate / 1e3:,.2f}", f"{ours / rate:,.1f}" if ours != rate else ""])
    lines[0][2] = f"{100 * rates['nearest'] / rates['its product']:.0f} % of its product"
    visits = rates["iforest"] * PARTITIONINGS * (PSI - 1).bit_length() / 1e6
    lines[6][2] = f"{visits:,.0f} {NODES}"
    heads = [
        f"maps, t = {PARTITIONINGS}, psi = {PSI}, d = {COLUMNS}",
        "k rows/s",
        "okbench is × as fast",
    ]
    return tabulate(lines, heads, disable_numparse=True)


def _shared(n_rows: int, rounds: int) -> str:
    """All maps of the paper's search against that of its largest psi alone, draws included."""
    X = np.random.default_rng(0).random((30_000, COLUMNS))
    lines = []
    for kind in ("nearest", "iforest"):
        actions = {
            "largest": partial(_mapped, kind, SEARCHED[-1:], X, n_rows),
            "all": partial(_mapped, kind, SEARCHED, X, n_rows),
        }
        seconds = medians(actions, rounds)
        ratio = seconds["all"] / seconds["largest"]
        lines.append([kind, *(f"{seconds[each]:.2f}" for each in actions), f"{ratio:.2f}"])
    heads = [f"maps of {n_rows:,} rows", f"psi = {SEARCHED[-1]:,}, s", "every psi, s", "times"]
    return tabulate(lines, heads, disable_numparse=True)


def _mapped(kind: str, psis: Sequence[int], X: FloatArray, n_rows: int) -> None:
    """Rows in the maps of learners that are fitted one after the other."""
    maps = [IsolationMap(partitionings=PARTITIONINGS, psi=psi, map=kind) for psi in psis]
    shared = SharedMaps(maps, [Draws(0) for _ in maps])
    for number in range(len(maps)):
        shared.fit(number, Block(X)).transform(X[:n_rows])


def _parts(n_rows: int, rounds: int) -> str:
    """The share of predictions in the time of a stream in blocks of 1,000 rows, in the primal and
    the dual form (section 8.1.1). Learning makes the predictions again, before its updates."""
    rng = np.random.default_rng(1)
    X = rng.random((n_rows, COLUMNS))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(n_rows) > 0.5, 1.0, -1.0)
    lines = []
    for name in ("IK-OGD", "IK-OGD-dual"):
        _parts_of(name, X, y)  # compiled before the clock starts
        parts = np.median([_parts_of(name, X, y) for _ in range(rounds)], axis=0)
        mapped, predicted, learned, updates = parts
        share = f"{100 * predicted / (mapped + learned):.1f} %"
        lines.append([name, *(f"{part:.4f}" for part in parts[:3]), share, f"{updates:,.0f}"])
    heads = [f"{n_rows:,} rows", "map, s", "predict, s", "learn, s", "predictions", "updates"]
    return tabulate(lines, heads, disable_numparse=True)


def _parts_of(name: str, X: FloatArray, y: FloatArray) -> tuple[float, float, float, int]:
    """Seconds that mapping, predicting and learning take, and the number of updates."""
    learner = find(name).load()(partitionings=PARTITIONINGS, psi=PSI).fit(X[:1000], y[:1000])
    times = np.zeros(3)
    for first in range(1000, len(X), 1000):
        rows = slice(first, first + 1000)
        clock = [process_time()]
        cells = learner._map.transform(X[rows])
        clock.append(process_time())
        scores = np.zeros((len(cells), 1))
        learner._score_cells(cells, scores)
        clock.append(process_time())
        learner.updates += learner._learn_cells(cells, y[rows], scores)
        clock.append(process_time())
        times += np.diff(clock)
    return (*times, learner.updates)


def _learners(n_rows: int, rounds: int) -> str:
    """Learning on cells: by index, by all zeros and ones, by kernel values."""
    rng = np.random.default_rng(1)
    X = rng.random((n_rows, COLUMNS))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(n_rows) > 0.5, 1.0, -1.0)
    problem = Problem("binary", COLUMNS, (-1.0, 1.0), n_rows)
    lines = []
    for psi in PSIS:
        made = _fitted("iforest", psi, X)
        cells, targets = made.transform(X), y
        some = slice(0, max(200, n_rows * 16 // psi // 8))
        actions = {
            "indexed": (n_rows, partial(_learn, "IK-OGD", problem, made, cells, targets)),
            "naive": (
                len(targets[some]),
                partial(
                    _learn, "IK-OGD", problem, made, cells[some], targets[some], product="naive"
                ),
            ),
            "dual": (n_rows, partial(_learn, "IK-OGD-dual", problem, made, cells, targets)),
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


def _learned_wide(n_rows: int) -> str:
    """IK-OGD on such rows: 1,000 rows make the map, then each block is predicted and learned."""
    X, lines = wide_rows(n_rows), []
    y = np.where(np.random.default_rng(1).random(n_rows) < 0.33, 1, -1)
    problem, initial = Problem("binary", WIDE[1], (-1, 1), n_rows), 1000
    for kind in ("iforest", "nearest"):
        begun = process_time()
        learner = (
            find("IK-OGD")
            .load()(partitionings=PARTITIONINGS, psi=PSI, map=kind)
            .begin(problem, Draws(0))
        )
        learner.fit(X[:initial], y[:initial])
        for first in range(initial, n_rows, initial):
            rows = slice(first, first + initial)
            learner.predict(X[rows])
            learner.learn(X[rows], y[rows])
        seconds = process_time() - begun
        lines.append([kind, f"{n_rows / seconds / 1e3:,.0f}", f"{learner.nbytes / 1e6:,.0f}"])
    heads = [f"IK-OGD, predicted then learned, {n_rows:,} rows", "k rows/s", "MB of the model"]
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
    return IsolationMap(partitionings=PARTITIONINGS, psi=psi, map=kind).fit(X[:30_000], Draws(0))


def _product(X: FloatArray, points: FloatArray, block: int = NumpyFinder.rows) -> None:
    """The least that distances take: products in single precision, in the blocks of the map."""
    rows, points = X.astype(np.float32), points.astype(np.float32)
    together = PSI * max(1, NumpyFinder.n_bytes // (4 * block * PSI))
    out = np.empty(block * together, dtype=np.float32)
    for first in range(0, len(rows), block):
        part = rows[first : first + block]
        for at in range(0, len(points), together):
            some = points[at : at + together]
            held = out[: len(some) * len(part)].reshape(len(some), len(part))
            np.matmul(some, part.T, out=held)


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
    name: str,
    problem: Problem,
    made: IsolationMap,
    cells: Cells,
    targets: FloatArray,
    **settings: Any,
) -> None:
    """Learn cells of a map that are there already; the map is no part of the time."""
    settings |= {"partitionings": PARTITIONINGS, "psi": made.psi}
    learner = find(name).load()(**settings).begin(problem, Draws(0))
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
        print(_wide(WIDE[0], 1), "\n")
        print(_learned_wide(WIDE[0]), f"\n{peak_megabytes():,.0f} MB at most, rows included")
    else:
        main(asked.quick)
