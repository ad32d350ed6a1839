"""Files of settings and records that are too long or too deep are refused with a message."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from okbench.base import config_nodes
from okbench.base.config_nodes import parse_json, parse_yaml, read_json, read_yaml
from okbench.base.errors import ConfigError
from okbench.papers import stated_growth

DEEP = {
    "lists": "[" * 200_000,
    "closed lists": "[" * 5000 + "]" * 5000,
    "mappings": '{"a":' * 200_000,
    "closed mappings": '{"a":' * 5000 + "1" + "}" * 5000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_file_is_refused(kind: str) -> None:
    with pytest.raises(ConfigError, match="deep"):
        parse_yaml(DEEP[kind], "a.yaml")
    with pytest.raises(ConfigError, match=r"a\.json.* deep"):
        parse_json(DEEP[kind], "a.json")


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(ConfigError, match="is too large a whole number"):
        parse_json("[" + "9" * 5000 + "]", "a.json")
    with pytest.raises(ConfigError, match="18 digits at most"):
        parse_yaml("a: " + "9" * 5000, "a.yaml")


@pytest.mark.parametrize("read", [read_yaml, read_json])
def test_a_file_without_end_is_refused(read: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(read)
    for bound in ("_MOST_YAML", "_MOST_JSON"):
        monkeypatch.setattr(config_nodes, bound, 1000)
    with pytest.raises(ConfigError, match="/dev/zero: longer than the 1,000 bytes"):
        read(Path("/dev/zero"))


def test_line_ends_and_a_byte_order_mark_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: |\r\n  x\r\n  y\r\nb: 1\r")
    assert read_yaml(path).plain() == {"a": "x\ny\n", "b": 1}


def test_an_empty_file_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_bytes(b"")
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match="not JSON"):
            read_json(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_number_that_is_not_finite_is_refused_with_its_place() -> None:
    node = parse_yaml("rows: .inf\n", "a.yaml").fields({"rows"})["rows"]
    with pytest.raises(ConfigError, match=r"a\.yaml:1.*a finite number"):
        node.finite()


def test_an_order_of_growth_with_thousands_of_digits_is_refused() -> None:
    fields = parse_yaml(f"order: O(B^{'9' * 5000})\n", "a.yaml").fields({"order"})
    with pytest.raises(ConfigError, match=r"an order such as"):
        stated_growth._powers(fields["order"], {"B": "budget"})
