"""What every walk over rows does before its own rule comes in: a row's kernel, scores and loss.

A walk is a compiled function of `rules`, named after its learner: it learns the rows of a stream in
order and says why it ended. Its rule is a NamedTuple with at least `budget`, `loss`, `epsilon` and
`sharpness`, which is -1 / (2 width²).

A walk takes the arrays it uses out of their tuples before its loop: in a branch within it, every
look into a tuple has all arrays of the tuple counted as held and released.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED, LIFT
from okbench.learners.compiled.lanes import Entries, aligned, dot, inlined, lifted_row, padded
from okbench.learners.compiled.losses import add_step, step
from okbench.learners.compiled.supports import Supports, fill
from okbench.learners.contract import FloatArray

# Why a walk ended.
FINISHED = 0
FULL = 1  # the budget is full, and the learner goes on in another way
CROWDED = 2  # the lanes need room for more columns
UNDRAWN = 3  # a removal needs a draw that was not recorded
CRAMPED = 4  # the slots need room for longer vectors


class RowStream(NamedTuple):
    """Rows to learn, with their targets, and the scores to fill in."""

    rows: Entries
    targets: FloatArray
    scores: FloatArray  # rows × columns
    position: int  # of row 0 among all rows ever learned


class Work(NamedTuple):
    """The current row and all lanes, 1 × lanes each: every buffer has one scale only."""

    lifted: FloatArray  # LIFT × its kernel, which its scores are made of
    kernel: FloatArray  # its kernel, once `find_kernel` was called
    other: FloatArray  # kernel of a support with the others, where a rule needs it

    @classmethod
    def of(cls, supports: Supports) -> Work:
        buffers = aligned(3, supports.coefficients.shape[1])
        return cls(buffers[:1], buffers[1:2], buffers[2:])


@inlined
def find_scores(
    rows: Entries, i: int, supports: Supports, size: int, sharpness: float, lifted: Any, scores: Any
) -> None:
    """Fill in the scores of row i."""
    width = padded(size + 1)  # joining before leaving, supports go round budget + 1 slots
    lifted_row(rows, i, supports.lanes, width, sharpness, lifted, 0)
    for column in range(len(supports.coefficients)):
        total = dot(supports.coefficients, column, lifted, 0, width)
        scores[i, column] = total / LIFT


@inlined
def meet(
    stream: RowStream, i: int, supports: Supports, size: int, rule: Any, work: Work
) -> tuple[float, int, int, float]:
    """Fill in the scores of row i, and what `losses.step` says to them."""
    find_scores(stream.rows, i, supports, size, rule.sharpness, work.lifted, stream.scores)
    return step(rule.loss, stream.scores, i, stream.targets[i], rule.epsilon)


@compiled(fastmath=FUSED)
def score_rows(
    rows: Entries, supports: Supports, size: int, sharpness: float, lifted: Any, scores: Any
) -> None:
    """The scores of rows; nothing is learned."""
    for i in range(len(scores)):
        find_scores(rows, i, supports, size, sharpness, lifted, scores)


@inlined
def find_kernel(lifted: Any, kernel: Any, size: int) -> None:
    """The kernel of the row that was met last."""
    for j in range(padded(size + 1)):
        kernel[0, j] = lifted[0, j] / LIFT


@inlined
def join(
    rows: Entries, i: int, position: int, supports: Supports, slot: int, plus: int, minus: int,
    change: float,
) -> None:  # fmt: skip
    """Put row i, met at `position`, into a clear slot and add to the slot's coefficients."""
    fill(supports, slot, rows, i, position)
    add_step(supports.coefficients, slot, plus, minus, change)
