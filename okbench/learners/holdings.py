"""What of a model grows with the columns of the rows: a class says it, so that the memory of a
trial can be stated before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Holdings:
    """How a learner holds the vectors of its budget, and whether it has a weight for each column.

    `supports` are a table with the columns that some of them uses, a table with all columns, or
    sparse rows with their own values. `tables` of them are held at a time. `cell_weights` are the
    bytes of a weight of which each cell of an isolation map has one.
    """

    supports: Literal["used", "all", "own"] = "used"
    tables: int = 1
    weights: bool = False
    cell_weights: int = 0
