from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from okbench.datasets.readers.numbers import (
    EASY,
    HARD,
    NO_NUMBER,
    NumberScratch,
    scan_number,
)


def scan(text: str) -> tuple[int, int, float]:
    raw = np.frombuffer(text.encode() + b"\n", dtype=np.uint8)
    scratch = NumberScratch.new()
    end, kind = scan_number(raw, 0, scratch)
    return end, kind, float(scratch.value[0])


def same_bits(a: float, b: float) -> bool:
    return struct.pack("d", a) == struct.pack("d", b)


finite_doubles = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.builds(
    "{}{}.{}e{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**22),
    st.from_regex(r"[0-9]{0,20}", fullmatch=True),
    st.integers(-345, 310),
)
half_ways = st.builds(
    "{}e{}".format, st.integers(2**53, 2**54).map(lambda n: 2 * n + 1), st.integers(-22, 22)
)


@given(finite_doubles.map(repr) | decimals | half_ways)
@example("0.1")
@example("-0")
@example("9007199254740993")
@example("9007199254740992.5")
@example("1.7976931348623157e308")
@example("2.2250738585072011e-308")
@example("5e-324")
@example("24388285961748086")
@example("243882859617480860e-1")
@example("1e23")
@example("0.000000000000000000000000000000000000000000001")
@example("8.41000000000000000000e+01")
def test_a_number_is_the_double_that_python_reads(text: str) -> None:
    end, kind, value = scan(text)
    assert end == len(text)
    assert kind in (EASY, HARD)
    if kind == EASY:
        assert same_bits(value, float(text))


@given(finite_doubles.map(lambda x: f"{x:.18e}") | finite_doubles.map(lambda x: f"{x:.6g}"))
def test_numbers_as_programs_print_them_are_never_left_to_python(text: str) -> None:
    if float(text) == 0.0 or 1e-300 < abs(float(text)) < float("inf"):
        assert scan(text)[1] == EASY


@pytest.mark.parametrize("text", ["", "-", "+", ".", "e5", "1e", "1e+", "x", "nan", "inf", "--1"])
def test_what_is_no_number_is_reported(text: str) -> None:
    assert scan(text)[1] == NO_NUMBER


@pytest.mark.parametrize(
    ("text", "end"), [("1.5.2", 3), ("1:2", 1), ("1 2", 1), ("0x10", 1), ("1_0", 1)]
)
def test_a_number_ends_where_it_ends(text: str, end: int) -> None:
    assert scan(text)[0] == end


@pytest.mark.parametrize(
    "text", ["1e400", "-1e400", "1e-400", "123456789012345678901", "1e999999999999"]
)
def test_what_is_too_hard_is_left_to_python(text: str) -> None:
    assert scan(text)[:2] == (len(text), HARD)
