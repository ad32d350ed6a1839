"""Streams whose concept changes at known rows: abruptly, gradually, and back to an earlier one.

A concept is a smooth random function of two inputs: a sum of cosines whose frequencies are those of
Gaussian kernels of the widths that are stated. The concept after a change therefore needs a kernel
of another width. In classification the label is the sign of the function, and one label in twenty
is flipped; in regression the target is the function with noise, nearly always from 0 to 1.

A stretch of `LENGTH` rows has one concept. A gradual change takes the first `PASSAGE` rows of the
new stretch, in which the share of rows of the new concept grows linearly from none to all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LENGTH, PASSAGE = 3000, 1000  # rows
WIDTHS = ((3.2,), (0.32,), (1.0,), (3.2, 0.32))  # of the concepts, which follow one another
FLIPPED, NOISE = 0.05, 0.02
_COSINES = 200  # for every width
_SPREAD = 0.15  # standard deviation of a target without noise


class Function(NamedTuple):
    """A sum of cosines, less its median and over its deviation on the square [-1, 1]²."""

    frequencies: FloatArray  # inputs × cosines
    phases: FloatArray
    median: float = 0.0
    deviation: float = 1.0

    def __call__(self, X: FloatArray) -> FloatArray:
        # einsum adds up in the order of the inputs, whichever library multiplies matrices
        angles = np.einsum("ij,jk->ik", X, self.frequencies) + self.phases
        values: FloatArray = (np.cos(angles).sum(axis=1) - self.median) / self.deviation
        return values


@cache
def concept(number: int) -> Function:
    """One of the concepts, which are the same for every seed of a stream."""
    draws = np.random.default_rng([*b"concept", number])
    widths = np.repeat(WIDTHS[number], _COSINES)
    drawn = Function(
        draws.standard_normal((2, len(widths))) / widths,
        draws.uniform(0.0, 2.0 * np.pi, len(widths)),
    )
    side = np.linspace(-1.0, 1.0, 41)
    values = drawn(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2))
    return drawn._replace(median=float(np.median(values)), deviation=float(values.std()))


@dataclass(frozen=True)
class Course:
    """Which concept a row has: `concepts` follow one another without end, a stretch each, and the
    first `passage` rows of a stretch pass over from the one before."""

    concepts: tuple[int, ...]
    passage: int = 0

    def at(self, positions: NDArray[np.int64], uniforms: FloatArray) -> NDArray[np.int64]:
        """The number of the concept of every row; the uniforms decide while one passes over."""
        stretch, row = positions // LENGTH, positions % LENGTH
        if self.passage:
            stretch -= (stretch > 0) & (uniforms >= (row + 0.5) / self.passage)
        found: NDArray[np.int64] = np.array(self.concepts)[stretch % len(self.concepts)]
        return found

    def changes(self, rows: int) -> tuple[tuple[int, int], ...]:
        """The true changes among so many rows: the first row of each, and the first row that has
        the new concept for certain. The two are equal where a change is abrupt."""
        return tuple((begin, begin + self.passage) for begin in range(LENGTH, rows, LENGTH))


ABRUPT = Course((0, 1, 2, 3))
GRADUAL = Course((0, 1, 2, 3), PASSAGE)
RECURRING = Course((0, 1))

Make = Callable[[np.random.Generator, NDArray[np.int64]], tuple[FloatArray, NDArray[Any]]]


def classes_of(course: Course) -> Make:
    """Labels by the sign of the concept."""

    def make(
        draws: np.random.Generator, positions: NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        X, values = _rows(course, draws, positions)
        flipped = draws.random(len(positions)) < FLIPPED
        return X, np.where((values >= 0.0) != flipped, 1, -1)

    return make


def targets_of(course: Course) -> Make:
    """Targets that are the concept with noise."""

    def make(
        draws: np.random.Generator, positions: NDArray[np.int64]
    ) -> tuple[FloatArray, NDArray[Any]]:
        X, values = _rows(course, draws, positions)
        noise = NOISE * draws.standard_normal(len(positions))
        return X, 0.5 + _SPREAD * values + noise

    return make


def _rows(
    course: Course, draws: np.random.Generator, positions: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Inputs, uniform on [-1, 1]², and the value of each row's concept there."""
    X = draws.uniform(-1.0, 1.0, (len(positions), 2))
    numbers = course.at(positions, draws.random(len(positions)))
    values = np.empty(len(positions))
    for number in dict.fromkeys(course.concepts):
        here = numbers == number
        values[here] = concept(number)(X[here])
    return X, values
