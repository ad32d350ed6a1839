"""L1 distances of rows and lanes: the emitted loops, their plain twins, and NumPy."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from okbench.learners.numeric import emitted_distances, plain_products
from okbench.learners.numeric.plain_products import GROUP, PACKED

WIDTHS = [1, 7, 8, 20, 104, 112, 8 * 17 + 3]


@numba.njit
def emitted_of_rows(values, columns, starts, stops, own, matrix, place, norms, width, out):
    for s in range(len(starts)):
        emitted_distances.distances(
            values, columns, starts[s], stops[s], own[s], matrix, place, norms, width, out, s
        )


@numba.njit
def plain_of_rows(values, columns, starts, stops, own, matrix, place, norms, width, out):
    for s in range(len(starts)):
        plain_products.distances(
            values, columns, starts[s], stops[s], own[s], matrix, place, norms, width, out, s
        )


@numba.njit
def emitted_of_full_rows(values, columns, starts, own, matrix, place, norms, width, out):
    emitted_distances.full_distances(
        values, columns, starts, 1, own, matrix, place, norms, width, out, 1
    )


@numba.njit
def emitted_of_bytes(held, lanes, width, out):
    emitted_distances.byte_distances(held, 0, lanes, width, out, 0)
    emitted_distances.group_byte_distances(held, 1, lanes, width, out, 1)


@numba.njit
def plain_of_bytes(held, lanes, width, out):
    plain_products.byte_distances(held, 0, lanes, width, out, 0)
    plain_products.group_byte_distances(held, 1, lanes, width, out, 1)


def numbers(shape, kind, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal(shape)
    if kind == "positive":
        return np.abs(drawn)
    if kind == "far apart":
        return drawn * 10.0 ** rng.integers(-300, 150, shape)
    return np.where(rng.random(shape) < 0.5, rng.choice([0.0, -0.0], shape), drawn)


def lanes_of(others):
    """The lanes that rows are: the matrix, the place of each column, and the norms."""
    n_columns, width = others.shape[1], len(others)
    place = np.random.default_rng(0).permutation(n_columns).astype(np.int32)
    matrix = np.empty((n_columns, width))
    matrix[place] = others.T
    return matrix, place, np.abs(others).sum(axis=1)


@pytest.mark.parametrize("kind", ["positive", "signs", "far apart"])
@pytest.mark.parametrize("width", WIDTHS)
def test_distances_are_those_of_the_plain_twins_and_of_numpy(width, kind):
    rows, others = numbers((GROUP + 1, 9), kind, 1), numbers((width, 9), kind, 2)
    columns = np.tile(np.arange(9, dtype=np.int32), len(rows))
    starts = 9 * np.arange(len(rows))
    own, lanes = np.abs(rows).sum(axis=1), lanes_of(others)
    emitted, plain, full = np.full((3, len(rows), width + 2), 7.0)
    given = rows.ravel(), columns, starts
    emitted_of_rows(*given, starts + 9, own, *lanes, width, emitted)
    plain_of_rows(*given, starts + 9, own, *lanes, width, plain)
    emitted_of_full_rows(*given, own, *lanes, width, full)
    assert emitted.tobytes() == plain.tobytes()
    assert emitted[1:].tobytes() == full[1:].tobytes()
    expected = np.abs(rows[:, np.newaxis] - others).sum(axis=2)
    error = 1e-14 * (own[:, np.newaxis] + lanes[2])
    assert (np.abs(emitted[:, :width] - expected) <= error).all()
    assert (emitted[:, width:] == 7.0).all()


def test_columns_that_a_row_lacks_are_zeros():
    rows, others = numbers((3, 9), "signs", 1), numbers((20, 9), "signs", 2)
    entries = [np.flatnonzero(row) for row in rows]
    stops = np.cumsum([len(found) for found in entries])
    values = np.concatenate([row[found] for row, found in zip(rows, entries, strict=True)])
    own, out = np.abs(rows).sum(axis=1), np.empty((3, 20))
    columns = np.concatenate(entries).astype(np.int32)
    starts = np.append(0, stops[:-1])
    emitted_of_rows(values, columns, starts, stops, own, *lanes_of(others), 20, out)
    expected = np.abs(rows[:, np.newaxis] - others).sum(axis=2)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("n_columns", [PACKED, 3 * PACKED, 4096])
@pytest.mark.parametrize("width", [1, 8, 104])
def test_distances_of_bytes_are_exact(width, n_columns):
    rng = np.random.default_rng(width)
    held, lanes = (
        rng.choice([0, 1, 254, 255], (count, n_columns)).astype(np.uint8)
        for count in (GROUP + 1, width)
    )
    held[0], lanes[0] = 255, 0
    emitted, plain = np.full((2, GROUP + 1, width + 2), 7.0)
    emitted_of_bytes(held, lanes, width, emitted)
    plain_of_bytes(held, lanes, width, plain)
    expected = np.abs(held[:, np.newaxis].astype(int) - lanes).sum(axis=2)
    np.testing.assert_array_equal(emitted[:, :width], expected)
    np.testing.assert_array_equal(emitted, plain)
    assert (emitted[:, width:] == 7.0).all()
