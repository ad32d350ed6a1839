"""Learners are tested as trials run them: BLAS on one thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Processes of tests that each use all cores would wait for each other."""
    with threadpool_limits(limits=1):
        yield
