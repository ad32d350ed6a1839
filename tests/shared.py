"""Where the recorded runs, the papers' cells and the real files lie, if they do."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")

SHARED = Path(os.environ.get("OKBENCH_SHARED", Path(__file__).parents[2] / "shared"))


def not_checked(message: str) -> None:
    """Say what is not checked here, because something is missing; in CI that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def needed(module: str, what: str) -> Any:
    """A module that not every installation has; without it `what` is not checked."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return not_checked(f"{what} not checked: no {module.partition('.')[0]} here")


def mostly_slow(cases: Iterable[Case], quick: Collection[Case]) -> list[Any]:
    """The cases of a test, of which `make test` runs the quick ones, and `make test-slow` the
    others."""
    return [pytest.param(case, marks=() if case in quick else pytest.mark.slow) for case in cases]


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """All trials run in threads, as those of compiled learners do: starting a process takes a
    second, and where trials run is tested in tests/trials/test_trials_execute.py."""
    monkeypatch.setattr("okbench.trials.run.execute._backend", lambda trial, options: "threads")
