"""The package as seen from Python: public names, what importing them loads, python -m okbench."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest

import okbench
from okbench.learners.registry import catalogue
from tests.cli.conftest import Okbench

HEAVY = {"numpy", "scipy", "pandas", "numba", "sklearn", "click", "yaml", "requests"}


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh Python has loaded after some code."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import okbench", "import okbench; dir(okbench)"])
def test_importing_and_listing_load_nothing_heavy(code: str) -> None:
    assert not HEAVY & loaded_by(code)


def test_statistics_load_scipy_when_a_test_is_asked_for() -> None:
    module = "okbench.reports.statistics"
    assert not HEAVY & loaded_by(f"import {module}")
    assert "scipy" in loaded_by(f"import {module} as s; s.paired_differences([1.0, 2.0] * 3)")


def test_load_results_loads_pandas_when_it_is_called() -> None:
    assert "pandas" not in loaded_by("from okbench import load_results")


def test_dir_lists_the_public_names() -> None:
    classes = {entry.target.partition(":")[2] for entry in catalogue().values()}
    assert {"FOGD", "ProjectronPP"} <= classes
    assert set(dir(okbench)) == classes | {"load_results", "__version__"}
    for name in dir(okbench):
        assert getattr(okbench, name) is not None


def test_a_learner_is_imported_by_its_class_name() -> None:
    from okbench import FOGD
    from okbench.learners.fogd import FOGD as OURS

    assert FOGD is OURS
    for name in ("FOGDD", "__path_of_nothing__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(okbench, name)


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("okbench") / "py.typed").is_file()


def test_python_m_okbench_is_the_command(okbench: Okbench) -> None:
    command = [sys.executable, "-m", "okbench", "list", "tables"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == okbench("list", "tables").out
    wrong = subprocess.run([*command[:-1], "tabels"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "Traceback" in wrong.stderr) == (2, False)
