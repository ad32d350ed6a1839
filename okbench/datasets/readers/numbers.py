"""Decimal text to the nearest double, in compiled code: `scan_number` equals Python's `float`.

Up to nineteen digits are exact: a product of exact doubles where there is one (Clinger 1990), else
one or two 64 × 64 bit products with a tabulated power of five (Lemire 2021, Number parsing at a
gigabyte per second, section 5). What those cannot decide is given back as HARD, for `float`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled

EASY, HARD, NO_NUMBER = 0, 1, 2

MOST_DIGITS = 19  # 10^19 < 2^64
SMALLEST_POWER, LARGEST_POWER = -342, 308


def _powers_of_five() -> NDArray[np.uint64]:
    """The leading 128 bits of 5^q as (high, low): rounded up for -27 ≤ q < 0, else down."""
    rows = []
    for power in range(SMALLEST_POWER, LARGEST_POWER + 1):
        five = 5 ** abs(power)
        length = five.bit_length()
        if power >= 0:
            bits = five << 128 - length if length <= 128 else five >> length - 128
        elif power >= -27:
            bits = (1 << length + 127) // five + 1
        else:
            bits = (1 << 2 * length + 128) // five + 1
            bits >>= bits.bit_length() - 128
        rows.append((bits >> 64, bits & 0xFFFF_FFFF_FFFF_FFFF))
    return np.array(rows, dtype=np.uint64)


POWERS_OF_FIVE = _powers_of_five()
EXACT_TENS: NDArray[np.float64] = np.array([float(10**power) for power in range(23)])


class NumberScratch(NamedTuple):
    """The working memory of reading a number; `value` is where it is put."""

    value: NDArray[np.float64]
    tens: NDArray[np.float64]
    powers: NDArray[np.uint64]

    @classmethod
    def new(cls) -> NumberScratch:
        return cls(np.zeros(1), EXACT_TENS, POWERS_OF_FIVE)


_PLUS, _MINUS, _POINT, _ZERO, _LARGE_E, _SMALL_E = 43, 45, 46, 48, 69, 101

_ONE = np.uint64(1)
_HALF_WORD = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFF_FFFF)
_ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@compiled()
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """High and low word of a × b."""
    a_high, a_low = a >> _HALF_WORD, a & _LOW_HALF
    b_high, b_low = b >> _HALF_WORD, b & _LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF_WORD)
    other = a_low * b_high + (middle & _LOW_HALF)
    high = a_high * b_high + (middle >> _HALF_WORD) + (other >> _HALF_WORD)
    return high, (other << _HALF_WORD) | (low & _LOW_HALF)


@compiled()
def _leading_zeros(word: np.uint64) -> int:
    count = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word >> np.uint64(64 - step) == 0:
            word <<= np.uint64(step)
            count += step
    return count


@compiled()
def nearest_double(digits: np.uint64, power: int, powers: NDArray[np.uint64]) -> np.uint64:
    """The bits of the double nearest to digits · 10^power; all ones when this cannot decide."""
    if power < SMALLEST_POWER or power > LARGEST_POWER:
        return _ALL_ONES
    zeros = _leading_zeros(digits)
    digits <<= np.uint64(zeros)
    row = power - SMALLEST_POWER
    high, low = _product(digits, powers[row, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(digits, powers[row, 1])
        low += more
        if low < more:
            high += _ONE
    if low == _ALL_ONES and (power < -27 or power > 55):
        return _ALL_ONES
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - zeros + 1023
    if exponent <= 0:
        return _ALL_ONES  # subnormal or zero
    half_way = low <= _ONE and -4 <= power <= 23 and mantissa & np.uint64(3) == _ONE
    if half_way and mantissa << shift == high:
        mantissa &= ~_ONE  # to even
    mantissa += mantissa & _ONE
    mantissa >>= _ONE
    if mantissa >= _ONE << np.uint64(53):
        mantissa = _ONE << np.uint64(52)
        exponent += 1
    if exponent >= 0x7FF:
        return _ALL_ONES
    fraction = mantissa & ((_ONE << np.uint64(52)) - _ONE)
    return (np.uint64(exponent) << np.uint64(52)) | fraction


@compiled()
def scan_digits(text: NDArray[np.uint8], at: int) -> tuple[int, np.int64, int, int, bool]:
    """An optional sign, digits, and perhaps a point and more digits.

    Where they end; the digits as one integer, right up to 18 of them; how many they are; how many
    follow the point; whether the sign is a minus.
    """
    negative = text[at] == _MINUS
    at += 1 if negative or text[at] == _PLUS else 0
    first, point, digits = at, -1, np.int64(0)
    while True:
        code = np.int64(text[at]) - _ZERO
        if 0 <= code <= 9:
            digits = digits * 10 + code
        elif code == _POINT - _ZERO and point < 0:
            point = at
        else:
            break
        at += 1
    fraction = at - point - 1 if point >= 0 else 0
    n_digits = at - first - (1 if point >= 0 else 0)
    return at, digits, n_digits, fraction, negative


@compiled()
def scan_number(
    text: NDArray[np.uint8],
    at: int,
    scratch: NumberScratch,
) -> tuple[int, int]:
    """Read one number into `scratch`; where it ends, and whether it was EASY, HARD or none.

    The text must end with a line end. A HARD number is well formed, but left for `float`.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    digits, kept, power, seen = np.uint64(0), 0, 0, False
    after_point, lost = False, False
    while True:
        code = np.int64(text[at]) - _ZERO
        if 0 <= code <= 9:
            seen = True
            if kept < MOST_DIGITS:
                digits = digits * np.uint64(10) + np.uint64(code)
                kept += 1 if digits > 0 else 0
                power -= 1 if after_point else 0
            else:
                lost = lost or code != 0
                power += 0 if after_point else 1
        elif text[at] == _POINT and not after_point:
            after_point = True
        else:
            break
        at += 1
    if not seen:
        return at, NO_NUMBER
    if text[at] == _SMALL_E or text[at] == _LARGE_E:
        at, exponent, found = _scan_exponent(text, at + 1)
        if not found:
            return at, NO_NUMBER
        power += exponent
    if lost:
        return at, HARD
    if digits < np.uint64(1 << 53) and -22 <= power <= 22:
        number = np.float64(digits)
        number = number / scratch.tens[-power] if power < 0 else number * scratch.tens[power]
        scratch.value[0] = -number if negative else number
        return at, EASY
    if digits == 0:
        scratch.value[0] = -0.0 if negative else 0.0
        return at, EASY
    found_bits = nearest_double(digits, power, scratch.powers)
    if found_bits == _ALL_ONES:
        return at, HARD
    scratch.value.view(np.uint64)[0] = found_bits | (np.uint64(negative) << np.uint64(63))
    return at, EASY


@compiled()
def _scan_exponent(text: NDArray[np.uint8], at: int) -> tuple[int, int, bool]:
    """Where the exponent ends, what it is, and whether there is one."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    first, exponent = at, 0
    while 48 <= text[at] <= 57:
        exponent = min(exponent * 10 + int(text[at] - np.uint8(_ZERO)), 1_000_000)
        at += 1
    return at, -exponent if negative else exponent, at > first
