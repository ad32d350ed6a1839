"""Where the recorded runs, the papers' cells and the real files lie, if they do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("OKBENCH_SHARED", Path(__file__).parents[2] / "shared"))


def not_checked(message: str) -> None:
    """Say what is not checked here, because something is missing; in CI that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
