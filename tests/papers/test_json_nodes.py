"""JSON as nodes that know where they stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.base.config_nodes import Node, parse_json, read_json
from okbench.base.errors import ConfigError, DataError

PLAIN = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)
FINITE = PLAIN.filter(lambda value: value not in (float("inf"), float("-inf"))) | st.text()
TREES = st.recursive(FINITE, lambda below: st.lists(below) | st.dictionaries(st.text(), below))


def rebuilt(node: Node) -> Any:
    """The plain value of a tree, by way of its nodes."""
    if node.kind == "mapping":
        return {key: rebuilt(value) for key, value in node.items()}
    if node.kind == "list":
        return [rebuilt(element) for element in node.elements()]
    return node.scalar()


@given(TREES)
def test_every_value_comes_back(tree: Any) -> None:
    root = parse_json(json.dumps(tree), "a.json")
    assert repr(rebuilt(root)) == repr(root.plain()) == repr(tree)


def test_a_value_knows_its_path() -> None:
    root = parse_json('{"draws": {"normals": [1, [2, {"a b": 3}]]}}', "a.json")
    normals = root.fields({"draws"})["draws"].fields({"normals"})["normals"]
    first, second = normals.elements()
    assert (root.where, normals.where) == ("a.json", "a.json: draws.normals")
    assert first.where == "a.json: draws.normals[0]"
    below = dict(second.elements()[1].items())["a b"]
    assert below.where == "a.json: draws.normals[1][1].a b"
    assert parse_json("[[7]]", "a.json").elements()[0].elements()[0].where == "a.json: [0][0]"


@pytest.mark.parametrize(
    ("written", "asked", "words"),
    [
        ("5", "text", "a text is expected, not 5"),
        ("null", "text", "a text is expected, not null"),
        ('"5"', "number", 'a number is expected, not "5"'),
        ("true", "integer", "a whole number is expected, not true"),
        ("1.0", "integer", "a whole number is expected, not 1.0"),
        ("[1]", "items", "a mapping is expected, not [1]"),
        ("{}", "elements", "a list is expected, not {}"),
        ("[1]", "scalar", "a scalar is expected, not [1]"),
    ],
)
def test_a_value_of_another_kind_is_refused(written: str, asked: str, words: str) -> None:
    node = parse_json(f'{{"key": {written}}}', "a.json").fields({"key"})["key"]
    with pytest.raises(ConfigError) as caught:
        getattr(node, asked)()
    assert str(caught.value) == f"a.json: key: {words}"


def test_a_long_value_is_shown_in_part() -> None:
    with pytest.raises(ConfigError, match=r"not \[0, 0, 0, 0, 0, .* …$"):
        parse_json(json.dumps([0] * 100), "a.json").text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n"b": }', "a.json:2: not JSON"),
        ('{"a": 1, "a": 1}', "a.json: the key 'a' stands twice"),
        ("[NaN]", "a.json: NaN is no number in JSON"),
        ("[9007199254740993]", "a.json: 9007199254740993 is too large a whole number"),
        ("[" * 100_000, "a.json: "),
        ("", "a.json:1: not JSON"),
    ],
)
def test_broken_json_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_json(text, "a.json")
    assert str(caught.value).startswith(words)


def test_a_file_knows_its_path_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('\N{ZERO WIDTH NO-BREAK SPACE}{"a": [1]}', encoding="utf-8")
    below = read_json(path).fields({"a"})["a"].elements()[0]
    assert (below.path, below.where) == (path, f"{path}: a[0]")
    with pytest.raises(DataError, match=r"none\.json: cannot be read: No such file"):
        read_json(tmp_path / "none.json")
