"""The walk over rows of every learner on a budget, and how a learner's own rule enters it.

A rule is a NamedTuple with at least `budget`, `loss`, `epsilon` and `formula`, and a function
that learns a row. The function is chosen by the type of the rule when the walk is compiled, and
becomes part of it:

    @learns_by(RBPRule)
    def learn_rbp(
        rule, memory, scratch, uniforms, n_removed, row, rows, scores, met, supports, size, work
    ):
        ...
        return size, True

It returns the size, or why the walk ends before this row, and whether the model has changed.
`memory` is what the rule has learned besides the supports, `scratch` what it computes in. `met` is
what `losses.step` says of the row, whose scores are there. `uniforms[n_removed:]` are the draws
that are left for removals. A rule that learns other rows than those with a loss says so: `when`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from okbench.base.jit import Function, compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, LIFT
from okbench.learners.numeric.lanes import Entries, aligned, dot, inlined, lifted_row, padded
from okbench.learners.numeric.losses import add_step, step
from okbench.learners.numeric.supports import Supports, fill

# Why a walk ended. All but the first are below 0, so that a rule can give them in place of a size.
FINISHED = 0
FULL = -1  # the budget is full, and the learner goes on in another way
NEEDS_COLUMNS = -2  # the lanes need room for more columns
OUT_OF_DRAWS = -3  # a removal needs a draw that was not recorded
NEEDS_ENTRIES = -4  # the slots need room for longer vectors

Row = tuple[int, float, int]  # its number in the call, its target, its position in the stream
Met = tuple[float, int, int, float]  # gain, plus, minus and margin, as `losses.step` gives them


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
    rows: Entries, i: int, supports: Supports, size: int, formula: Any, lifted: Any, scores: Any
) -> None:
    """Fill in the scores of row i."""
    width = padded(size + 1)  # joining before leaving, supports go round budget + 1 slots
    lifted_row(rows, i, supports.lanes, width, formula, lifted, 0)
    for column in range(len(supports.coefficients)):
        total = dot(supports.coefficients, column, lifted, 0, width)
        scores[i, column] = total / LIFT


@inlined
def meet(stream: RowStream, i: int, supports: Supports, size: int, rule: Any, work: Work) -> Met:
    """Fill in the scores of row i, and what `losses.step` says to them."""
    find_scores(stream.rows, i, supports, size, rule.formula, work.lifted, stream.scores)
    return step(rule.loss, stream.scores, i, stream.targets[i], rule.epsilon)


@compiled(fastmath=FUSED)
def score_rows(
    rows: Entries, supports: Supports, size: int, formula: Any, lifted: Any, scores: Any
) -> None:
    """The scores of rows; nothing is learned."""
    for i in range(len(scores)):
        find_scores(rows, i, supports, size, formula, lifted, scores)


@inlined
def find_kernel(lifted: Any, kernel: Any, size: int) -> None:
    """The kernel of the row that was met last."""
    for j in range(padded(size + 1)):
        kernel[0, j] = lifted[0, j] / LIFT


@inlined
def join(
    row: Row, rows: Entries, supports: Supports, slot: int, plus: int, minus: int, change: float
) -> None:
    """Put a row into a clear slot and add to the slot's coefficients."""
    fill(supports, slot, rows, row[0], row[2])
    add_step(supports.coefficients, slot, plus, minus, change)


_RULES: dict[type, tuple[Any, Any]] = {}  # type of a rule → (when it learns a row, how)


def has_loss(rule: Any, met: Any, size: Any) -> Any:
    """Whether a row has a loss, which is when most rules learn it."""
    return met[0] != 0.0


def learns_by(cls: type, when: Callable[..., Any] = has_loss) -> Callable[[Function], Function]:
    """Have rows be learned by this function where the rule is of this class, if `when` says so."""

    def announce(function: Function) -> Function:
        _RULES[cls] = when, function
        return function

    return announce


is_learned: Any = has_loss  # of the rule: `learn_slots` puts both in
learn_row: Any = None


def _learn_slots(
    stream: RowStream, first: int, supports: Supports, size: int, rule: Any, memory: Any,
    scratch: Any, uniforms: Any, work: Work,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Learn rows from `first` on: (why it ended, rows learned up to, size, updates, removals)."""
    rows, targets, scores, position = stream
    updates = joined = 0
    for i in range(first, len(targets)):
        met = meet(stream, i, supports, size, rule, work)
        if not is_learned(rule, met, size):
            continue
        after, changed = learn_row(
            rule,
            memory,
            scratch,
            uniforms,
            updates - joined,
            (i, targets[i], position + i),
            rows,
            scores,
            met,
            supports,
            size,
            work,
        )
        if after < 0:
            return after, i, size, updates, updates - joined
        joined += after - size
        updates += changed
        size = after
    return FINISHED, len(targets), size, updates, updates - joined


@cache
def learn_slots(rule: type) -> Any:
    """The walk by rules of this class. It has the functions of the rule in it, and is kept in the
    cache of the package that the rule is in, so that it is compiled again when the rule changes."""
    when, learn = _RULES[rule]
    names = {**globals(), "is_learned": inlined(when), "learn_row": inlined(learn)}
    walk = FunctionType(_learn_slots.__code__, names, _learn_slots.__name__)
    return compiled(fastmath=FUSED, beside=rule, makes_arrays=False)(walk)
