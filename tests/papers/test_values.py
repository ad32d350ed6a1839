"""Values of settings: read from a file, parsed from a text, spelled in an id."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import ConfigError, UsageError
from okbench.papers.cell_settings import read_layer, resolve
from okbench.papers.expressions import is_expression
from okbench.papers.table_types import Setting
from okbench.papers.values import Value, parse_value, read_value, spelled

# PyYAML, which knows YAML 1.1 alone, writes these without quotes; in YAML 1.2 they are numbers
ONLY_NEWER_NUMBERS = re.compile(r"[-+.\d]+[eE][-+]?\d+|0o[0-7]+")
WORDS = st.text(max_size=6).filter(
    lambda text: not is_expression(text) and not ONLY_NEWER_NUMBERS.fullmatch(text)
)
PLAIN = st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False) | WORDS
VALUES = PLAIN | st.lists(PLAIN, max_size=5).map(tuple)


def alike(one: Value, other: Value) -> bool:
    """Equal and of the same types: 8 is not 8.0."""
    return repr(one) == repr(other)


@given(VALUES)
@example((True, 1, 1.0, "1", "true", math.inf, -0.0))
def test_any_value_survives_yaml(value: Value) -> None:
    written = yaml.safe_dump(list(value) if isinstance(value, tuple) else value)
    assert alike(read_value(parse_yaml(written, "a.yaml")), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("8.0", 8.0),
        ("1e-3", 0.001),
        ("true", True),
        ("'true'", "true"),
        ("word", "word"),
        ("two words", "two words"),
        (".inf", math.inf),
        ("4 * budget", "4 * budget"),
        ("[0.5, 1, 2]", (0.5, 1, 2)),
        ("[ 7 ]", (7,)),
        ("[]", ()),
        ("[a, 'b c', true]", ("a", "b c", True)),
    ],
)
def test_a_text_is_the_value_it_would_be_in_a_file(text: str, value: Value) -> None:
    assert alike(parse_value(text), value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a value is missing"),
        ("  ", "a value is missing"),
        ("null", "a value is missing"),
        ("[1, null]", "a value of the list is missing"),
        ("[1, [2]]", "a list of settings holds numbers and words alone, not a list"),
        ("[1, {a: 2}]", "a list of settings holds numbers and words alone, not a mapping"),
        ("{a: 1}", "a value or a list of values is expected, not a mapping"),
        ("[4 * budget]", "'4 \\* budget': arithmetic is not evaluated in a list"),
        ("[1, 2", "check brackets"),
    ],
)
def test_what_is_no_value_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_value(text)


@given(VALUES, VALUES)
@example((1,), (1.0,))
@example((1,), 1)
@example("[1]", (1,))
def test_two_values_are_spelled_alike_only_if_they_are_the_same(one: Value, other: Value) -> None:
    assert (spelled(one) == spelled(other)) == alike(one, other)


@pytest.mark.parametrize("value", [8, 8.0, True, "word", math.inf, 1e-9, None])
def test_a_plain_value_is_spelled_as_python_has_it(value: Any) -> None:
    assert spelled(value) == repr(value)


def test_a_list_is_spelled_as_it_is_written() -> None:
    assert spelled((0.5, 1, "a", True)) == "[0.5, 1, 'a', True]"
    assert spelled((0.5,)) == "[0.5]"


def test_a_list_in_a_file_keeps_its_source() -> None:
    text = "widths: {value: [0.5, 1], found: in the authors' files}\nnames: [a, b]"
    layer = read_layer(parse_yaml(text, "t.yaml").items())
    assert layer["widths"].value == (0.5, 1)
    assert (layer["widths"].source, layer["widths"].where) == ("found", "t.yaml:1")
    assert resolve([layer], None)["names"].value == ("a", "b")


def test_arithmetic_on_a_list_is_refused() -> None:
    layer = {"widths": Setting((1, 2)), "rank": Setting("2 * widths", where="t.yaml:3")}
    with pytest.raises(ConfigError, match=r"t\.yaml:3: 'widths' is \[1, 2\], not a number"):
        resolve([layer], None)
