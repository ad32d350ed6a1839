"""YAML and JSON as a small typed tree in which every value knows where it stands.

In YAML scalars are read by the rules of version 1.2: `1e-3` is a number, `10:30`, `yes` and `on`
are text, and only `true` and `false` are truth values. A key that is written twice is refused in
both languages.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

import yaml

from okbench.base.errors import ConfigError, DataError, OkbenchError, did_you_mean

Kind = Literal["mapping", "list", "scalar"]
Scalar = bool | int | float | str | None

_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 40  # mappings and lists within each other
_PIECE = 1 << 20  # bytes of a file that are read at once
_MOST_YAML = 16 << 20  # bytes of a file; the largest that is shipped has 60 kB
_MOST_JSON = 1 << 30  # a record to be replayed may hold all rows of a dataset
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", "+.inf", ".Inf", "+.Inf"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf"), float("-inf")),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_MOST_DIGITS = 18  # of a whole number
_MOST_IN_JSON = 2**53  # from here on not every whole number has a float
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Node:
    """A value of a file: a mapping, a list or a scalar, and where it stands.

    `where` is `file:line` in YAML: the line of its key for a value in a mapping, else its own first
    line; in JSON it is `file: draws.normals[3]`. `path` is the file. Every method that finds
    something else than it was asked for raises a ConfigError that names the place.
    """

    where: str
    kind: Kind
    path: Path = Path()
    _value: Scalar = None
    _source: str = ""
    _elements: tuple[Node, ...] = ()
    _items: tuple[tuple[str, Node], ...] = ()

    def items(self) -> tuple[tuple[str, Node], ...]:
        """The keys and values of a mapping, in the file's order."""
        self._expect("mapping")
        return self._items

    def elements(self) -> tuple[Node, ...]:
        """The elements of a list."""
        self._expect("list")
        return self._elements

    def scalar(self) -> Scalar:
        """The truth value, number, text or None that stands here."""
        self._expect("scalar")
        return self._value

    def plain(self) -> Any:
        """The same as plain Python: dict, list, or the scalar."""
        if self.kind == "mapping":
            return {key: value.plain() for key, value in self._items}
        if self.kind == "list":
            return [element.plain() for element in self._elements]
        return self._value

    def fields(self, known: Collection[str], required: Collection[str] = ()) -> dict[str, Node]:
        """The values of a mapping by key, refusing keys not `known` and asking for `required`."""
        found = dict(self.items())
        for key, value in found.items():
            if key not in known:
                choices = ", ".join(sorted(known))
                hint = did_you_mean(key, known)
                raise value.error(f"'{key}' is not a key here.{hint}  (known: {choices})")
        missing = [key for key in required if key not in found]
        if missing:
            raise self.error(f"'{missing[0]}' is missing; add '{missing[0]}: …'")
        return found

    def text(self) -> str:
        """A text exactly as written (so `11.50` stays `11.50`); nothing at all is refused."""
        if self.scalar() is None:
            raise self.error("a text is expected, and nothing stands here")
        return self._source

    def number(self) -> int | float:
        """A number."""
        value = self.scalar()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"a number is expected, not {self.described}")
        return value

    def finite(self) -> int | float:
        """A finite number."""
        value = self.number()
        if not math.isfinite(value):
            raise self.error(f"a finite number is expected, not {self.described}")
        return value

    def integer(self, at_least: int | None = None) -> int:
        """A whole number, not below `at_least`."""
        value = self.scalar()
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"a whole number is expected, not {self.described}")
        if at_least is not None and value < at_least:
            raise self.error(f"{value} is too small; it must be {at_least} or more")
        return value

    def boolean(self) -> bool:
        """`true` or `false`."""
        value = self.scalar()
        if not isinstance(value, bool):
            raise self.error(f"true or false is expected, not {self.described}")
        return value

    def choice(self, known: Collection[str]) -> str:
        """A text that is one of `known`."""
        value = self.text()
        if value not in known:
            choices = ", ".join(sorted(known))
            raise self.error(f"'{value}' is not one of {choices}.{did_you_mean(value, known)}")
        return value

    def error(self, message: str) -> ConfigError:
        """The error to raise for what stands here."""
        return ConfigError(f"{self.where}: {message}")

    def data_error(self, message: str) -> DataError:
        """The error to raise for what stands here if the rows or numbers it names are at fault."""
        return DataError(f"{self.where}: {message}")

    @property
    def described(self) -> str:
        """What stands here, for a message."""
        if self.kind != "scalar":
            return f"a {self.kind}"
        return "nothing" if self._value is None else f"'{self._source}'"

    def _expect(self, kind: Kind) -> None:
        if self.kind != kind:
            raise self.error(f"a {kind} is expected, not {self.described}")


@dataclass(frozen=True)
class _JsonNode(Node):
    """A value of JSON. The nodes below it are made when they are asked for, since a file may hold
    millions of numbers that are wanted as one array."""

    _parsed: Any = None
    _name: str = ""
    _key: str = ""

    def items(self) -> tuple[tuple[str, Node], ...]:
        self._expect("mapping")
        before = f"{self._key}." if self._key else ""
        return tuple((key, self._below(f"{before}{key}", v)) for key, v in self._parsed.items())

    def elements(self) -> tuple[Node, ...]:
        self._expect("list")
        return tuple(self._below(f"{self._key}[{i}]", v) for i, v in enumerate(self._parsed))

    def plain(self) -> Any:
        return self._parsed

    def text(self) -> str:
        """A text; in JSON a number is none."""
        if not isinstance(self._parsed, str):
            raise self.error(f"a text is expected, not {self.described}")
        return self._parsed

    @property
    def described(self) -> str:
        text = json.dumps(self._parsed, ensure_ascii=False)
        return text if len(text) < 40 else f"{text[:36]} …"

    def _below(self, key: str, value: Any) -> Node:
        return _json_node(value, self.path, self._name, key)


def read_yaml(path: Path) -> Node:
    """Read one YAML document from a UTF-8 file."""
    return parse_yaml(_text_of(path, ConfigError, _MOST_YAML), _shown(path), path)


def parse_yaml(text: str, name: str, path: Path = Path()) -> Node:
    """Read one YAML document from a text that messages call `name`."""
    try:
        return _Builder(name, path, yaml.parse(text, Loader=_LOADER)).document()
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_what_broke(error, text, name)) from error
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise ConfigError(f"{name}:{line}: a control character; remove it") from error


def read_json(path: Path) -> Node:
    """Read a JSON document from a UTF-8 file; one that is not there is a DataError."""
    return parse_json(_text_of(path, DataError, _MOST_JSON), _shown(path), path)


def parse_json(text: str, name: str, path: Path = Path()) -> Node:
    """Read a JSON document from a text that messages call `name`."""
    try:
        parsed = json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_json, parse_int=_not_too_large
        )
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name}:{error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: lists and mappings are nested too deep in it") from error
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from error
    return _json_node(parsed, path, name)


def _at_most(file: BinaryIO, most: int) -> bytes:
    """What is in a file, up to so many bytes. It is read in pieces, because reading takes as much
    memory as is asked for, and a pipe does not say how much there is."""
    pieces: list[bytes] = []
    while most > 0 and (piece := file.read(min(most, _PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _text_of(path: Path, missing: type[OkbenchError], most: int) -> str:
    shown = _shown(path)
    try:
        with path.open("rb") as file:
            content = _at_most(file, most + 1)
        if len(content) > most:
            raise ConfigError(f"{shown}: longer than the {most:,} bytes that are read")
        return io.StringIO(content.decode("utf-8-sig"), newline=None).read()
    except OSError as error:
        raise missing(f"{shown}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{shown}:{line}: not UTF-8 text; save the file as UTF-8") from error


def _json_node(parsed: Any, path: Path, name: str, key: str = "") -> Node:
    kind: Kind = "scalar"
    if isinstance(parsed, dict | list):
        kind = "mapping" if isinstance(parsed, dict) else "list"
    where = f"{name}: {key}" if key else name
    value = parsed if kind == "scalar" else None
    return _JsonNode(where, kind, path, value, _parsed=parsed, _name=name, _key=key)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key '{next(k for k in keys if keys.count(k) > 1)}' stands twice")
    return members


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in JSON")


def _not_too_large(digits: str) -> int:
    if len(digits) > _MOST_DIGITS or abs(int(digits)) > _MOST_IN_JSON:
        raise ValueError(f"{digits[:20]} is too large a whole number")
    return int(digits)


class _Builder:
    """Builds the tree from the parser's events; PyYAML's own tree building knows no bounds."""

    def __init__(self, name: str, path: Path, events: Iterator[Any]) -> None:
        self._name = name
        self._path = path
        self._events = events
        self._anchors: dict[str, Node] = {}
        self._depth = 0

    def document(self) -> Node:
        next(self._events)  # the stream starts
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise ConfigError(f"{self._name}:1: the file is empty")
        first = next(self._events)
        root = self._node(first, _line(first))
        next(self._events)  # the document ends
        beyond = next(self._events)
        if not isinstance(beyond, yaml.StreamEndEvent):
            raise self._error(_line(beyond), "a second document begins; keep one per file")
        return root

    def _node(self, event: Any, line: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                what = f"no finished value is named &{event.anchor}"
                raise self._error(line, f"{what}; quote a text that begins with *")
            return replace(self._anchors[event.anchor], where=self._where(line))
        if event.tag is not None:
            raise self._error(line, f"the tag '{event.tag}' has no meaning here; remove it")
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(line, f"nested deeper than {_DEEPEST} levels")
        where = self._where(line)
        if isinstance(event, yaml.ScalarEvent):
            node = Node(
                where, "scalar", self._path, _value=self._scalar(event, line), _source=event.value
            )
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Node(where, "list", self._path, _elements=tuple(self._sequence()))
        else:
            node = Node(where, "mapping", self._path, _items=tuple(self._pairs()))
        self._depth -= 1
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _scalar(self, event: Any, line: int) -> Scalar:
        if event.style:  # in quotes
            return str(event.value)
        if _INTEGER.fullmatch(event.value) and len(event.value.lstrip("+-")) > _MOST_DIGITS:
            limit = f"a whole number has {_MOST_DIGITS} digits at most"
            raise self._error(line, f"{limit}; quote it if it is a text")
        return _meaning(event.value)

    def _sequence(self) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, _line(event))

    def _pairs(self) -> Iterator[tuple[str, Node]]:
        lines: dict[str, int] = {}
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            line = _line(key)
            if not isinstance(key, yaml.ScalarEvent) or not key.value:
                raise self._error(line, "a key must be a plain name")
            if key.value == "<<" and not key.style:
                raise self._error(line, "'<<' is not read; write the keys out")
            if key.value in lines:
                before = f"'{key.value}' is already given on line {lines[key.value] + 1}"
                raise self._error(line, f"{before}; remove one of the two")
            lines[key.value] = line
            yield key.value, self._node(next(self._events), line)

    def _error(self, line: int, message: str) -> ConfigError:
        return ConfigError(f"{self._where(line)}: {message}")

    def _where(self, line: int) -> str:
        return f"{self._name}:{line + 1}"


def _line(event: Any) -> int:
    return int(event.start_mark.line)


def _meaning(written: str) -> Scalar:
    """The value of an unquoted scalar."""
    if written in _WORDS:
        return _WORDS[written]
    if _INTEGER.fullmatch(written):
        return int(written)
    if _FLOAT.fullmatch(written):
        return float(written)
    return written


def _what_broke(error: yaml.MarkedYAMLError, text: str, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    lines = text.splitlines() or [""]
    # the parser notices an open bracket or quote only at the end of the file
    written = lines[min(line, len(lines) - 1)]
    problem = (error.problem or "not YAML").strip()
    if "\t" in written[: len(written) - len(written.lstrip())]:
        advice = "indent with spaces, not tabs"
    elif "mapping values are not allowed" in problem:
        advice = "quote a text that contains ': ', or mend the indentation"
    elif "alias" in problem or "anchor" in problem:
        advice = "write the value out, or quote a text that begins with * or &"
    else:
        opened = error.context_mark
        since = f" from line {opened.line + 1} on" if opened and opened.line != line else ""
        advice = f"check brackets, quotes and indentation{since}"
    return f"{name}:{line + 1}: {problem}; {advice}"


def _shown(path: Path) -> str:
    """The path as short as it can be: relative when it lies below the current folder."""
    try:
        return str(Path(os.path.abspath(path)).relative_to(Path.cwd()))  # noqa: PTH100
    except (ValueError, OSError):
        return str(path)
