"""Searches described by tables, and settings chosen by them, in files written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from okbench.errors import ConfigError
from okbench.papers.nouns import Sweep
from okbench.papers.tables import find, names

TABLE = """\
title: A table
paper: ours
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
datasets: {first: , second: }
learners: {OGD: {step: {value: 0.2, inferred: not known}}, FOGD: {step: 0.1}}
cells:
  second: {OGD: {step: {value: 0.3, found: in a file}}}
tune:
  step: {values: [2, 0.2, 2e-2]}
  subset: {value: 0.1, inferred: not told}
  at_least: 50
  runs: 2
"""
TUNED = """\
table: ours/table1
cells:
  first: {OGD: {step: {value: 0.02, tuned: best of 3}}}
  second: {OGD: {step: 2}}
"""


def put(folder: Path, text: str, name: str = "ours/table1") -> Path:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def steps(folder: Path, tuned: Path | None = None) -> list[tuple[object, str]]:
    settings = find("ours/table1", folder, tuned=tuned).settings
    found = [settings[name, "OGD"]["step"] for name in ("first", "second")]
    return [(step.value, step.source) for step in found]


def test_a_search_is_read_with_its_reasons(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    search = find("ours/table1", tmp_path).search
    assert search is not None
    where = search.sweep.where
    assert search.sweep == Sweep("step", (2, 0.2, 0.02), where=where)
    assert (search.subset, search.at_least, search.runs) == (0.1, 50, 2)
    assert search.reasons == {"subset": "not told"}


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("value: 0.1, inferred: not told", "value: 1.5", "at most 1"),
        ("  runs: 2\n", "", "'runs' is missing"),
        ("  runs: 2\n", "  runs: 2\n  width: {values: [1, 2]}\n", "one setting is searched"),
        ("at_least: 50", "at_least: 0", "must be 1 or more"),
    ],
)
def test_a_search_written_wrongly_is_refused(
    tmp_path: Path, was: str, wrong: str, said: str
) -> None:
    put(tmp_path, TABLE.replace(was, wrong))
    with pytest.raises(ConfigError, match=said):
        find("ours/table1", tmp_path)


def test_tuned_settings_beside_a_table_count_and_are_marked(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    assert steps(tmp_path) == [(0.2, "inferred"), (0.3, "found")]
    put(tmp_path, TUNED, "ours/table1.tuned")
    assert steps(tmp_path) == [(0.02, "tuned"), (2, "tuned")]
    step = find("ours/table1", tmp_path).settings["second", "OGD"]["step"]
    assert "table1.tuned.yaml:4" in step.reason


def test_tuned_settings_are_no_table(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, TUNED, "ours/table1.tuned")
    assert [card.name for card in names(tmp_path)] == ["ours/table1"]


def test_tuned_settings_named_count_instead_of_those_beside(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, TUNED, "ours/table1.tuned")
    mine = put(tmp_path, TUNED.replace("0.02", "0.5").replace("  second: {OGD: {step: 2}}\n", ""),
               "elsewhere/mine.tuned")  # fmt: skip
    assert steps(tmp_path, mine) == [(0.5, "tuned"), (0.3, "found")]


def test_curves_are_drawn_with_the_tuned_settings_of_their_table(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(
        tmp_path, "title: F\nkind: curves\nof: table1\ndraw: {quantities: [metric]}", "ours/figure1"
    )
    put(tmp_path, TUNED, "ours/table1.tuned")
    assert find("figure1", tmp_path).settings["first", "OGD"]["step"].value == 0.02


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("ours/table1", "ours/table2", "tuned for ours/table2, not for ours/table1"),
        ("first:", "frist:", "Did you mean 'first'"),
        ("cells:", "cell:", "Did you mean 'cells'"),
    ],
)
def test_tuned_settings_of_something_else_are_refused(
    tmp_path: Path, was: str, wrong: str, said: str
) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, TUNED.replace(was, wrong, 1), "ours/table1.tuned")
    with pytest.raises(ConfigError, match=said):
        find("ours/table1", tmp_path)
