"""exp, sin and cos as straight-line polynomials, so that compiled loops over them are vectorised.

The system's own functions are calls, and a call in a loop keeps LLVM from using wide registers.
`exp` and `sincos` are inlined into the loops that use them; the sweeps are the usual such loops.

exp: within 1e-15 relative on [-708, 709.78], exactly 0 below -708 (subnormal results are not worth
their price) and infinite above. sincos: within 1e-15 absolute for |x| <= SINCOS_REACH; beyond it
`sincos` alone means nothing, and the sweep takes the system's functions. NaN stays NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from okbench.base.jit import compiled

# Fused multiply-adds only: any other licence would undo the range reductions or lose the NaNs.
FUSED = frozenset({"contract"})

# Adding it to a double of moderate size rounds that to an integer, kept in the lowest bits.
_ROUNDER = 1.5 * 2.0**52
ONE_OVER_LN2 = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471805598903, 5.497923018708371e-14  # 42 bits, and the rest
_EXP_LOWEST, _EXP_HIGHEST = -708.0, 710.0

LIFT = 2.0**64
_EXP2_LOWEST, _EXP2_HIGHEST = -1075.0, 960.0  # beyond them 2 to the x is 0, or LIFT times it inf
_EXPONENT_OF_LIFT = 1023 + 64  # as the bits of a double have it

SINCOS_REACH = 1.0e6  # the quadrant number times a 33-bit part of pi/2 stays exact
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI_HIGH = 1.5707963267341256  # 33 bits,
_HALF_PI_MIDDLE = 6.077100506303966e-11  # 33 more,
_HALF_PI_LOW = 2.0222662487959506e-21  # and the rest


@compiled(fastmath=FUSED)
def exp(x: float) -> float:
    """e to the x: x = n ln 2 + r, a minimax polynomial in r, n placed in the exponent's bits."""
    bounded = _EXP_HIGHEST if x > _EXP_HIGHEST else x
    shifted = bounded * ONE_OVER_LN2 + _ROUNDER
    n = shifted - _ROUNDER
    r = (bounded - n * _LN2_HIGH) - n * _LN2_LOW
    p = 2.7476784130918446e-07
    p = p * r + 2.7635006226748903e-06
    p = p * r + 2.4801931846090832e-05
    p = p * r + 0.00019841185202598496
    p = p * r + 0.00138888885160132
    p = p * r + 0.008333333370892454
    p = p * r + 0.04166666666813762
    p = p * r + 0.16666666666611513
    p = p * r + 0.49999999999998324
    p = (p * r + 1.0) * r + 1.0
    # Twice p times 2^(n-1): 2^n itself is no double when the result is among the largest.
    scale = np.int64((np.float64(shifted).view(np.int64) + 1022) << 52).view(np.float64)
    return 0.0 if x < _EXP_LOWEST else (p + p) * scale


@compiled(fastmath=FUSED)
def lifted_exp2(x: float) -> float:
    """LIFT times 2 to the x, in half as many steps that wait for each other as `exp` takes.

    x = n + r, a minimax polynomial in r, n placed in the exponent's bits: within 1e-15 but for the
    rounding of x. Lifted so that results as small as the least subnormal numbers are normal ones.
    """
    bounded = _EXP2_HIGHEST if x > _EXP2_HIGHEST else x
    shifted = bounded + _ROUNDER
    r = bounded - (shifted - _ROUNDER)
    s = r * r
    a = 0.6931471805599516 + 0.24022650695910472 * r
    b = 0.0555041086643466 + 0.009618129107380767 * r
    c = 0.0013333558246477722 + 0.0001540353080075113 * r
    d = 1.5252647749349885e-05 + 1.3215235667023535e-06 * r
    e = 1.021050615927683e-07 + 7.111753419526837e-09 * r
    p = ((a + b * s) + ((c + d * s) + e * (s * s)) * (s * s)) * r + 1.0
    bits = (np.float64(shifted).view(np.int64) + _EXPONENT_OF_LIFT) << 52
    return 0.0 if x < _EXP2_LOWEST else p * np.int64(bits).view(np.float64)


@compiled(fastmath=FUSED)
def sincos(x: float) -> tuple[float, float]:
    """(sin x, cos x) for |x| <= SINCOS_REACH: x = n pi/2 + r, then the quadrant n mod 4."""
    shifted = x * _TWO_OVER_PI + _ROUNDER
    quadrant = np.float64(shifted).view(np.int64)
    n = shifted - _ROUNDER
    r = ((x - n * _HALF_PI_HIGH) - n * _HALF_PI_MIDDLE) - n * _HALF_PI_LOW
    z = r * r
    s = 1.5888551993623513e-10
    s = s * z - 2.505059963688994e-08
    s = s * z + 2.7557312540773377e-06
    s = s * z - 0.00019841269825921864
    s = s * z + 0.008333333333316465
    s = s * z - 0.166666666666666
    s = s * (z * r) + r
    c = 2.064769252695758e-09
    c = c * z - 2.7555566436317793e-07
    c = c * z + 2.4801580967906048e-05
    c = c * z - 0.0013888888878265916
    c = c * z + 0.041666666666602195
    c = (c * z) * z + (1.0 - 0.5 * z)
    odd = (quadrant & 1) != 0
    sine = np.float64(c if odd else s).view(np.int64) ^ ((quadrant & 2) << 62)
    cosine = np.float64(s if odd else c).view(np.int64) ^ (((quadrant + 1) & 2) << 62)
    return np.int64(sine).view(np.float64), np.int64(cosine).view(np.float64)


@compiled(fastmath=FUSED)
def exp_sweep(values: Any, start: int, stop: int) -> None:
    """values[start:stop] become their exponentials, in place."""
    for i in range(start, stop):
        values[i] = exp(values[i])


@compiled(fastmath=FUSED)
def sincos_sweep(angles: Any, sines: Any, cosines: Any, start: int, stop: int) -> None:
    """Sines and cosines of angles[start:stop], each into its own array, which may be `angles`."""
    far = 0
    for i in range(start, stop):
        far += abs(angles[i]) > SINCOS_REACH
    if far:
        for i in range(start, stop):
            angle = angles[i]
            sines[i], cosines[i] = math.sin(angle), math.cos(angle)
        return
    for i in range(start, stop):
        sines[i], cosines[i] = sincos(angles[i])
