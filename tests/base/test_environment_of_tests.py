"""The tests pass whatever the user has, and wherever they are started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = (
    "tests/papers/test_provenance.py::test_the_reader_of_preparations_agrees_with_the_catalogue",
    "tests/cli/test_interrupt_at_start.py::test_ctrl_c_during_an_import_ends_with_a_word_and_130",
    "tests/reports/test_render.py::test_latex_compiles",
)


def test_own_datasets_a_start_in_the_background_and_latex_without_booktabs(tmp_path: Path) -> None:
    (tmp_path / "user-datasets.yaml").write_text("no catalogue", encoding="utf-8")
    for name in ("pdflatex", "kpsewhich"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        program.chmod(0o755)
    user = {
        "OKBENCH_DATA": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CI": "",
    }
    pytest_here = [sys.executable, "-c", "import sys, pytest; sys.exit(pytest.main())", *TESTS]
    done = subprocess.run(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *pytest_here],
        cwd=ROOT, env={**os.environ, **user}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "3 passed, 2 skipped" in done.stdout
    assert "no pdflatex with booktabs" in done.stdout
