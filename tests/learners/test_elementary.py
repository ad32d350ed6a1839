from __future__ import annotations

import numpy as np
import pytest

from okbench.learners.numeric.elementary import (
    SINCOS_REACH,
    exp,
    exp_sweep,
    sincos,
    sincos_sweep,
)

RNG = np.random.default_rng(7)


def swept_exp(x):
    values = np.array(x, dtype=np.float64)
    exp_sweep(values, 0, len(values))
    return values


def swept_sincos(x):
    angles = np.array(x, dtype=np.float64)
    sines, cosines = np.empty_like(angles), np.empty_like(angles)
    sincos_sweep(angles, sines, cosines, 0, len(angles))
    return sines, cosines


@pytest.mark.parametrize("reach", [1e-9, 0.34, 1.0, 50.0, 707.0])
def test_exp_is_within_a_few_units_of_the_last_place(reach):
    x = RNG.uniform(-reach, reach, 40_000)
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.max(np.abs(swept_exp(x) / exact - 1))) < 1e-15


def test_exp_at_its_ends():
    x = [0.0, -0.0, -1e300, -np.inf, -709.0, np.inf, 1e300, 710.0]
    assert swept_exp(x).tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, np.inf, np.inf, np.inf]
    near_the_top = np.array([709.5, 709.78])
    np.testing.assert_allclose(swept_exp(near_the_top), np.exp(near_the_top), rtol=1e-14)
    near_the_bottom = np.array([-707.99, -708.0])
    np.testing.assert_allclose(swept_exp(near_the_bottom), np.exp(near_the_bottom), rtol=1e-14)


@pytest.mark.parametrize("reach", [1e-9, 0.8, 10.0, 1e3, SINCOS_REACH])
def test_sincos_is_exact_to_1e_15_within_its_reach(reach):
    x = RNG.uniform(-reach, reach, 40_000)
    sines, cosines = swept_sincos(x)
    wide = x.astype(np.longdouble)
    assert float(np.max(np.abs(sines - np.sin(wide)))) < 1e-15
    assert float(np.max(np.abs(cosines - np.cos(wide)))) < 1e-15


def test_sincos_is_exact_beside_multiples_of_half_pi():
    turns = RNG.integers(-600_000, 600_000, 20_000) * (np.pi / 2)
    x = np.concatenate([turns, np.nextafter(turns, np.inf), np.nextafter(turns, -np.inf)])
    sines, cosines = swept_sincos(x)
    assert float(np.max(np.abs(sines - np.sin(x.astype(np.longdouble))))) < 1e-15
    assert float(np.max(np.abs(cosines - np.cos(x.astype(np.longdouble))))) < 1e-15


def test_sincos_beyond_its_reach_is_the_systems():
    x = np.array([0.5, SINCOS_REACH * 1.01, -1e9, 1e22])
    sines, cosines = swept_sincos(x)
    np.testing.assert_allclose(sines, np.sin(x), atol=1e-15, rtol=0)
    np.testing.assert_allclose(cosines, np.cos(x), atol=1e-15, rtol=0)


def test_nan_stays_nan_and_leaves_its_neighbours_alone():
    x = np.array([1.0, np.nan, 2.0, -np.nan, 3.0] * 9)
    hurt = np.isnan(x)
    sines, cosines = swept_sincos(x)
    for values, exact in [(swept_exp(x), np.exp(x)), (sines, np.sin(x)), (cosines, np.cos(x))]:
        assert (np.isnan(values) == hurt).all()
        np.testing.assert_allclose(values[~hurt], exact[~hurt], rtol=1e-14)


def test_an_infinite_angle_has_no_sine():
    sines, cosines = swept_sincos([np.inf, -np.inf, 0.0])
    assert np.isnan(sines[:2]).all()
    assert np.isnan(cosines[:2]).all()
    assert (sines[2], cosines[2]) == (0.0, 1.0)


def test_sweeps_touch_only_their_stretch():
    values = np.full(20, 2.0)
    exp_sweep(values, 5, 9)
    assert (np.delete(values, range(5, 9)) == 2.0).all()
    assert (values[5:9] == exp(2.0)).all()


def test_scalar_and_sweep_agree_bit_for_bit():
    x = RNG.uniform(-40, 40, 33)
    assert swept_exp(x).tolist() == [exp(value) for value in x]
    sines, cosines = swept_sincos(x)
    assert list(zip(sines.tolist(), cosines.tolist(), strict=True)) == [sincos(v) for v in x]
