"""A user's own rows as a dataset of a table: the file, and how it is read.

    datasets:
      my.csv:
        file: my.csv          # in the folder of the table's file
        target: y             # name of a column, or its place from 0
        task: binary
        drop: [id]
        categorical: [zip]
        missing: mean         # refuse, or the mean of the rows before
        scale: standard       # none, standard, [0,1]; in the file's order running standard
        hash: 2^18            # columns to which all are hashed (optional)

`okbench run --data` writes two more keys: the `fingerprint` of the rows that it ran, whose outcomes
alone count, and `chance`, the metric of always giving the same answer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from okbench.base.config_nodes import Node
from okbench.base.shared_types import Task
from okbench.papers.table_types import RowsFile

Missing = Literal["refuse", "mean"]
RowsScale = Literal["none", "standard", "[0,1]", "running standard", "running [0,1]"]
RUNNING = {"standard": "running standard", "[0,1]": "running [0,1]"}
ROWS_KEYS = frozenset(
    {
        "file",
        "target",
        "task",
        "categorical",
        "drop",
        "missing",
        "scale",
        "hash",
        "fingerprint",
        "chance",
    }
)


def read_rows_file(fields: Mapping[str, Node]) -> RowsFile:
    """The file that the keys of a dataset describe."""
    written = fields["file"]
    return RowsFile(
        shown_path(written.path.parent / written.text()),
        target=fields["target"].text() if "target" in fields else None,
        task=_choice(fields, "task", get_args(Task)),
        categorical=_columns(fields.get("categorical")),
        drop=_columns(fields.get("drop")),
        missing=_choice(fields, "missing", get_args(Missing)) or "refuse",
        scale=_choice(fields, "scale", get_args(RowsScale)) or "",
        hash=_buckets(fields["hash"]) if "hash" in fields else 0,
    )


def read_buckets(text: str) -> int:
    """The number of columns to which all are hashed: 2^18, or 262144. ValueError for any other."""
    base, power, exponent = text.partition("^")
    digits = [base, exponent] if power else [base]
    if all(part.isascii() and part.isdigit() and len(part) < 11 for part in digits):
        found = int(base) if not power else int(base) ** min(int(exponent), 64)
        if 2 <= found < 2**31:
            return found
    raise ValueError(
        f"'{text[:40]}' is no number of columns to hash to; write 2^18, from 2 to below 2^31"
    )


def _buckets(node: Node) -> int:
    try:
        return read_buckets(node.text())
    except ValueError as error:
        raise node.error(str(error)) from error


def shown_path(path: Path) -> Path:
    """The path from the current folder for what lies in it, else the whole path."""
    whole = Path(os.path.normpath(path.absolute()))
    here = Path.cwd()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole


def _choice(fields: Mapping[str, Node], key: str, known: tuple[str, ...]) -> str | None:
    return fields[key].choice(known) if key in fields else None


def _columns(node: Node | None) -> tuple[str, ...]:
    return () if node is None else tuple(element.text() for element in node.elements())
