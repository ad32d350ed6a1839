"""Ctrl-C while the modules of a command are still being loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

INTERRUPTED = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)\n"


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_during_an_import_ends_with_a_word_and_130(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(INTERRUPTED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "okbench", "show", "digits"],
        capture_output=True, text=True, timeout=60,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "Interrupted.")


def test_the_installed_command_is_the_same() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["scripts"] == {"okbench": "okbench.__main__:main"}
