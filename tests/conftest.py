"""What every test may rely on."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs
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


def pytest_configure(config: pytest.Config) -> None:
    """The tests see no datasets and no configuration of the user. They share the user's cache,
    because code that is compiled already saves minutes."""
    home = tempfile.TemporaryDirectory(prefix="okbench-home-")
    config.add_cleanup(home.cleanup)
    for name in ("OKBENCH_MIRROR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ.pop(name, None)
    os.environ["XDG_CACHE_HOME"] = str(platformdirs.user_cache_path())
    os.environ["OKBENCH_DATA"] = str(Path(home.name) / "data")
    os.environ["HOME"] = home.name


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts this process and those it starts, also where the tests were started in the
    background, which has the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
