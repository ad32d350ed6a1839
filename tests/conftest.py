"""What every test may rely on."""

from __future__ import annotations

import os

import pytest

from tests.shared import SHARED


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`@pytest.mark.shared("what")` needs ../shared: without it the test says what it did not
    check, and in CI it fails."""
    mark = item.get_closest_marker("shared")
    if mark is None or SHARED.is_dir():
        return
    message = f"{mark.args[0]} not checked: {SHARED} is not here"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
