"""The innermost loops against NumPy and their plain twins, for every way that a width is cut up."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.numeric import emitted_products, plain_products, vector_products

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
def shrink_and_add(matrix, start, stop, keeps, gains, other, width):
    vector_products.shrink_and_add(matrix, start, stop, keeps, gains, other, 1, width)


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
def test_rows_that_shrink_and_move(width):
    _, _, matrix, other = numbers(width)
    keeps, gains = np.array([0.5, 2.0, 0.25]), np.array([1.5, 0.0, -3.0])
    expected = matrix.copy()
    expected[2:5] = keeps[:, None] * matrix[2:5] + gains[:, None] * other[1]
    shrink_and_add(matrix, 2, 5, keeps, gains, other, width)
    np.testing.assert_allclose(matrix, expected, rtol=1e-13, atol=1e-15)


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


@numba.njit
def emitted_sums(values, columns, start, stop, matrix, place, scales, width, out):
    emitted_products.products(values, columns, start, stop, matrix, place, width, out, 0)
    emitted_products.direct_products(values, columns, start, stop, matrix, width, out, 1)
    emitted_products.scaled_products(values, columns, start, stop, matrix, scales, width, out, 2)


@numba.njit
def plain_sums(values, columns, start, stop, matrix, place, scales, width, out):
    plain_products.products(values, columns, start, stop, matrix, place, width, out, 0)
    plain_products.direct_products(values, columns, start, stop, matrix, width, out, 1)
    plain_products.scaled_products(values, columns, start, stop, matrix, scales, width, out, 2)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("stop", [2, 3, 6])
def test_sums_over_entries_are_those_of_the_plain_twins_to_the_last_bit(width, stop):
    values, columns, matrix, _ = numbers(width)
    place = np.array([3, 9, 0, 9, 5, 1], dtype=np.int32)
    scales = np.random.default_rng(width).random(6)
    emitted, plain = np.full((2, 3, width + 2), 7.0)
    emitted_sums(values, columns, 2, stop, matrix, place, scales, width, emitted)
    plain_sums(values, columns, 2, stop, matrix, place, scales, width, plain)
    np.testing.assert_array_equal(emitted, plain)
    assert (emitted[:, width:] == 7.0).all()
    np.testing.assert_allclose(
        emitted[1, :width], values[2:stop] @ matrix[columns[2:stop]], rtol=1e-12, atol=1e-13
    )


@numba.njit
def emitted_product(rows, first, matrix, out):
    emitted_products.matrix_product(rows, first, matrix, out)


@numba.njit
def plain_product(rows, first, matrix, out):
    plain_products.matrix_product(rows, first, matrix, out)


@pytest.mark.parametrize("width", [*WIDTHS, 401])
@pytest.mark.parametrize("n_rows", [0, 1, 3, 4, 5, 13])
def test_a_product_of_matrices_is_that_of_its_rows_to_the_last_bit(width, n_rows):
    rng = np.random.default_rng(width)
    rows, matrix = rng.standard_normal((16, 23)), rng.standard_normal((23, width))
    emitted, plain = np.full((2, n_rows, width), np.nan)
    emitted_product(rows, 2, matrix, emitted)
    plain_product(rows, 2, matrix, plain)
    np.testing.assert_array_equal(emitted, plain)
    np.testing.assert_allclose(emitted, rows[2 : 2 + n_rows] @ matrix, rtol=1e-12, atol=1e-13)
    columns, singly = np.arange(23, dtype=np.int32), np.full((3, width), np.nan)
    place, scales = np.arange(23, dtype=np.int32), np.ones(23)
    for i in range(n_rows):
        emitted_sums(rows[2 + i], columns, 0, 23, matrix, place, scales, width, singly)
        np.testing.assert_array_equal(emitted[i], singly[1])


@numba.njit
def emitted_sparse(values, columns, starts, matrix, other, out, inner):
    emitted_products.sparse_product(values, columns, starts, matrix, out)
    emitted_products.inner_products(
        columns, starts[1], starts[2], matrix, other, 1, other.shape[1], inner
    )


@numba.njit
def plain_sparse(values, columns, starts, matrix, other, out, inner):
    plain_products.sparse_product(values, columns, starts, matrix, out)
    plain_products.inner_products(
        columns, starts[1], starts[2], matrix, other, 1, other.shape[1], inner
    )


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("width", [*WIDTHS, 16, 400, 545])
def test_products_of_sparse_rows_in_either_precision(kind, width):
    rng = np.random.default_rng(width)
    rows = sp.random_array((5, 9), density=0.5, format="csr", rng=rng, dtype=kind)
    entries = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    matrix = rng.standard_normal((9, width)).astype(kind)
    other = rng.standard_normal((2, width)).astype(kind)
    (emitted, plain), (inner, plain_inner) = np.empty((2, 5, width), kind), np.ones((2, 9), kind)
    emitted_sparse(*entries, matrix, other, emitted, inner)
    plain_sparse(*entries, matrix, other, plain, plain_inner)
    np.testing.assert_array_equal(emitted, plain)
    expected = rows.toarray().astype(float) @ matrix
    accuracy = 100 * np.finfo(kind).eps
    np.testing.assert_allclose(emitted, expected, rtol=0, atol=accuracy)
    second = entries[1][entries[2][1] : entries[2][2]]
    assert len(second) > 1
    wanted = np.ones(9)
    wanted[: len(second)] = matrix[second].astype(float) @ other[1]
    for found in (inner, plain_inner):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=accuracy * (1 + width))


@numba.njit
def both_slopes(residuals, weights, cosines, sines, emitted, plain):
    emitted_products.find_slopes(residuals, weights, cosines, sines, 1, emitted)
    plain_products.find_slopes(residuals, weights, cosines, sines, 1, plain)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("width", [1, 16, 48, 65])
def test_slopes_of_four_rows_in_either_precision(kind, n_classes, width):
    rng = np.random.default_rng(width)
    residuals = rng.standard_normal((4, n_classes)).astype(kind)
    weights = rng.standard_normal(2 * n_classes * width + 3).astype(kind)
    cosines, sines = rng.standard_normal((2, 4, width)).astype(kind)
    emitted, plain = np.full((2, 6, width), 7.0, kind)
    both_slopes(residuals, weights, cosines, sines, emitted, plain)
    by_class = weights[: 2 * n_classes * width].reshape(n_classes, 2, width)
    of_cosines, of_sines = (residuals @ by_class[:, part] for part in (0, 1))
    expected = of_sines * cosines - of_cosines * sines
    for found in (emitted, plain):
        np.testing.assert_allclose(found[1:5], expected, rtol=0, atol=100 * np.finfo(kind).eps)
        assert (found[[0, 5]] == 7.0).all()


@numba.njit
def emitted_inner(columns, matrix, other, width, out):
    emitted_products.inner_products(columns, 2, 6, matrix, other, 1, width, out)
    out[4] = emitted_products.inner_product(matrix, 4, other, 1, width)


@numba.njit
def plain_inner(columns, matrix, other, width, out):
    plain_products.inner_products(columns, 2, 6, matrix, other, 1, width, out)
    out[4] = plain_products.inner_product(matrix, 4, other, 1, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_inner_products_are_those_of_the_plain_twins_but_for_rounding(width):
    _, columns, matrix, other = numbers(width)
    emitted, plain = np.full((2, 5), np.nan)
    emitted_inner(columns, matrix, other, width, emitted)
    plain_inner(columns, matrix, other, width, plain)
    rows = np.append(columns[2:6], 4)
    bounds = width * np.finfo(float).eps * (np.abs(matrix[rows]) @ np.abs(other[1]))
    assert (np.abs(emitted - plain) <= bounds).all()


@numba.njit
def emitted_rest(matrix, width, items, place):
    emitted_products.put_last(items, place, 5)
    return emitted_products.reaches(matrix, 1, width, 1e6)


@numba.njit
def plain_rest(matrix, width, items, place):
    plain_products.put_last(items, place, 5)
    return plain_products.reaches(matrix, 1, width, 1e6)


@pytest.mark.parametrize("far", [0.0, -1e6, 1e6, 1e6 + 1e-9, -1e6 - 1e-9, np.inf, -1e300, np.nan])
def test_the_plain_twins_see_far_numbers_and_move_items_alike(far):
    for width in WIDTHS:
        for place in range(min(width, 5)):
            matrix = np.zeros((2, width))
            matrix[1, width - 1 - place] = far
            emitted, plain = np.arange(7), np.arange(7)
            found = emitted_rest(matrix, width, emitted, place)
            assert found == plain_rest(matrix, width, plain, place) == (abs(far) > 1e6)
            np.testing.assert_array_equal(emitted, plain)


SCORES = """
import sys
import numpy as np
from okbench.learners.contract import Draws
from okbench.learners.dualsgd import DualSGD
from okbench.learners.fogd import FOGD
from okbench.learners.isolation.laplacian import LaplacianOGD
from okbench.learners.rrf import RRF
from tests.learners.test_linear import stream

X, y, problem = stream("multiclass", filled=0.3)
learners = (
    FOGD(components=30, width=1.5),
    DualSGD(budget=20, components=30, handed_over=5),
    RRF(components=30),
    LaplacianOGD(),
)
np.save(sys.argv[1], [one.begin(problem, Draws(1)).learn_scores(X, y) for one in learners])
print(*(name for name in sys.modules if "products" in name and "okbench" in name))
"""


@pytest.mark.slow
def test_the_switch_gives_plain_twins_and_no_learner_shows_it(tmp_path):
    found = []
    for plain in ("0", "1"):
        path = tmp_path / f"{plain}.npy"
        done = subprocess.run(
            [sys.executable, "-c", SCORES, path],
            env={**os.environ, "OKBENCH_PLAIN_KERNELS": plain},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("emitted_products" in done.stdout) == (plain == "0")
        assert ("plain_products" in done.stdout) == (plain == "1")
        found.append(np.load(path))
    np.testing.assert_allclose(*found, rtol=0, atol=1e-11)
