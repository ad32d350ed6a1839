"""Kernels in compiled code: the numbers of a kernel, and the function that computes it.

A kernel here is a NamedTuple of its numbers, and a function that gives LIFT × the kernel of two
vectors from their squared norms and inner product. A compiled function that calls `lifted` is
compiled for each kernel that it is given, and has the function of that kernel in it.

LIFT, because the sign of a score depends on subnormal kernels where a row is far from all supports,
and subnormal numbers cost a hundred times as much as others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numba.extending import overload

from okbench.base.jit import Function, compiled
from okbench.learners.numeric.elementary import FUSED, LIFT, ONE_OVER_LN2, lifted_exp2

BLURRED = 2.0**-48  # of the squared norms: a squared distance below it may be all rounding
_FUNCTIONS: dict[type, Any] = {}


def function_of(numbers: type) -> Callable[[Function], Function]:
    """Have kernels with numbers of this class be computed by this function."""

    def announce(function: Function) -> Function:
        _FUNCTIONS[numbers] = function
        return function

    return announce


def lifted(kernel: Any, norm: Any, other: Any, inner: Any) -> Any:
    """LIFT × the kernel of two vectors, from their squared norms and inner product."""
    return _FUNCTIONS[type(kernel)](kernel, norm, other, inner)


@overload(lifted, strict=False)  # type: ignore[untyped-decorator]
def _lifted(kernel: Any, norm: Any, other: Any, inner: Any) -> Any:
    function = _FUNCTIONS[kernel.instance_class]

    def of_this_kernel(kernel: Any, norm: Any, other: Any, inner: Any) -> Any:
        return function(kernel, norm, other, inner)

    return of_this_kernel


@compiled(fastmath=FUSED)
def squared_distance(norm: float, other: float, inner: float) -> float:
    """The squared distance, 0 where the rounding of what cancels would make it negative."""
    return max(0.0, (norm + other) - 2.0 * inner)


class Gaussian(NamedTuple):
    """exp(-r² / 2), r = ‖x - z‖ / width."""

    sharpness: float  # -1 / (2 width²)

    @classmethod
    def of(cls, width: float) -> Gaussian:
        return cls(-0.5 / width / width)


@function_of(Gaussian)
@compiled(fastmath=FUSED)
def gaussian(kernel: Gaussian, norm: float, other: float, inner: float) -> float:
    return lifted_exp2(((norm + other) - 2.0 * inner) * (ONE_OVER_LN2 * kernel.sharpness))


class Cauchy(NamedTuple):
    """1 / (1 + r²)."""

    factor: float  # -1 / width²

    @classmethod
    def of(cls, width: float) -> Cauchy:
        return cls(-1.0 / width / width)


@function_of(Cauchy)
@compiled(fastmath=FUSED)
def cauchy(kernel: Cauchy, norm: float, other: float, inner: float) -> float:
    return LIFT / (1.0 - kernel.factor * squared_distance(norm, other, inner))


class Matern32(NamedTuple):
    """(1 + √3 r) exp(-√3 r)."""

    factor: float  # 3 / width²

    @classmethod
    def of(cls, width: float) -> Matern32:
        return cls(3.0 / width / width)


@function_of(Matern32)
@compiled(fastmath=FUSED)
def matern32(kernel: Matern32, norm: float, other: float, inner: float) -> float:
    distance = math.sqrt(kernel.factor * squared_distance(norm, other, inner))
    return (1.0 + distance) * lifted_exp2(-ONE_OVER_LN2 * distance)


class Matern52(NamedTuple):
    """(1 + √5 r + 5 r² / 3) exp(-√5 r)."""

    factor: float  # 5 / width²

    @classmethod
    def of(cls, width: float) -> Matern52:
        return cls(5.0 / width / width)


@function_of(Matern52)
@compiled(fastmath=FUSED)
def matern52(kernel: Matern52, norm: float, other: float, inner: float) -> float:
    square = kernel.factor * squared_distance(norm, other, inner)
    distance = math.sqrt(square)
    return (1.0 + distance + square / 3.0) * lifted_exp2(-ONE_OVER_LN2 * distance)


class Laplacian(NamedTuple):
    """exp(-r), which is the Matérn kernel with ν = 1/2."""

    factor: float  # -1 / width

    @classmethod
    def of(cls, width: float) -> Laplacian:
        return cls(-1.0 / width)


@function_of(Laplacian)
@compiled(fastmath=FUSED)
def laplacian(kernel: Laplacian, norm: float, other: float, inner: float) -> float:
    square = squared_distance(norm, other, inner)
    if square < BLURRED * (norm + other):  # the root would make much of what rounding has left
        square = 0.0
    return lifted_exp2(math.sqrt(square) * (ONE_OVER_LN2 * kernel.factor))


class Polynomial(NamedTuple):
    """(x · z / width²)^degree."""

    factor: float  # 1 / width²
    degree: int

    @classmethod
    def of(cls, width: float, degree: int) -> Polynomial:
        return cls(1.0 / width / width, degree)


@function_of(Polynomial)
@compiled(fastmath=FUSED)
def polynomial(kernel: Polynomial, norm: float, other: float, inner: float) -> float:
    base = kernel.factor * inner
    power = base
    for _ in range(1, kernel.degree):
        power *= base
    return LIFT * power
