"""Rows a second of Raker, AdaRaker and OMKR: against plain loops and the machine's limits.

    python -m benchmarks.bench_many_kernels [--quick]

Rows have 77 inputs, as those of Twitter, and every kernel 50 frequencies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from benchmarks import limits
from benchmarks.clock import medians
from benchmarks.plain import many_kernels
from okbench.learners.contract import Draws, FloatArray, Problem
from okbench.learners.linear import STRETCH_BYTES, STRETCH_ROWS
from okbench.learners.many_kernels.adaraker import AdaRaker
from okbench.learners.many_kernels.instances import Instances
from okbench.learners.many_kernels.omkr import OMKR
from okbench.learners.many_kernels.raker import Raker

N_FEATURES, COMPONENTS, LONG = 77, 50, 10_000
KERNELS = (3, 16)
AIMS = {"Raker": 20, "AdaRaker": 10}
L1_OF_WEIGHTS = 48 * 1024  # bytes that may fit in the nearest cache: the bound must not be too low


def rows(n_rows: int) -> tuple[FloatArray, FloatArray, Problem]:
    rng = np.random.default_rng(0)
    X, y = rng.random((n_rows, N_FEATURES)), rng.random(n_rows)
    return X, y, Problem("regression", N_FEATURES, (), n_rows)


def learner_of(name: str, n_kernels: int) -> Instances:
    widths = np.geomspace(0.3, 3.0, n_kernels).tolist()
    return (
        Raker(components=COMPONENTS, widths=widths)
        if name == "Raker"
        else AdaRaker(components=COMPONENTS, widths=widths)
    )


def learn(learner: Any, n_rows: int) -> Any:
    X, y, problem = rows(n_rows)
    return partial(_learn, learner, problem, X, y)


def _learn(learner: Any, problem: Problem, X: FloatArray, y: FloatArray) -> None:
    learner.begin(problem, Draws(0)).learn(X, y)


def plain(name: str, n_kernels: int, n_rows: int) -> Callable[[], Any]:
    X, y, _ = rows(n_rows)
    frequencies = np.random.default_rng(1).standard_normal((n_kernels, COMPONENTS, N_FEATURES))
    given: dict[str, Any] = {"task": "regression", "frequencies": frequencies, "decay": 0.01}
    if name == "Raker":
        return partial(many_kernels.raker, X, y, step=0.5, weight_step=0.5, **given)
    return partial(many_kernels.adaraker, X, y, step=1.0, **given)


def bound_seconds(
    name: str, n_kernels: int, n_rows: int, product: float, machine: limits.Limits
) -> float:
    """Seconds a row for the product with all frequencies, sines and cosines, and for the weights of
    the instances alive, which are read for the output and again for the step, with the features."""
    components = n_kernels * COMPONENTS
    alive = 1.0
    if name == "AdaRaker":
        alive = float(np.mean([many_kernels.alive_at(t, 2) for t in range(n_rows)]))
    weights = 2 * components * alive
    read = machine.read_l1 if 8 * weights <= L1_OF_WEIGHTS else machine.read_l2
    return product + components / machine.sincos + 2 * weights / read


def main(quick: bool) -> None:
    cut = 4 if quick else 1
    n_rows, n_plain, rounds = 20_000 // cut, 2_000 // cut, 3 if quick else 7
    machine, lines = limits.measure(rounds), []
    print(machine)
    for n_kernels in KERNELS:
        components = n_kernels * COMPONENTS
        stretch = min(STRETCH_ROWS, 1 + STRETCH_BYTES // (8 * components))
        actions = {"product": limits.product(stretch, N_FEATURES, components)}
        for name in AIMS:
            actions[name] = learn(learner_of(name, n_kernels), n_rows)
            actions[f"plain {name}"] = plain(name, n_kernels, n_plain)
        seconds = medians(actions, rounds)
        for name, aim in AIMS.items():
            each = seconds[name] / n_rows
            ratio = seconds[f"plain {name}"] / n_plain / each
            bound = bound_seconds(name, n_kernels, n_rows, seconds["product"] / stretch, machine)
            lines.append(
                [name, n_kernels, f"{1e-3 / each:.0f}", f"{ratio:.0f} × (aim {aim})",
                 f"{100 * bound / each:.0f} % (aim 50)"]
            )  # fmt: skip
    heads = ["learner", "kernels", "k rows/s", "plain loop", "of its bound"]
    print(tabulate(lines, heads, disable_numparse=True))
    pair = {
        "Raker": learn(Raker(components=COMPONENTS), LONG // cut),
        "OMKR": learn(OMKR(), LONG // cut),
    }
    seconds = medians(pair, 3)
    share = 100 * seconds["Raker"] / seconds["OMKR"]
    print(
        f"Raker takes {share:.1f} % of OMKR's time on {LONG // cut:,} rows (the paper: about 5 %)"
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        main("--quick" in sys.argv)
