"""ARFF: a header that names and types the columns, then delimited rows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from okbench.base.errors import DataError
from okbench.datasets.readers.chunks import chunks
from okbench.datasets.readers.delimited import Layout, read_delimited
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.table import ColumnTable

_HEADER_BYTES = 8 << 20
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+(\S.*)", re.IGNORECASE)
_NUMERIC = re.compile(r"(numeric|real|integer)\b", re.IGNORECASE)


def read_arff(
    path: Path, *, missing: bool = False, arrays: DiskArrays | None = None
) -> ColumnTable:
    """Read a dense ARFF file; nominal and string attributes become columns of words."""
    names: list[str] = []
    words: list[str] = []
    head = next(chunks(path, _HEADER_BYTES), None)
    lines = head.raw.decode("utf-8", "replace").split("\n") if head else []
    for number, line in enumerate(map(str.strip, lines), start=1):
        if line.lower().startswith("@data"):
            break
        if not line.lower().startswith("@attribute"):
            continue
        found = _ATTRIBUTE.match(line)
        if not found:
            raise DataError(f"{path}:{number}: an attribute without a name or a type")
        names.append(found[1].strip("'\""))
        if not _NUMERIC.match(found[2]):
            words.append(names[-1])
    else:
        raise DataError(f"{path}: no @data line; is this an ARFF file?")
    if not names:
        raise DataError(f"{path}:{number}: @data before any @attribute")
    if any(line.lstrip().startswith("{") for line in lines[number : number + 20]):
        raise DataError(
            f"{path}:{number + 1}: sparse ARFF rows are not read; convert to LIBSVM text"
        )
    layout = Layout(
        names=tuple(names), words=tuple(words), missing=missing, comment="%", skip=number
    )
    table = read_delimited(path, layout, arrays)
    unquoted = {
        column: tuple(word.strip("'") for word in found) for column, found in table.words.items()
    }
    return replace(table, words=unquoted)
