"""How learners of the tests are run."""

from __future__ import annotations

import pytest


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """All learners run in threads, as the compiled ones of okbench do: starting a process takes a
    second, and where trials run is tested in test_trials_execute.py."""
    monkeypatch.setattr("okbench.trials.run.execute._is_trusted", lambda learner: True)
