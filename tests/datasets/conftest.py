"""Fixtures of the tests of datasets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.datasets.fetch_world import World
from tests.datasets.server import LyingServer


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """An empty data folder and a server that misbehaves on request."""
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("OKBENCH_MIRROR", raising=False)
    with LyingServer() as server:
        yield World(tmp_path / "data", server)
