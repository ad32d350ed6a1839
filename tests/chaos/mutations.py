"""Random changes to the bytes of a file, and to the values of a JSON document."""

from __future__ import annotations

import json
import random
import re
import struct
from copy import deepcopy
from typing import Any

_BYTES = (
    *(b"\0", b"\xff", b"\n", b"\r\n", b"\t", b",", b":", b" ", b"'", b'"', b"{", b"}", b"[", b"]"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"#", b"%", b"&a", b"*a", b"|", b"!!python/"),
)
_NUMBERS = (
    *(b"-1", b"0", b"1", b"255", b"65536", b"2147483648", b"4294967295", b"9223372036854775808"),
    *(b"109951162", b"10000000", b"1e400", b"-1e308", b"5e-324", b"nan", b"inf", b"-0.0", b"1_0"),
    *(b"0x1f", b"9" * 400, b"1" * 5000, b"+", b".", b"e5", b"1e", b"\xd9\xa3"),
)
_WHOLE = (0, 1, 2, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 10**7, 10**9)
_DIGITS = re.compile(rb"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.5, -0.0, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400),
    *("", " ", "NaN", "Infinity", "-Infinity", "\\NaN", "1", "1e400", "x" * 3000, "\0", "\ud800"),
    *("../../x", "/dev/null", "=1+1", "<script>", "\x1b[2J", "module:Class", "os:system"),
    *("4 * budget", "{value: 1}", "2020-01-01", "é" * 40, [], {}, [[]], [None], [0, "a"], {"": 0}),
    *({"a": {"b": []}}, [1.5] * 2000, "9**9**9", 1e308),
)  # fmt: skip
_DEEP = 3000  # lists within each other
_LONGEST = 1 << 18  # bytes of a mutated file


def mutated_bytes(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """The bytes after one to four random changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(_CHANGES)(draw, data, others)
    return data[:_LONGEST]


def mutated_json(draw: random.Random, text: bytes) -> Any:
    """The value of a JSON text after one to three random changes below its top."""
    box = [json.loads(text)]
    for _ in range(draw.choice((1, 1, 2, 3))):
        _change_value(draw, box)
    return box[0]


def to_text(draw: random.Random, value: Any) -> bytes:
    """A value as JSON, now and then far too deep."""
    text = json.dumps(value, ensure_ascii=draw.random() < 0.8).encode("utf-8", "surrogatepass")
    if draw.random() < 0.005:
        text = text.replace(b"0", b"[" * _DEEP + b"]" * _DEEP, 1)
    return text


def _change_value(draw: random.Random, box: list[Any]) -> None:
    container, key = _place(draw, box)
    value = container[key]
    match draw.randrange(7):
        case 0 | 1 | 2:
            container[key] = deepcopy(draw.choice(_VALUES))
        case 3 if container is not box:
            del container[key]
        case 4 if isinstance(container, dict):
            container[draw.choice((f"{key}s", "", "id", "version", key.upper()))] = container.pop(
                key
            )
        case 5 if isinstance(value, int | float) and abs(value) < 1e300:
            container[key] = draw.choice((-value, value + 1, value * 10**6, value / 2, str(value)))
        case 5 if isinstance(value, list) and value:
            container[key] = draw.choice((value * 3, value[:-1], value[::-1], dict.fromkeys("ab")))
        case _:
            container[key] = draw.choice(([value], {"value": value}, str(value)))


def _place(draw: random.Random, box: list[Any]) -> tuple[Any, Any]:
    """A random place: down from the top, stopping by chance, so that all depths are met."""
    container, key = box, 0
    while True:
        value = container[key]
        inside = isinstance(value, dict | list) and value
        if not inside or (container is not box and draw.random() < 0.25):
            return container, key
        key = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
        container = value


def _span(draw: random.Random, data: bytes) -> tuple[int, int]:
    start = draw.randrange(len(data) + 1)
    return start, min(len(data), start + draw.choice((1, 1, 2, 4, 8, 40, 400)))


def _flip(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    if not data:
        return data
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


def _replace(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    start, end = _span(draw, data)
    return data[:start] + draw.randbytes(end - start) + data[end:]


def _insert(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    start, _ = _span(draw, data)
    return data[:start] + draw.choice(_BYTES) * draw.choice((1, 1, 1, 2, 1000)) + data[start:]


def _delete(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    start, end = _span(draw, data)
    return data[:start] + data[end:]


def _double(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    start, end = _span(draw, data)
    return data[:end] + data[start:end] * draw.choice((1, 2, 50)) + data[end:]


def _cut(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _number(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """Another number in the place of one that is written in digits."""
    found = list(_DIGITS.finditer(data[:20_000]))
    if not found:
        return _flip(draw, data, others)
    start, end = draw.choice(found).span()
    return data[:start] + draw.choice(_NUMBERS) + data[end:]


def _integer(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """Another binary integer, mostly in the header."""
    if len(data) < 8:
        return data
    at = draw.randrange(min(len(data) - 4, draw.choice((16, 200, len(data)))) or 1)
    form = draw.choice(("<I", ">I", "<Q", "<H"))
    raw = struct.pack(form, draw.choice(_WHOLE) % 2 ** (8 * struct.calcsize(form)))
    return data[:at] + raw + data[at + len(raw) :]


def _lines(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    lines = data.split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _splice(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    other = draw.choice(others)
    return data[: draw.randrange(len(data) + 1)] + other[draw.randrange(len(other) + 1) :]


_CHANGES = (
    *(_flip, _replace, _insert, _delete, _double, _cut, _number, _number, _integer, _lines),
    _splice,
)
