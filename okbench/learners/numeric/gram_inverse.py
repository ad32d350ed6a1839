"""The inverse of a Gram matrix that gains and loses members, kept as its lower triangular root.

R with RᵀR = K⁻¹. A member joins as a last row and leaves by plane rotations, each in O(n²). The
inverse itself, updated in place, would keep the rounding errors of the largest value it ever had;
those of the root are of the size of the square root only.
"""

from __future__ import annotations

import math
from typing import Any

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED


@compiled(fastmath=FUSED)
def solve(root: Any, right: Any, size: int, half: Any, solution: Any) -> float:
    """K⁻¹ times the first row of `right` into that of `solution`; the two rows' inner product."""
    norm = 0.0
    for j in range(size):
        solution[0, j] = 0.0
    for i in range(size):
        total = 0.0
        for j in range(i + 1):
            total += root[i, j] * right[0, j]
        half[0, i] = total
        norm += total * total
        for j in range(i + 1):
            solution[0, j] += total * root[i, j]
    return norm


@compiled(fastmath=FUSED)
def extend_root(root: Any, projection: Any, size: int, rest: float) -> None:
    """One more member, with its projection onto the others and what that leaves of its norm."""
    scale = 1.0 / math.sqrt(rest)
    for j in range(size):
        root[size, j] = -scale * projection[0, j]
    root[size, size] = scale


@compiled(fastmath=FUSED)
def reduce_root(root: Any, size: int, place: int) -> None:
    """The member at `place` leaves; later ones move up."""
    for i in range(place, size - 1):
        upper, lower = root[i, place], root[i + 1, place]
        length = math.sqrt(upper * upper + lower * lower)
        cosine, sine = lower / length, upper / length
        for j in range(place + 1):  # up to the leaver's column, which is rotated out of row i
            u, w = root[i, j], root[i + 1, j]
            root[i, j] = cosine * u - sine * w
            root[i + 1, j] = cosine * w + sine * u
        for j in range(place + 1, i + 2):
            u, w = root[i, j], root[i + 1, j]
            root[i, j - 1] = cosine * u - sine * w
            root[i + 1, j] = cosine * w + sine * u
        root[i, i + 1] = 0.0
    for j in range(size):
        root[size - 1, j] = 0.0


@compiled(fastmath=FUSED)
def inverse_diagonal(root: Any, size: int, inverse: Any) -> None:
    """The diagonal of K⁻¹ into a row: 1 / what each member keeps off the span of the others."""
    for j in range(size):
        inverse[0, j] = 0.0
    for i in range(size):
        for j in range(i + 1):
            inverse[0, j] += root[i, j] * root[i, j]


@compiled(fastmath=FUSED)
def inverse_column(root: Any, size: int, place: int, inverse: Any) -> None:
    """A column of K⁻¹ into a row."""
    for j in range(size):
        inverse[0, j] = 0.0
    for i in range(place, size):
        weight = root[i, place]
        for j in range(i + 1):
            inverse[0, j] += weight * root[i, j]
