"""SECURITY.md: every guard names tests that exist, and the guards that no other test shows."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from okbench.base.config_nodes import read_yaml
from okbench.base.errors import OkbenchError
from okbench.cli.run import run as command
from okbench.trials.replay.record import read_record
from okbench.trials.replay.replaying import replay

ROOT = Path(__file__).parents[2]
NAMED = sorted(
    set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text("utf-8")))
)


class Trap:
    """An object that leaves a file behind when its pickle is loaded."""

    def __init__(self, sprung: Path) -> None:
        self.sprung = sprung

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.sprung),)


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_guard_names_a_test_that_exists(file: str, test: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert not test or test in {node.name for node in tree.body if hasattr(node, "name")}


def test_every_input_that_is_not_trusted_names_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 7
    assert all("`tests/" in row.split("|")[3] for row in rows)


def test_a_pickle_in_a_file_of_rows_is_not_loaded(tmp_path: Path) -> None:
    sprung, path = tmp_path / "sprung", tmp_path / "rows.npy"
    np.save(path, np.array([[Trap(sprung), 1.0]], dtype=object), allow_pickle=True)
    error = CliRunner().invoke(command, ["--data", str(path)]).exception
    assert isinstance(error, OkbenchError)
    assert "rows.npy" in str(error)
    assert not sprung.exists()
    np.load(path, allow_pickle=True)
    assert sprung.exists()  # the trap works


def test_a_pickle_in_an_array_of_a_record_is_not_loaded(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    np.save(tmp_path / "X.npy", np.array([[Trap(sprung)]], dtype=object), allow_pickle=True)
    record = {
        "okbench": "record", "schema": 1, "task": "binary", "learner": "Perceptron",
        "settings": {"width": 1.0}, "rows": {"X": {"file": "X.npy"}, "y": [1]},
    }  # fmt: skip
    (tmp_path / "r.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(OkbenchError, match=r"X\.npy"):
        replay(read_record(tmp_path / "r.json"))
    assert not sprung.exists()


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.mkdir", "!!python/name:os.mkdir", "!a"])
def test_a_tag_in_a_yaml_file_makes_no_object(tag: str, tmp_path: Path) -> None:
    sprung, path = tmp_path / "sprung", tmp_path / "t.yaml"
    path.write_text(f"title: {tag} ['{sprung}']\n", encoding="utf-8")
    with pytest.raises(OkbenchError, match=r"t\.yaml:1: the tag .* has no meaning here; remove it"):
        read_yaml(path)
    assert not sprung.exists()


def test_the_current_folder_replaces_no_installed_module(tmp_path: Path) -> None:
    (tmp_path / "yaml.py").write_text("raise SystemExit('replaced')\n", encoding="utf-8")
    (tmp_path / "numpy.py").write_text("raise SystemExit('replaced')\n", encoding="utf-8")
    program = Path(sys.executable).with_name("okbench")
    done = subprocess.run(
        [program, "report", "demo", "--results", ROOT / "results"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "replaced" not in done.stdout + done.stderr
