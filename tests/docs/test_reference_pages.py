"""The reference of keys and settings is complete, and the site of the documents can be built."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from okbench.learners.registry import catalogue, settings_of
from okbench.papers import rows_file, table_file, table_parts
from okbench.papers.table_file import read_table
from okbench.papers.table_types import Shown
from okbench.protocols.registry import PROTOCOLS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/table-keys.md").read_text(encoding="utf-8")


def _listed(section: str) -> set[str]:
    """The keys in the first column of a section."""
    (part,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    first = re.findall(r"^\| ([^|]*) \|", part, re.MULTILINE)
    return {name for cell in first for name in re.findall(r"`([^`]+)`", cell)}


def test_every_key_of_a_table_is_listed() -> None:
    keys = set().union(*table_file._KNOWN.values(), table_file._EXTENSION)
    assert _listed("The table") == keys


def test_every_key_of_a_protocol_a_dataset_and_a_learner_is_listed() -> None:
    own = [kind.key for kind in PROTOCOLS.values() if kind.key]
    asked = {key.name for key in own if key.place == "protocol"}
    counts = {*table_parts._RUNS, *table_parts._LIMITS}
    assert _listed("protocol") == {"kind", "metric", "orders", *counts, *asked}
    assert _listed("datasets") == {*table_parts._ROW_KEYS, *rows_file.ROWS_KEYS}
    asked = {key.name for key in own if key.place == "column"}
    assert _listed("learners") == {*table_parts._COLUMN_KEYS, *asked}
    assert _listed("report") == {field.name for field in fields(Shown)}


@pytest.mark.parametrize("number", range(PAGE.count("```yaml")))
def test_every_example_is_a_table(number: int, tmp_path: Path) -> None:
    block = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[number]
    file = tmp_path / "example.yaml"
    file.write_text(block, encoding="utf-8")
    assert read_table(file, "example").learners


def test_the_site_is_built_with_every_setting_and_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--site-dir",
         str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/reference/settings.html").read_text(encoding="utf-8")
    for entry in catalogue().values():
        assert f"{entry.name}</h2>" in page
        for name in settings_of(entry.load()):
            assert f"<code>{name}</code>" in page
    commands = (tmp_path / "site/reference/commands.html").read_text(encoding="utf-8")
    assert 'id="check-learner"' in commands
    loaded = re.findall(
        r'(?:src|href)="(https?://[^"]+)"[^>]*(?:rel="stylesheet"|></script>)', page
    )
    assert loaded == []  # nothing comes from another host
