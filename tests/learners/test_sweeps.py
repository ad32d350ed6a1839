"""The sweeps written in LLVM's terms against NumPy, for every way that a width is cut up."""

import numba
import numpy as np
import pytest

from okbench.learners.compiled import vector_products

WIDTHS = [1, 7, 8, 20, 104, 112, 8 * 17 + 3, 240]


@numba.njit
def products(values, columns, start, stop, matrix, place, width, out):
    vector_products.products(values, columns, start, stop, matrix, place, width, out, 1)


@numba.njit
def scaled_products(values, columns, start, stop, matrix, scales, width, out):
    vector_products.scaled_products(values, columns, start, stop, matrix, scales, width, out, 1)


@numba.njit
def inner_products(columns, start, stop, matrix, other, width, out):
    vector_products.inner_products(columns, start, stop, matrix, other, 1, width, out)


@numba.njit
def inner_product(matrix, row, other, width):
    return vector_products.inner_product(matrix, row, other, 1, width)


@numba.njit
def reaches(matrix, width, limit):
    return vector_products.reaches(matrix, 1, width, limit)


@numba.njit
def put_last(items, place, size):
    vector_products.put_last(items, place, size)


def numbers(width):
    """A sparse row's values and columns, six rows to multiply it with, two more."""
    rng = np.random.default_rng(width)
    columns = np.array([9, 9, 4, 0, 2, 5, 9], dtype=np.int32)  # entries 2 to 6 are the row
    return rng.standard_normal(7), columns, rng.standard_normal((6, width)), rng.random((2, width))


@pytest.mark.parametrize("width", WIDTHS)
def test_products_of_a_row_and_lanes(width):
    values, columns, matrix, out = numbers(width)
    place = np.array([3, 9, 0, 9, 5, 1], dtype=np.int32)
    products(values, columns, 2, 6, matrix, place, width, out)
    np.testing.assert_allclose(out[1], values[2:6] @ matrix[place[columns[2:6]]], rtol=1e-13)


@pytest.mark.parametrize("width", WIDTHS)
def test_products_of_a_scaled_row_and_lanes(width):
    values, columns, matrix, out = numbers(width)
    scales = np.arange(1.0, 7.0)
    scaled_products(values, columns, 2, 6, matrix, scales, width, out)
    scaled = values[2:6] * scales[columns[2:6]]
    np.testing.assert_allclose(out[1], scaled @ matrix[columns[2:6]], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("width", WIDTHS)
def test_inner_products_of_rows_with_one_other(width):
    _, columns, matrix, other = numbers(width)
    out = np.full(5, np.nan)
    inner_products(columns, 2, 6, matrix, other, width, out)
    np.testing.assert_allclose(out[:4], matrix[columns[2:6]] @ other[1], rtol=1e-12, atol=1e-13)
    assert np.isnan(out[4])


@pytest.mark.parametrize("width", WIDTHS)
def test_the_inner_product_of_two_rows(width):
    _, _, matrix, other = numbers(width)
    found = inner_product(matrix, 4, other, width)
    assert found == pytest.approx(matrix[4] @ other[1], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_number_out_of_reach_is_seen_wherever_it_is(width):
    for far in (-1e6 - 1.0, 1e6 + 1.0, np.inf, 1e300):
        for place in range(width):
            matrix = np.full((2, width), 1e6)
            matrix[0] = far
            assert not reaches(matrix, width, 1e6)
            matrix[1, place] = far
            assert reaches(matrix, width, 1e6)
            assert not reaches(matrix, place, 1e6)


def test_what_is_no_number_is_within_reach():
    assert not reaches(np.full((2, 9), np.nan), 9, 1e6)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_an_item_goes_last_and_those_behind_it_move_up(kind):
    for size in range(1, 9):
        for place in range(size):
            items = np.arange(10, dtype=kind)
            put_last(items, place, size)
            left = [item for item in range(size) if item != place]
            assert items.tolist() == [*left, place, *range(size, 10)]
