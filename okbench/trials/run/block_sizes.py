"""How the rows of a pass are cut into the blocks that are handed over one call at a time."""

from __future__ import annotations

from collections.abc import Iterator

from okbench.base.shared_types import Task

_POINTS = {"binary": 15, "multiclass": 10, "regression": 20}  # of a curve (Lu et al. 2016)

Span = tuple[int, int]  # first row, row after the last


def ticks(count: int, task: Task, together: int = 1) -> range:
    """The rows after which a curve has a point: every count/15, /10 or /20, rounded half up, of so
    many rows as stay `together`."""
    apart = together * max(1, int(count / together / _POINTS[task] + 0.5))
    return range(apart, count + 1, apart)


class BlockSizer:
    """How many rows go over at once: more while that is quick, about a second's worth when it is
    not, so that limits are looked at in time. A quick learner meets the same blocks every time.
    """

    FIRST, MOST, SECONDS = 256, 4096, 1.0

    def __init__(self) -> None:
        self.rows = self.FIRST

    def took(self, rows: int, seconds: float) -> None:
        """A block of that many rows took that long."""
        affordable = int(self.SECONDS * rows / seconds) if seconds > 0 else self.MOST
        self.rows = max(1, min(self.MOST, 2 * self.rows, affordable))


def paced(
    begin: int, end: int, stops: range, sizer: BlockSizer, together: int = 1
) -> Iterator[Span]:
    """Blocks of the size that `sizer` gives, cut at every stop (counted from `begin`), and nowhere
    within rows that stay `together`."""
    at = begin
    while at < end:
        to_stop = stops.step - (at - begin) % stops.step
        size = max(together, sizer.rows - sizer.rows % together)
        upto = min(end, at + size, at + to_stop)
        yield at, upto
        at = upto


def fixed(begin: int, end: int, rows: int) -> Iterator[Span]:
    """Blocks of one size: in the block-stream protocol it is part of the result."""
    for at in range(begin, end, rows):
        yield at, min(at + rows, end)
