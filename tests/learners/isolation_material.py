"""Rows for the tests of the isolation kernel, and its plain rendering with the same draws."""

from __future__ import annotations

import numpy as np

from benchmarks.plain import isolation as plain
from okbench.learners.contract import Draws


def permutations(seed, n_rows):
    """What a map draws for its samples, one permutation after the other."""
    stream = Draws(seed).stream("samples")
    while True:
        yield stream.permutation(n_rows)


def plain_cells(X, references, *, partitionings, psi, map, seed=0):
    size = min(psi, len(references))
    inner = 2 ** (size - 1).bit_length() - 1
    uniforms = Draws(seed).stream("trees").uniforms(2 * partitionings * inner)
    drawn = permutations(seed, len(references))
    return plain.cells(X, references, drawn, uniforms, partitionings, psi, map)


def rows(kind, n_rows=240):
    """Rows in which distances tie, repeat, cancel, or are mostly zero."""
    rng = np.random.default_rng(20)
    X = rng.standard_normal((n_rows, 6))
    made = {
        "real": X,
        "whole": rng.integers(-2, 3, X.shape).astype(float),
        "thirds": rng.integers(0, 4, X.shape) / 3.0,  # equal distances that doubles tell apart
        "repeated": np.tile(X[:25], (n_rows // 25 + 1, 1))[:n_rows],
        "constant": np.ones_like(X),
        "far": X + 1e8,
        "huge": X * 1e200,
        "tiny": X * 1e-200,
        "largest": np.sign(X) * np.finfo(float).max,  # whose sum and differences overflow
        "wide": np.zeros((n_rows, 1500)),  # too many columns for sparse rows to become a table
    }
    made["wide"][:, 700:760] = rng.standard_normal((n_rows, 60)) * (rng.random((n_rows, 60)) < 0.2)
    made["faint"] = made["wide"] * 3e-162  # squares of few digits
    return made[kind]


KINDS = (
    "real",
    "whole",
    "thirds",
    "repeated",
    "constant",
    "far",
    "huge",
    "tiny",
    "largest",
    "wide",
    "faint",
)
