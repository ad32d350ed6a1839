"""Types that every layer names."""

from __future__ import annotations

from typing import Literal

Task = Literal["binary", "multiclass", "regression"]
