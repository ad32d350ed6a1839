"""ARFF: a header that names and types the columns, then delimited rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import DataError
from okbench.datasets.readers.chunks import chunks
from okbench.datasets.readers.delimited import Layout, read_delimited, unquoted
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.table import Column, ColumnTable

_HEADER_BYTES = 8 << 20
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+)\s+(\S.*)", re.IGNORECASE)
_NUMERIC = re.compile(r"(numeric|real|integer)\b", re.IGNORECASE)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,}}]*?)\s*([,}}])")


def read_arff(
    path: Path,
    *,
    missing: bool = False,
    drop: Sequence[Column] = (),
    target: Column | None = None,
    arrays: DiskArrays | None = None,
) -> ColumnTable:
    """Read a dense ARFF file; nominal and string attributes become columns of words, and the values
    that a nominal one does not declare are refused."""
    attributes: list[_Attribute] = []
    head = next(chunks(path, _HEADER_BYTES), None)
    lines = head.raw.decode("utf-8", "replace").split("\n") if head else []
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line.lower().startswith("@data"):
            break
        if line.lower().startswith("@attribute"):
            attributes.append(_Attribute.of(line, f"{path}:{number}"))
    else:
        raise DataError(f"{path}: no @data line; is this an ARFF file?")
    if not attributes:
        raise DataError(f"{path}:{number}: @data before any @attribute")
    if any(line.lstrip().startswith("{") for line in lines[number : number + 20]):
        raise DataError(
            f"{path}:{number + 1}: sparse ARFF rows are not read; convert to LIBSVM text"
        )
    layout = Layout(
        names=tuple(attribute.name for attribute in attributes),
        words=tuple(place for place, one in enumerate(attributes) if not one.is_number),
        declared={place: one.values for place, one in enumerate(attributes) if one.values},
        missing=missing,
        drop=tuple(drop),
        target=target,
        comment="%",
        skip=number,
    )
    return read_delimited(path, layout, arrays)


@dataclass(frozen=True)
class _Attribute:
    """A column as the header declares it; a nominal one lists its `values`."""

    name: str
    is_number: bool
    values: tuple[str, ...]

    @classmethod
    def of(cls, line: str, where: str) -> _Attribute:
        found = _ATTRIBUTE.match(line)
        if not found:
            raise DataError(f"{where}: an attribute without a name or a type")
        name, kind = unquoted(found[1], arff=True), found[2]
        return cls(name, bool(_NUMERIC.match(kind)), _values(kind, where))


def _values(kind: str, where: str) -> tuple[str, ...]:
    """The values of a type such as {a, 'b c'}; none of any other type."""
    if not kind.startswith("{"):
        return ()
    values, at, end = [], 1, ","
    while end == ",":
        found = _VALUE.match(kind, at)
        if not found:
            raise DataError(f"{where}: the values of an attribute are written {{a, 'b c'}}")
        values.append(unquoted(found[1], arff=True))
        at, end = found.end(), found[2]
    return tuple(values)
