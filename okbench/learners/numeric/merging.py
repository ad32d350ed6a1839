"""Where between two vectors a merge of them belongs: the h of most m1 k^((1-h)²) + m2 k^(h²).

k is the kernel of the two, m1 and m2 their shares. The partners of a tile are searched at once, one
per lane: by golden section, or in a table made by it. A tile is a flat array in which each
quantity has TILE numbers in a row: at a fixed distance, so that LLVM sees that no two overlap.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, exp
from okbench.learners.numeric.lanes import aligned, inlined
from okbench.learners.numeric.supports import TILE

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
SHORTEST = 2e-4  # of the bracket in which the search goes on
LONGEST = 5.0
TURNS = math.ceil(math.log(SHORTEST / LONGEST) / math.log(GOLDEN))
ALIKE = 1e-12  # relative difference of losses, and of sums from 0, that rounding might have made
AS_GOOD = 2e-15  # the same of two places between two vectors, whose values are less rounded
CELLS = 128  # of the table, each way
LEAST, MOST = -LONGEST, 0.5  # places that the table holds
UNIT = (MOST - LEAST) / 65535  # four of which fit into a word

LOG_KERNEL, KERNEL, M1, M2 = 0, TILE, 2 * TILE, 3 * TILE  # given
H = 4 * TILE  # found
LOW, HIGH, AT_LEFT, AT_RIGHT = 5 * TILE, 6 * TILE, 7 * TILE, 8 * TILE  # to search in
CELL, BESIDE, ABOVE = LOW, HIGH, AT_LEFT  # to look up in: a cell, and how far into it
OF_A, OF_B, LOSS = AT_LEFT, AT_RIGHT, 9 * TILE  # the caller's
TILE_SIZE = 10 * TILE


@compiled(fastmath=FUSED)
def value(m1: float, m2: float, log_kernel: float, h: float) -> float:
    """What is to be largest."""
    near_a, near_b = exp((1.0 - h) * (1.0 - h) * log_kernel), exp(h * h * log_kernel)
    return m1 * near_a + m2 * near_b


@inlined
def search(tile: Any) -> None:
    """Golden section search: from [0, 1] for shares of one sign, else from beyond the larger.

    Where both places are as good, as between two vectors of the same share, it goes to the right.
    """
    for j in range(TILE):
        m1, m2, log_kernel = tile[M1 + j], tile[M2 + j], tile[LOG_KERNEL + j]
        alike, first = m1 * m2 > 0.0, m1 > 0.0
        low = 0.0 if alike else (1.0 if first else -LONGEST)
        high = 1.0 if alike else (1.0 + LONGEST if first else 0.0)
        tile[LOW + j], tile[HIGH + j] = low, high
        tile[AT_LEFT + j] = value(m1, m2, log_kernel, high - GOLDEN * (high - low))
        tile[AT_RIGHT + j] = value(m1, m2, log_kernel, low + GOLDEN * (high - low))
    for _ in range(TURNS):
        for j in range(TILE):
            low, high = tile[LOW + j], tile[HIGH + j]
            at_left, at_right = tile[AT_LEFT + j], tile[AT_RIGHT + j]
            goes_on = high - low >= SHORTEST
            to_left = at_left - AS_GOOD * abs(at_left) > at_right
            new_low = low if to_left else high - GOLDEN * (high - low)
            new_high = low + GOLDEN * (high - low) if to_left else high
            length = GOLDEN * (new_high - new_low)
            h = new_high - length if to_left else new_low + length
            found = value(tile[M1 + j], tile[M2 + j], tile[LOG_KERNEL + j], h)
            tile[AT_LEFT + j] = found if to_left else at_right
            tile[AT_RIGHT + j] = at_left if to_left else found
            tile[LOW + j] = new_low if goes_on else low
            tile[HIGH + j] = new_high if goes_on else high
    for j in range(TILE):
        tile[H + j] = 0.5 * (tile[LOW + j] + tile[HIGH + j])


@inlined
def search_in_table(tile: Any, table: Any) -> None:
    """The same read off `placed`, interpolated in both directions."""
    last = CELLS - 1e-9
    for j in range(TILE):
        m1, m2 = tile[M1 + j], tile[M2 + j]
        ratio = (m2 if m1 >= m2 else m1) / (m1 if m1 >= m2 else m2)
        x, y = 0.5 * CELLS * (1.0 + ratio), CELLS * tile[KERNEL + j]
        x, y = x if x < last else last, y if y < last else last
        x = x if x > 0.0 else 0.0
        p, q = math.floor(x), math.floor(y)
        tile[CELL + j], tile[BESIDE + j], tile[ABOVE + j] = p * CELLS + q, x - p, y - q
    for j in range(TILE):  # apart, for it is the one thing that has no lanes
        tile[CELL + j] = table[np.uint64(np.int64(tile[CELL + j]))]
    for j in range(TILE):
        word = np.float64(tile[CELL + j]).view(np.int64)
        a, b = np.float64(word & 65535), np.float64(word >> 16 & 65535)
        c, d = np.float64(word >> 32 & 65535), np.float64(word >> 48 & 65535)
        near, far = a + tile[ABOVE + j] * (b - a), c + tile[ABOVE + j] * (d - c)
        h = LEAST + UNIT * (near + tile[BESIDE + j] * (far - near))
        tile[H + j] = 1.0 - h if tile[M1 + j] >= tile[M2 + j] else h


@compiled(fastmath=FUSED)
def search_alone(tile: Any) -> None:
    """`search`, called instead of inlined."""
    search(tile)


@cache
def placed() -> FloatArray:
    """h by the ratio of the smaller share to the larger one, from -1 to 1, and by k, from 0 to 1.

    The larger share is the second vector's; where both are equal, h is taken on its side. What
    stands at the corners of a cell is its word, 16 bits each, finer than the search's last bracket.
    """
    ratios, kernels = np.meshgrid(
        np.linspace(-1.0, 1.0, CELLS + 1), np.linspace(0.0, 1.0, CELLS + 1), indexing="ij"
    )
    # where vectors are the same all places are as good; what counts is where h tends to
    logarithms = np.log(np.clip(kernels, 1e-300, 1.0 - 1e-6)).ravel()
    found = aligned(-(-ratios.size // TILE) * TILE)
    tile = aligned(TILE_SIZE)
    for first in range(0, ratios.size, TILE):
        of_tile = ratios.ravel()[first : first + TILE]
        tile[LOG_KERNEL : LOG_KERNEL + len(of_tile)] = logarithms[first : first + TILE]
        tile[M1 : M1 + len(of_tile)] = of_tile
        tile[M2 : M2 + TILE] = 1.0
        search_alone(tile)
        found[first : first + TILE] = tile[H : H + TILE]
    places = found[: ratios.size].reshape(ratios.shape)
    # two equal bumps: the search may end on either
    places = np.where(ratios > 0.0, np.minimum(places, 1.0 - places), places)
    corner = np.round((places - LEAST) / UNIT).astype(np.int64)
    words = (
        corner[:-1, :-1]
        | corner[:-1, 1:] << 16
        | corner[1:, :-1] << 32
        | corner[1:, 1:] << 48
    )  # fmt: skip
    return words.ravel().view(np.float64)
