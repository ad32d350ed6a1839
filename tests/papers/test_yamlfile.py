from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.base.config_nodes import Node, parse_yaml, read_yaml
from okbench.base.errors import ConfigError


def read(text: str) -> Node:
    return parse_yaml(text, "a.yaml")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("-.5", -0.5),
        ("010", 10),
        ("7", 7),
        (".inf", float("inf")),
        ("-.inf", float("-inf")),
        ("10:30", "10:30"),
        ("yes", "yes"),
        ("on", "on"),
        ("2001-01-01", "2001-01-01"),
        ("1_000", "1_000"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("'1e-3'", "1e-3"),
        ('"true"', "true"),
        ("''", ""),
    ],
)
def test_scalars_follow_yaml_1_2(written: str, meant: object) -> None:
    value = read(f"key: {written}").fields({"key"})["key"].scalar()
    assert value == meant
    assert type(value) is type(meant)


def test_a_whole_number_too_long_to_reckon_with_is_refused() -> None:
    assert read("key: -999999999999999999").plain() == {"key": 1 - 10**18}
    assert read(f"key: '{10**18}'").plain() == {"key": str(10**18)}
    for digits in (19, 5000):
        with pytest.raises(ConfigError, match=r"^a.yaml:2: a whole number has 18 digits at most"):
            read(f"one: 1\nkey: {'9' * digits}")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back_bit_for_bit(number: float) -> None:
    assert read(f"key: {number!r}").plain() == {"key": number}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: [1, 2\n", 3, "check brackets, quotes and indentation from line 2 on"),
        ("a:\n\tb: 1\n", 2, "indent with spaces, not tabs"),
        ("a: 1\nb: c: d\n", 2, "quote a text that contains ': '"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' is already given on line 1"),
        ("x:\n  a: 1\n  a: 1\n", 3, "'a' is already given on line 2"),
        ("", 1, "the file is empty"),
        ("# nothing\n", 1, "the file is empty"),
        ("a: 1\n--- \nb: 2\n", 2, "a second document begins"),
        ("a: *b\n", 1, "no finished value is named &b; quote a text that begins with *"),
        ("a: &a [*a]\n", 1, "no finished value is named &a"),
        ("a: !python/name:os.system x\n", 1, "has no meaning here"),
        ("a: !!int '1'\n", 1, "has no meaning here"),
        ("- " * 60 + "1\n", 1, "nested deeper than 40 levels"),
        ("[" * 100_000, 1, "nested deeper than 40 levels"),
        ("{a: " * 100_000, 1, "nested deeper than 40 levels"),
        ("a: 1\n<<: {b: 2}\n", 2, "'<<' is not read"),
        ("? [a]\n: b\n", 1, "a key must be a plain name"),
        ("a: 1\nb: \x01\n", 2, "a control character"),
    ],
)
def test_broken_yaml_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert str(caught.value).startswith(f"a.yaml:{line}: ")
    assert words in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    told = "a.yaml:"
    try:
        read(text).plain()
    except ConfigError as error:
        told = str(error)
    assert told.startswith("a.yaml:")


def test_a_value_stands_on_the_line_of_its_key() -> None:
    root = read("a:\n  b:\n  - 1\n  - 2\n")
    b = root.fields({"a"})["a"].fields({"b"})["b"]
    assert (root.where, b.where) == ("a.yaml:1", "a.yaml:2")
    assert [element.where for element in b.elements()] == ["a.yaml:3", "a.yaml:4"]


def test_an_alias_stands_for_its_value_on_its_own_line() -> None:
    fields = read("a: &x {b: 1}\nc: *x\n").fields({"a", "c"})
    assert fields["c"].plain() == {"b": 1}
    assert fields["c"].where == "a.yaml:2"


def test_an_unknown_key_is_refused_with_the_one_meant() -> None:
    with pytest.raises(ConfigError, match=r"a\.yaml:2: 'runz' is not a key here. Did you mean 'r"):
        read("kind: x\nrunz: 3").fields({"kind", "runs"})


def test_a_missing_key_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"a\.yaml:1: 'runs' is missing"):
        read("kind: x").fields({"kind", "runs"}, required=["kind", "runs"])


@pytest.mark.parametrize(
    ("written", "asked", "words"),
    [
        ("x", Node.number, "a number is expected, not 'x'"),
        ("true", Node.number, "a number is expected, not 'true'"),
        ("1.5", Node.integer, "a whole number is expected, not '1.5'"),
        ("true", Node.integer, "a whole number is expected, not 'true'"),
        ("yes", Node.boolean, "true or false is expected, not 'yes'"),
        ("[1]", Node.scalar, "a scalar is expected, not a list"),
        ("{a: 1}", Node.elements, "a list is expected, not a mapping"),
        ("3", Node.items, "a mapping is expected, not '3'"),
        ("", Node.text, "a text is expected, and nothing stands here"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told(written: str, asked: object, words: str) -> None:
    node = read(f"a: 1\nkey: {written}").fields({"a", "key"})["key"]
    with pytest.raises(ConfigError) as caught:
        asked(node)  # type: ignore[operator]
    assert str(caught.value) == f"a.yaml:2: {words}"


def test_choice_suggests_what_was_meant() -> None:
    with pytest.raises(ConfigError, match=r"'singlepass' is not one of .* Did you mean 'single-p"):
        read("a: singlepass").fields({"a"})["a"].choice(["single-pass", "train-test"])


def test_integer_keeps_its_bound() -> None:
    with pytest.raises(ConfigError, match="0 is too small; it must be 1 or more"):
        read("a: 0").fields({"a"})["a"].integer(at_least=1)


def test_text_is_kept_as_written() -> None:
    node = read("seconds: 11.50\nsum: 0012e45").fields({"seconds", "sum"})
    assert (node["seconds"].text(), node["sum"].text()) == ("11.50", "0012e45")


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(ConfigError, match=r"latin\.yaml:2: not UTF-8"):
        read_yaml(latin)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "bom.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(path).plain() == {"a": 1}


def test_a_path_is_told_as_short_as_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.yaml").write_text("a: 1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_yaml(tmp_path / "x.yaml").where == "x.yaml:1"
