"""How the rows of a stage are cut into the blocks that are handed over one call at a time.

Blocks hold 256 rows, then 512, 1024, 2048, and 4096 from there on; each ends early where the curve
has a point. The sizes go on growing from one stage of a trial to the next. So where a block ends
follows from numbers of rows alone, and a learner meets the same blocks on every machine. Limits
are looked at between blocks, however long a block takes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from okbench.base.shared_types import Task

FIRST, MOST = 256, 4096  # rows of a block
MOST_POINTS = 1000  # of a curve whose points are a number of rows apart
_POINTS = {"binary": 15, "multiclass": 10, "regression": 20}  # of a curve (Lu et al. 2016)

Span = tuple[int, int]  # first row, row after the last


def ticks(count: int, task: Task, together: int = 1) -> range:
    """The rows after which a curve has a point: every count/15, /10 or /20, rounded half up, of so
    many rows as stay `together`."""
    apart = together * max(1, int(count / together / _POINTS[task] + 0.5))
    return range(apart, count + 1, apart)


def spaced(count: int, spacing: int) -> range:
    """The rows after which a curve has a point that has one after every so many rows; these
    are multiplied where a long stream would have more than `MOST_POINTS`."""
    apart = spacing * max(1, -(-count // (spacing * MOST_POINTS)))
    return range(apart, count + 1, apart)


def sizes(first: int = FIRST, most: int = MOST) -> Iterator[int]:
    """The sizes of the blocks of a trial, one after the other."""
    size = first
    while True:
        yield min(size, most)
        size = min(2 * size, most)


def growing(
    begin: int, end: int, stops: Sequence[int], rows: Iterator[int], together: int = 1
) -> Iterator[Span]:
    """Blocks of so many rows each, cut at every stop (counted from `begin`), and nowhere within
    rows that stay `together`."""
    at = begin
    while at < end:
        asked = next(rows)
        after = bisect_right(stops, at - begin)
        stop = begin + stops[after] if after < len(stops) else end
        upto = min(end, stop, at + max(together, asked - asked % together))
        yield at, upto
        at = upto


def fixed(begin: int, end: int, rows: int) -> Iterator[Span]:
    """Blocks of one size."""
    for at in range(begin, end, rows):
        yield at, min(at + rows, end)
