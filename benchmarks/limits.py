"""What one core can do at best, measured with the same loops' plainest forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.clock import medians
from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import exp_sweep, sincos_sweep
from okbench.learners.numeric.lanes import REASSOCIATED, aligned

L1, L2 = 32 * 1024, 512 * 1024  # bytes that surely fit in a core's caches
_WORK = 4_000_000  # elements a measurement handles


@dataclass(frozen=True)
class Limits:
    """Elements a second, for one core."""

    exp: float
    sincos: float  # pairs
    read_l1: float  # doubles
    read_l2: float

    def __str__(self) -> str:
        return (
            f"exp {self.exp / 1e9:.2f} G/s, sin and cos {self.sincos / 1e9:.2f} G pairs/s, "
            f"reading L1 {8 * self.read_l1 / 1e9:.0f} GB/s, L2 {8 * self.read_l2 / 1e9:.0f} GB/s"
        )


def measure(rounds: int) -> Limits:
    """The limits that do not depend on the rows."""
    angles = aligned(1024)
    angles[:] = np.random.default_rng(0).uniform(-30, 0, len(angles))
    sines, cosines, values = angles.copy(), angles.copy(), np.full(1024, -0.1)
    near, far = aligned(L1 // 8), aligned(L2 // 8)
    times = medians(
        {
            "exp": lambda: _exp_again(values, _WORK // 1024),
            "sincos": lambda: _sincos_again(angles, sines, cosines, _WORK // 1024),
            "read_l1": lambda: _sum_again(near, _WORK // len(near)),
            "read_l2": lambda: _sum_again(far, _WORK // len(far)),
        },
        rounds,
    )
    return Limits(**{name: _WORK / seconds for name, seconds in times.items()})


def product(rows: int, n_features: int, columns: int) -> Any:
    """The product of a stretch of rows with a matrix, ready to be timed."""
    rng = np.random.default_rng(0)
    X, matrix = rng.standard_normal((rows, n_features)), rng.standard_normal((n_features, columns))
    out = aligned(rows, columns)
    return lambda: np.dot(X, matrix, out=out)


@compiled()
def _exp_again(values: Any, times: int) -> None:
    for _ in range(times):
        exp_sweep(values, 0, len(values))


@compiled()
def _sincos_again(angles: Any, sines: Any, cosines: Any, times: int) -> None:
    for _ in range(times):
        sincos_sweep(angles, sines, cosines, 0, len(angles))


@compiled()
def _sum_again(values: Any, times: int) -> float:
    total = 0.0
    for i in range(times):
        values[i % len(values)] = 1.0  # no pass may be taken for the one before
        total += _sum(values)
    return total


@compiled(fastmath=REASSOCIATED)
def _sum(values: Any) -> float:
    a = b = c = d = 0.0
    quarter = len(values) // 4
    for i in range(quarter):
        a += values[i]
        b += values[quarter + i]
        c += values[2 * quarter + i]
        d += values[3 * quarter + i]
    return a + b + c + d
