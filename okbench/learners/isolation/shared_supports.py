"""Learners with the Laplacian kernel that learn the same rows, one learner after the other.

Those that differ in psi have the distances of rows and supports in common. A block is learned for
all of them when the first is given it, in one walk over the rows that one of them keeps; what the
others make of it is kept until they are given it in their turn. Their supports are kept once, with
a coefficient for each of them. Every learner has the scores and supports that it has alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.isolation.laplacian_kernel import Points, is_in_bytes
from okbench.learners.isolation.laplacian_model import (
    LaplacianModel,
    LaplacianWalker,
    fill_scores,
)
from okbench.learners.kernel import BLOCK
from okbench.learners.numeric.rules.laplacian import NOT_KEPT, Laplacian, copy_supports
from okbench.learners.rows import Block, digest_of

MOST_BYTES = 2**30  # of scores that are kept for the other learners


class Learned(NamedTuple):
    """What all learners have made of a block."""

    rows: bytes  # what stands for its rows and targets
    scores: FloatArray  # learners × rows × columns
    sizes: NDArray[np.int64]  # supports of each learner after it
    size: int  # and of all of them


class Member:
    """One of the learners that learn together, which has learned a number of blocks so far."""

    def __init__(self, together: LearnedTogether, number: int) -> None:
        self._together, self._number = together, number
        self._n_blocks = 0

    def begun(self, problem: Problem, rule: Laplacian) -> Member | None:
        """The same learner at its beginning; None if it does not begin as it was to begin."""
        is_same = self._together.has(self._number, problem, rule)
        return Member(self._together, self._number) if is_same else None

    @property
    def size(self) -> int:
        """How many supports it has."""
        return self._together.size_of(self._number, self._n_blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of its model, without room for more supports."""
        return self._together.nbytes_of(self._number, self._n_blocks)

    @property
    def model(self) -> LaplacianModel:
        """Its model, in arrays of its own."""
        return self._together.model_of(self._number, self._n_blocks)

    def learned(self, block: Block, targets: FloatArray) -> FloatArray | None:
        """The scores of its next block, which is learned then; None if it must be learned alone."""
        scores = self._together.learned(self._number, self._n_blocks, block, targets)
        self._n_blocks += scores is not None
        return scores

    def scores(self, block: Block) -> FloatArray | None:
        """The scores of rows; None if they must be computed alone."""
        return self._together.scores(self._number, self._n_blocks, block)


class LearnedTogether(LaplacianWalker):
    """Learners that differ in psi, by number, each after a number of blocks."""

    def __init__(self, problem: Problem, rules: Sequence[Laplacian]) -> None:
        self._problem, self._rules = problem, tuple(rules)
        rates = np.concatenate([rule.rates for rule in rules])
        self._set_out(problem, rules[0]._replace(rates=rates))
        self._blocks: list[Learned] = []
        self._answers: dict[tuple[int, bytes], FloatArray] = {}
        self._n_rows = self._held = 0

    def has(self, number: int, problem: Problem, rule: Laplacian) -> bool:
        """Whether the learner of this number faces the problem that it was to face."""
        own = self._rules[number]
        same = rule.rates[0] == own.rates[0] and rule[1:] == own[1:]
        return bool(same and problem == self._problem)

    def learned(
        self, number: int, n_blocks: int, block: Block, targets: FloatArray
    ) -> FloatArray | None:
        """The scores of a learner for the block after so many; None if it learns that alone."""
        rows = _content_of(block, targets)
        if n_blocks == len(self._blocks) and self._held < MOST_BYTES:
            self._learn(rows, block, targets)
        if n_blocks == len(self._blocks) or self._blocks[n_blocks].rows != rows:
            return None
        return self._blocks[n_blocks].scores[number].copy()

    def scores(self, number: int, n_blocks: int, block: Block) -> FloatArray | None:
        """The scores of a learner for rows; None if it computes them alone."""
        asked = n_blocks, _content_of(block)
        is_here = n_blocks == len(self._blocks) and self._held < MOST_BYTES
        if asked not in self._answers and is_here:
            found = np.empty((len(self._rules), len(block), self._problem.n_columns))
            fill_scores(self._model, self._rule, Points.of(block), found)
            self._answers[asked] = found
            self._held += found.nbytes
        return self._answers[asked][number].copy() if asked in self._answers else None

    def size_of(self, number: int, n_blocks: int) -> int:
        """How many supports a learner has."""
        return int(self._blocks[n_blocks - 1].sizes[number]) if n_blocks else 0

    def nbytes_of(self, number: int, n_blocks: int) -> int:
        """Bytes of the model of a learner."""
        (supports, pixels), _ = self._model
        own, entries = self._own(number, n_blocks), supports.entries
        n_values = int((entries.stops[own] - entries.starts[own]).sum())
        lines = *entries[2:], *(array[:, :1] for array in supports[1:4]), supports.rows, pixels
        of_values = entries.values.itemsize + entries.columns.itemsize
        return n_values * of_values + sum(line[:1].nbytes * len(own) for line in lines)

    def model_of(self, number: int, n_blocks: int) -> LaplacianModel:
        """The model of a learner, in arrays of its own."""
        (supports, pixels), _ = self._model
        own = self._own(number, n_blocks)
        points = Points(supports.entries, self._problem.n_features, len(pixels) > 0).of_rows(own)
        model = LaplacianModel.empty(self._problem.n_features)
        if len(own):
            model = model.with_room_for(points, 0, len(own))
        copied, of_bytes = model.kept
        copy_supports(supports, number, own, copied)
        if points.in_bytes:
            of_bytes[: len(own)] = pixels[own]
        return model._replace(size=len(own))

    def _own(self, number: int, n_blocks: int) -> NDArray[np.int64]:
        """The places of the supports of a learner among those of all."""
        size = self._blocks[n_blocks - 1].size if n_blocks else 0
        return np.flatnonzero(self._model.kept.supports.plus[:size, number] != NOT_KEPT)

    def _learn(self, rows: bytes, block: Block, targets: FloatArray) -> None:
        """Have all learners learn a block."""
        before = self._model.size
        try:
            scores = self._walked(block, targets)
        except BaseException:  # a block that was not learned to its end
            self._model = self._model._replace(size=before)
            raise
        joined = self._model.kept.supports.plus[before : self._model.size] != NOT_KEPT
        sizes = joined.sum(axis=0) + (self._blocks[-1].sizes if self._blocks else 0)
        self._blocks.append(Learned(rows, scores, sizes, self._model.size))
        self._n_rows += len(block)
        self._held += scores.nbytes

    def _walked(self, block: Block, targets: FloatArray) -> FloatArray:
        """Walk through a block: the scores."""
        scores = np.empty((len(self._rules), len(block), self._problem.n_columns))
        # Sparse rows are taken whole: cutting them costs, reading them does not.
        size = max(1, len(block)) if block.is_sparse else BLOCK
        for first in range(0, len(block), size):
            part = slice(first, first + size)
            own = np.empty_like(scores[:, part])
            self._walk(Points.of(block[part]), targets[part], own, self._n_rows + first)
            scores[:, part] = own
        return scores


def _content_of(block: Block, *more: FloatArray) -> bytes:
    """What stands for rows: less is to be read of them where they are bytes."""
    if not block.is_sparse and is_in_bytes(block):
        block = Block(block.dense.astype(np.uint8))
    return digest_of(block, *more)
