"""The benchmark of the isolation kernel reaches into learners, so it is run where they change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import bench_isolation


@pytest.mark.parametrize("table", [bench_isolation._learners, bench_isolation._parts])
def test_learners_on_cells_are_measured(table: Callable[[int, int], str]) -> None:
    assert "1,200" in table(1200, 1)
