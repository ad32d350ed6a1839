"""Sines and cosines of a line of angles, in the precision of the line.

In doubles they are those of `elementary`. In single precision the steps are the same with shorter
polynomials: within 1.2e-7 absolute for |x| <= SINGLE_REACH. Beyond its reach a line takes the
system's functions. NaN stays NaN.

Every number and mask is 32 bits wide, because one that is wider would keep LLVM from using whole
registers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED, SINCOS_REACH, sincos
from okbench.learners.numeric.lanes import REASSOCIATED

SINGLE_REACH = 8192.0  # the quadrant number times each of the first two parts of pi/2 stays exact
_SINGLE, _WORD = np.float32, np.int32
_ROUNDER = _SINGLE(1.5 * 2.0**23)
_TWO_OVER_PI = _SINGLE(0.6366197723675814)
_HALF_PI_HIGH = _SINGLE(1.5703125)
_HALF_PI_MIDDLE = _SINGLE(4.83751296997e-04)
_HALF_PI_LOW = _SINGLE(7.54978995489e-08)
_S3, _S5, _S7 = _SINGLE(-1.6666654611e-1), _SINGLE(8.3321608736e-3), _SINGLE(-1.9515295891e-4)
_C4, _C6, _C8 = _SINGLE(4.1666645683e-2), _SINGLE(-1.3887316255e-3), _SINGLE(2.4433157118e-5)
_ONE, _HALF = _SINGLE(1.0), _SINGLE(0.5)
_FIRST_BIT, _SECOND_BIT, _TO_SIGN = _WORD(1), _WORD(2), _WORD(30)


@compiled(fastmath=FUSED)
def sincos_single(x: Any) -> tuple[Any, Any]:
    """(sin x, cos x) for |x| <= SINGLE_REACH: x = n pi/2 + r, then the quadrant n mod 4."""
    shifted = x * _TWO_OVER_PI + _ROUNDER
    quadrant = _SINGLE(shifted).view(_WORD)
    n = shifted - _ROUNDER
    r = ((x - n * _HALF_PI_HIGH) - n * _HALF_PI_MIDDLE) - n * _HALF_PI_LOW
    z = r * r
    s = ((_S7 * z + _S5) * z + _S3) * (z * r) + r
    c = (((_C8 * z + _C6) * z + _C4) * z) * z + (_ONE - _HALF * z)
    odd = (quadrant & _FIRST_BIT) != 0
    sine, cosine = _SINGLE(c if odd else s).view(_WORD), _SINGLE(s if odd else c).view(_WORD)
    next_quadrant = _WORD(quadrant + _FIRST_BIT)
    sine = _WORD(sine ^ _WORD(_WORD(quadrant & _SECOND_BIT) << _TO_SIGN))
    cosine = _WORD(cosine ^ _WORD(_WORD(next_quadrant & _SECOND_BIT) << _TO_SIGN))
    return sine.view(_SINGLE), cosine.view(_SINGLE)


@compiled(fastmath=FUSED)
def sincos_lines(angles: Any, first: int, sines: Any, cosines: Any) -> None:
    """Sines and cosines of lines of angles from `first` on, as many as there are lines of sines."""
    reach = _reach(angles[first, 0])
    for i in range(len(sines)):
        if not _squares(angles, first + i) <= reach * reach and _is_beyond(
            angles, first + i, reach
        ):
            for j in range(angles.shape[1]):
                sines[i, j] = math.sin(angles[first + i, j])
                cosines[i, j] = math.cos(angles[first + i, j])
        else:
            for j in range(angles.shape[1]):
                sines[i, j], cosines[i, j] = _turned(angles[first + i, j])


@compiled(fastmath=REASSOCIATED)
def _squares(angles: Any, i: int) -> Any:
    """The sum of a line's squares: while it is small, no angle needs to be looked at by itself."""
    total = angles[i, 0] * angles[i, 0]
    for j in range(1, angles.shape[1]):
        total += angles[i, j] * angles[i, j]
    return total


@compiled()
def _is_beyond(angles: Any, i: int, reach: float) -> bool:
    beyond = 0
    for j in range(angles.shape[1]):
        beyond += not abs(angles[i, j]) <= reach
    return beyond > 0


def _turned(x: Any) -> Any:
    """(sin x, cos x) in the precision of x."""


def _reach(x: Any) -> Any:
    """How far `_turned` reaches in the precision of x."""


def _turned_in_precision(x: Any) -> Any:
    def single(x: Any) -> Any:
        return sincos_single(x)

    def double(x: Any) -> Any:
        return sincos(x)

    return single if x == types.float32 else double


def _reach_in_precision(x: Any) -> Any:
    def single(x: Any) -> Any:
        return SINGLE_REACH

    def double(x: Any) -> Any:
        return SINCOS_REACH

    return single if x == types.float32 else double


overload(_turned)(_turned_in_precision)
overload(_reach)(_reach_in_precision)
