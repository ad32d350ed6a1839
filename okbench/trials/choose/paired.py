"""When a learner is behind: a paired test on what the same blocks of rows cost two learners."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.01  # of stopping any learner that is as good as the best, over the whole race
BLOCKS = 20  # of equal size in a part

FloatArray = NDArray[np.float64]


def p_of_being_worse(costs: FloatArray, best: FloatArray) -> float:
    """The one-sided p value of the paired t-test that blocks cost more than they cost the best."""
    gaps = costs - best
    if len(gaps) < 2 or not np.isfinite(gaps).all():
        return 1.0
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    if error <= 1e-12 * abs(mean):  # every block says the same
        return 0.0 if mean > 0.0 else 1.0
    return float(stats.t.sf(mean / error, len(gaps) - 1))


def level_of(part: int, others: int) -> float:
    """What p must be below in this part of the race (counted from 1) for one of the others: the
    levels of all parts and learners sum to `LEVEL` (Bonferroni)."""
    return LEVEL / (max(1, others) * part * (part + 1))


def blocks_of(costs: FloatArray) -> FloatArray:
    """The mean cost of a row in each block of a part."""
    edges = np.linspace(0, len(costs), min(BLOCKS, len(costs)) + 1).astype(np.int64)
    sums = np.add.reduceat(costs, edges[:-1])
    means: FloatArray = sums / np.diff(edges)
    return means
