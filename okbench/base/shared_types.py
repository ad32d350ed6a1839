"""Types and words that every layer names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Task = Literal["binary", "multiclass", "regression"]
# a scale of a user's columns by the word that chooses it on the command line
SCALES: Mapping[str, str] = {"none": "none", "unit": "[0,1]", "standard": "standard"}
