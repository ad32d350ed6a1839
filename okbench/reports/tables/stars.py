"""Stars as a paper sets them: is the best learner of a dataset significantly better than the
runner-up?

The test is the paired t test over the repetitions, two-sided and not corrected, because that is
what papers print (docs/statistics.md says what it is worth). Against a learner that is run once,
because nothing random is in it, it is the test of one sample against a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from okbench.reports.statistics import paired_p
from okbench.reports.tables.cells import Cell, CellKey


@dataclass(frozen=True)
class Star:
    """The best of a dataset against its runner-up; of several equal runners-up, the one that is
    hardest to distinguish from the best. `p` is None where there are too few repetitions."""

    best: str
    runner_up: str
    p: float | None
    level: float

    @property
    def is_set(self) -> bool:
        return self.p is not None and self.p < self.level


def stars(
    cells: Mapping[CellKey, Cell], places: Mapping[CellKey, int], level: float
) -> dict[str, Star]:
    """The test of each dataset that has one best learner and a runner-up among its complete
    cells."""
    found: dict[str, Star] = {}
    for dataset in dict.fromkeys(key[0] for key in places):
        first, second = (
            [key for key, place in places.items() if key[0] == dataset and place == wanted]
            for wanted in (1, 2)
        )
        if len(first) != 1 or not second:
            continue
        tested = [(paired_p(*_values(cells[first[0]], cells[key])), key[1]) for key in second]
        hardest = max(tested, key=lambda one: 2.0 if one[0] is None else one[0])
        found[dataset] = Star(first[0][1], hardest[1], hardest[0], level)
    return found


def _values(best: Cell, rival: Cell) -> tuple[list[float], list[float]]:
    """The values of the repetitions that both have, or of one that is run once: its only value."""
    if 1 in (best.n, rival.n):
        return list(best.values), list(rival.values)
    shared = sorted(best.by_repetition.keys() & rival.by_repetition.keys())
    return [best.by_repetition[r] for r in shared], [rival.by_repetition[r] for r in shared]
