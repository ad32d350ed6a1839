"""A warning where one column decides the distances between rows alone, as unscaled columns do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np

from okbench.learners.rows import Block

UNEQUAL = 100.0  # ratio of a column's deviation to that of most columns
SAMPLE = 1000  # rows that are looked at


class ScaleWarning(UserWarning):
    """Columns of rows differ in scale by orders of magnitude."""


def warn_of_unequal_columns(block: Block, names: Sequence[str] | None) -> None:
    """Warn if a column of dense rows varies far more than most columns. Columns of sparse rows are
    zero so often that their deviations say little."""
    if block.is_sparse or not len(block):
        return
    with np.errstate(all="ignore"):
        deviations = block.dense[:: -(-len(block) // SAMPLE)].std(axis=0)
    varying = np.sort(deviations[deviations > 0.0])
    if not len(varying):
        return
    usual, column = varying[(len(varying) - 1) // 2], int(np.argmax(deviations))
    if deviations[column] > UNEQUAL * usual:
        name = repr(names[column]) if names else f"{column} (counted from 0)"
        warnings.warn(
            f"column {name} varies more than {UNEQUAL:.0f} times as much as most columns and "
            "decides the distances between rows alone; scale the columns, for example with "
            "scikit-learn's StandardScaler",
            ScaleWarning,
            stacklevel=_outside(),
        )


def _outside() -> int:
    """The level of the first caller that is not part of okbench, as `warnings.warn` counts."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in (
        "okbench",
        "contextlib",
    ):
        level, frame = level + 1, frame.f_back
    return level
