from __future__ import annotations

import numpy as np
import pytest

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import LIFT
from okbench.learners.numeric.kernels import Gaussian, gaussian
from okbench.learners.numeric.vector_products import products

RNG = np.random.default_rng(3)


@compiled()
def inner_products(values, columns, matrix, place, width, out):
    products(values, columns, 0, len(values), matrix, place, width, out, 0)


@pytest.mark.parametrize("reach", [1e-9, 1.0, 700.0])
def test_the_kernel_is_within_rounding_of_its_exponent(reach):
    distances = RNG.uniform(0.0, reach, 5_000)
    found = np.array([gaussian(Gaussian(-1.0), d, 0.0, 0.0) for d in distances]) / LIFT
    exact = np.exp(-distances.astype(np.longdouble))
    assert float(np.max(np.abs(found / exact - 1))) < 1e-15 + 3e-16 * reach


def test_the_kernel_at_its_ends():
    far = [gaussian(Gaussian(-1.0), d, 0.0, 0.0) for d in (0.0, 744.0, 750.0, 1e300, np.inf)]
    assert far[0] == LIFT
    assert far[1] / LIFT == pytest.approx(np.exp(-744.0), abs=5e-324)
    assert far[2:] == [0.0, 0.0, 0.0]
    assert gaussian(Gaussian(-1.0), -1e300, 0.0, 0.0) == np.inf
    assert np.isnan(gaussian(Gaussian(-1.0), np.nan, 0.0, 0.0))


@pytest.mark.parametrize("width", [0, 1, 7, 8, 31, 32, 104, 105, 250])
@pytest.mark.parametrize("n_entries", [0, 1, 5])
def test_inner_products_for_any_number_of_lanes(width, n_entries):
    matrix, place = RNG.random((9, 250)), RNG.permutation(9).astype(np.int32)
    columns = RNG.permutation(9)[:n_entries].astype(np.int32)
    values, out = RNG.random(n_entries), np.full((1, 250), 7.0)
    inner_products(values, columns, matrix, place, width, out)
    np.testing.assert_allclose(out[0, :width], values @ matrix[place[columns], :width], rtol=1e-14)
    assert (out[0, width:] == 7.0).all()
