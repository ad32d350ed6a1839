"""Rows as CSV that a spreadsheet shows and does not run.

Spreadsheets take a cell that begins with one of a few signs for a formula, and names of tables,
datasets and learners may come from a file that somebody else wrote. Such a text gets an apostrophe
before it; numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """The rows, headings first, as CSV."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerows(map(harmless, row) for row in rows)
    return page.getvalue()


def harmless(cell: Any) -> Any:
    """The cell, with an apostrophe before a text that a spreadsheet would run."""
    runs = isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if runs else cell
