"""What every test may rely on."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.shared import SHARED, not_checked

# The first example of many compiles what it calls; how fast a machine is decides no test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


TEST_MODULES = (
    "broken", "broken_fits", "test_replay", "test_replay_recording", "test_trials_approximation",
    "test_trials_protocol", "test_tune", "trial_material", "test_folds", "test_replay_fits",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _allowed_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learners that the tests' own modules define; what a test allows besides is forgotten."""
    monkeypatch.setenv("OKBENCH_ALLOW_LEARNERS", ",".join(TEST_MODULES))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`@pytest.mark.shared("what")` needs ../shared: without it the test says what it did not
    check, and in CI it fails."""
    mark = item.get_closest_marker("shared")
    if mark is None or SHARED.is_dir():
        return
    not_checked(f"{mark.args[0]} not checked: {SHARED} is not here")
