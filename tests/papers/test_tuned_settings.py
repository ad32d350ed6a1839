"""Searches described by tables, and settings chosen by them, in files written here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from okbench.base.errors import ConfigError
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_types import Range

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
    where = search.ranges[0].where
    assert search.ranges == (Range("step", (2, 0.2, 0.02), where=where),)
    assert (search.subset, search.at_least, search.runs) == (0.1, 50, 2)
    assert search.reasons == {"subset": "not told"}


def test_several_settings_are_searched_each_with_its_own_source(tmp_path: Path) -> None:
    more = """\
  decay:
    values: [0.25 / rows, 4 / rows]
    except: [FOGD]
    inferred: lost
  together: 8
  ties: smallest
  subset: {value: 0.1, datasets: {second: 0.01}, inferred: not told}
"""
    put(tmp_path, TABLE.replace("  subset: {value: 0.1, inferred: not told}\n", more))
    search = find("ours/table1", tmp_path).search
    assert search is not None
    assert [range_.name for range_ in search.ranges] == ["step", "decay"]
    decay = search.ranges[1]
    assert (decay.values, decay.spared) == (("0.25 / rows", "4 / rows"), ("FOGD",))
    assert (decay.source, decay.reason) == ("inferred", "lost")
    assert (search.subset, search.subsets, search.together) == (0.1, {"second": 0.01}, 8)
    assert search.ties == "smallest"
    assert search.reasons == {"subset": "not told"}


def test_a_table_may_search_as_the_one_beside_it(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    alone = TABLE[: TABLE.index("tune:")]
    put(tmp_path, alone + "tune: {of: table1, runs: 5}\n", "ours/table2")
    first, second = (find(f"ours/table{n}", tmp_path).search for n in (1, 2))
    assert first is not None
    assert second == replace(first, runs=5)


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("value: 0.1, inferred: not told", "value: 1.5", "at most 1"),
        ("  runs: 2\n", "", "'runs' is missing"),
        ("  step: {values: [2, 0.2, 2e-2]}\n", "", "no setting is searched"),
        ("[2, 0.2, 2e-2]", "[2]", "two values or more"),
        ("[2, 0.2, 2e-2]", "[2, two]", "a number is expected"),
        ("inferred: not told}", "datasets: {frist: 0.5}}", "Did you mean 'first'"),
        ("inferred: not told}", "datasets: {first: 5}}", "at most 1"),
        ("at_least: 50", "at_least: 50\n  of: table9", "no table 'table9' stands beside"),
        ("at_least: 50", "at_least: 50\n  of: table1", "has no 'tune:' of its own"),
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
        ("ours/table1", "ours/table2", "those of ours/table2, not of ours/table1"),
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
