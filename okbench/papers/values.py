"""The value of a setting: a number, a word, true or false, or a list of these.

    widths: [0.5, 1, 2]

A list is kept as a tuple, which can be compared and hashed, and is spelled as it is written.
"""

from __future__ import annotations

from typing import TypeAlias

from okbench.base.config_nodes import Node, parse_yaml
from okbench.base.errors import UsageError
from okbench.papers.expressions import is_expression

Plain: TypeAlias = bool | int | float | str
Value: TypeAlias = Plain | tuple[Plain, ...]


def read_value(node: Node) -> Value:
    """The value that stands in a file. Arithmetic is left as text, and is refused in a list."""
    if node.kind == "list":
        return tuple(_element(element) for element in node.elements())
    if node.kind == "mapping":
        raise node.error("a value or a list of values is expected, not a mapping")
    written = node.scalar()
    if written is None:
        raise node.error("a value is missing; leave the line out to have the learner's default")
    return written


def parse_value(text: str) -> Value:
    """The value that a text such as `[0.5, 1, 2]`, `8`, `true` or `word` stands for, by the rules
    of a table's file."""
    if not text.strip():
        raise UsageError("a value is missing; write a number, a word or a list such as [0.5, 1, 2]")
    return read_value(parse_yaml(text, f"'{text}'"))


def spelled(value: Value | None) -> str:
    """The value in a trial's id and in messages. Two values have the same spelling if and only if
    they are the same: 8 is not 8.0, nor is either the text '8'."""
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _element(node: Node) -> Plain:
    if node.kind != "scalar":
        raise node.error(f"a list of settings holds numbers and words alone, not {node.described}")
    written = node.scalar()
    if written is None:
        raise node.error("a value of the list is missing")
    if isinstance(written, str) and is_expression(written):
        raise node.error(f"'{written}': arithmetic is not evaluated in a list; write its value")
    return written
