"""What papers prove of a metric, to be drawn beside what was measured."""

from __future__ import annotations

import math

from okbench.papers.table_types import Bound

NAMES: dict[Bound, str] = {"lemma-1": "bound of Lemma 1"}
WORDS: dict[Bound, str] = {"lemma-1": "Lemma 1 bounds the expected share by 2 exp(−D ε² / 2)"}
_ALL = 100.0  # no probability is higher


def lemma_1(components: float, tolerance: float) -> float:
    """P(|k̃ − k| ≥ ε) ≤ 2 exp(−D ε² / 2), in percent (Nguyen et al. 2017, Lemma 1)."""
    return min(_ALL, 2.0 * _ALL * math.exp(-components * tolerance**2 / 2.0))


def lemma_1_line(
    tolerance: float, first: float, last: float, floor: float
) -> tuple[tuple[float, float], ...]:
    """The bound from `first` to `last` components, as the corners of a line that is straight
    between them where percent are logarithmic; it ends where it comes down to the floor.
    """
    corner, end = (_reaches(percent, tolerance) for percent in (_ALL, floor))
    last = max(first, min(last, end))
    places = [first, *([corner] if first < corner < last else []), last]
    return tuple((at, lemma_1(at, tolerance)) for at in places)


def _reaches(percent: float, tolerance: float) -> float:
    """The components at which the bound has come down to so many percent."""
    if percent <= 0.0:
        return math.inf
    return 2.0 * math.log(2.0 * _ALL / percent) / tolerance**2
