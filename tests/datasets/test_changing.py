"""Streams whose concept changes: where, how, and that the concepts are what they are said to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from okbench.datasets import load
from okbench.datasets.changing import (
    ABRUPT,
    FLIPPED,
    GRADUAL,
    LENGTH,
    NOISE,
    PASSAGE,
    RECURRING,
    WIDTHS,
    concept,
)
from okbench.datasets.describe import describe
from okbench.datasets.embedded import STREAMS, stream_rows

NAMES = [name for name, stream in STREAMS.items() if stream.course]
UNIFORMS = np.random.default_rng(0).random(4 * LENGTH)


@pytest.mark.parametrize("name", NAMES)
def test_true_changes_are_part_of_the_description(name: str) -> None:
    rows = load(name)
    kind, _, form = name.partition("-")
    passage = PASSAGE if kind == "gradual" else 0
    assert rows.n_rows == 4 * LENGTH
    assert rows.changes == tuple((k * LENGTH, k * LENGTH + passage) for k in (1, 2, 3))
    assert describe(name)["changes"] == [list(change) for change in rows.changes]
    assert load(name, str(LENGTH)).changes == ()
    assert rows.task == ("binary" if form == "classes" else "regression")
    assert load("spirals").changes == ()


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_targets_are_those_of_the_concept(name: str) -> None:
    """Apart from rows that pass over, a label is flipped or a target off as often as is stated."""
    stream = STREAMS[name]
    assert stream.course
    X, y = stream_rows(name, 4 * LENGTH, seed=5)
    positions = np.arange(4 * LENGTH)
    numbers = stream.course.at(positions, np.zeros(len(X)))
    settled = (positions % LENGTH >= stream.course.passage) | (positions < LENGTH)
    for number in set(stream.course.concepts):
        here = settled & (numbers == number)
        values = concept(number)(X[here])
        if stream.task == "binary":
            wrong = np.mean(np.where(values >= 0, 1, -1) != y[here])
            assert wrong == pytest.approx(FLIPPED, abs=0.015)
            assert np.mean(y[here] > 0) == pytest.approx(0.5, abs=0.06)
        else:
            noise = y[here] - (0.5 + 0.15 * values)
            assert noise.std() == pytest.approx(NOISE, rel=0.05)
            assert abs(noise.mean()) < 0.002


@pytest.mark.parametrize(
    ("course", "expected"),
    [(ABRUPT, [0, 1, 2, 3]), (RECURRING, [0, 1, 0, 1]), (GRADUAL, [0, 1, 2, 3])],
)
def test_a_stretch_has_one_concept(course, expected) -> None:
    numbers = course.at(np.arange(4 * LENGTH), UNIFORMS)
    passed = [set(part[course.passage :].tolist()) for part in numbers.reshape(4, LENGTH)]
    assert passed == [{number} for number in expected]


def test_an_abrupt_change_is_at_its_row() -> None:
    numbers = replace(GRADUAL, passage=0).at(np.arange(4 * LENGTH), UNIFORMS)
    assert np.flatnonzero(np.diff(numbers)).tolist() == [k * LENGTH - 1 for k in (1, 2, 3)]


def test_the_share_of_the_new_concept_grows_linearly() -> None:
    positions = np.tile(np.arange(LENGTH, LENGTH + PASSAGE), 200)
    uniforms = np.random.default_rng(1).random(len(positions))
    new = GRADUAL.at(positions, uniforms).reshape(200, PASSAGE) == 1
    tenths = new.reshape(200, 10, -1).mean(axis=(0, 2))
    np.testing.assert_allclose(tenths, np.arange(0.05, 1.0, 0.1), atol=0.01)
    assert not np.any(GRADUAL.at(np.arange(PASSAGE), UNIFORMS[:PASSAGE]))


@pytest.mark.parametrize("number", range(len(WIDTHS)))
def test_a_concept_varies_over_its_width(number: int) -> None:
    """The correlation at a small distance r is exp(-r² / (2 w²)), seen in the squared slope, whose
    mean is 1 / w² a direction before the deviation is divided out. A wide concept is cut off by the
    square, so that its deviation there is smaller and its slope, per deviation, larger."""
    function = concept(number)
    X = np.random.default_rng(2).uniform(-1.0, 1.0, (4000, 2))
    values, step = function(X), 1e-4
    slope = np.mean(((function(X + np.array([step, 0.0])) - values) / step) ** 2)
    roughest = 1.0 / min(WIDTHS[number])
    assert abs(np.median(values)) < 0.1
    assert 0.6 < values.std() < 1.4
    assert 0.2 * roughest**2 < slope < 20.0 * max(1.0, roughest**2)


def test_concepts_are_the_same_for_every_seed_and_rows_are_not() -> None:
    X, y = stream_rows("abrupt-targets", 50, seed=0)
    Z, z = stream_rows("abrupt-targets", 50, seed=1)
    assert not np.array_equal(X, Z)
    for rows, targets in ((X, y), (Z, z)):
        assert np.abs(targets - 0.5 - 0.15 * concept(0)(rows)).max() < 6 * NOISE
