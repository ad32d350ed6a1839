"""Learners and settings that a command adds to a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from okbench.base.errors import ConfigError, UsageError
from okbench.papers.additions import (
    Additions,
    read_added,
    read_additions,
    read_setting,
    split_outside_brackets,
)
from okbench.papers.search import alternatives_beside, is_overlay
from okbench.papers.table_catalogue import find
from okbench.papers.table_file import read_table
from okbench.papers.table_types import Table

TABLE = """\
title: t
paper: ours
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
settings: {width: 8, budget: 10}
datasets: {first: {rows: 50, budget: 20}, second: {}}
learners:
  FOGD: {components: 4 * budget, step: 2e-3}
  slow: {learner: OGD, step: 0.1}
cells:
  first: {FOGD: {step: 0.5}}
left_out: {second: [FOGD]}
random: [FOGD]
printed: {first: {FOGD: [10.0 %, 0.1]}}
"""


def table(folder: Path, learners: list[str], settings: list[str]) -> Table:
    path = folder / "t.yaml"
    path.write_text(TABLE, encoding="utf-8")
    return read_table(path, "t", more=read_additions(learners, settings))


def values(found: Table, dataset: str, label: str) -> dict[str, object]:
    return {name: one.value for name, one in found.settings[dataset, label].items()}


@pytest.mark.parametrize(
    ("text", "label", "settings"),
    [
        ("FOGD", "FOGD", {}),
        ("a.b:Mine", "Mine", {}),
        (" FOGD [ width = 2 ] ", "FOGD[width=2]", {"width": "2"}),
        ("m:L[widths=[0.5, 1],name=x]", "L[widths=[0.5, 1],name=x]",
         {"widths": "[0.5, 1]", "name": "x"}),
        ("FOGD[components=4 * budget]", "FOGD[components=4 * budget]",
         {"components": "4 * budget"}),
        ("FOGD[]", "FOGD", {}),
    ],
)  # fmt: skip
def test_a_learner_is_read(text: str, label: str, settings: dict[str, str]) -> None:
    found = read_added(text)
    assert (found.label, found.settings) == (label, settings)


@pytest.mark.parametrize(
    "text",
    ["", "[width=2]", "FOGD[width=2", "FOGDwidth=2]", "FOGD[width]", "FOGD[=2]", "FOGD[width=]",
     "FOGD[width=2,width=3]", "FOGD[width={a: 1}]", "FOGD[width=2]x"],
)  # fmt: skip
def test_what_is_no_learner_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_added(text)


def test_a_setting_is_read() -> None:
    assert read_setting("FOGD.width=2") == ("FOGD", "width", "2")
    assert read_setting("a.b:Mine.width = [1, 2]") == ("a.b:Mine", "width", "[1, 2]")


@pytest.mark.parametrize(
    "text", ["", "width=2", "FOGD.width", ".width=2", "FOGD.=2", "FOGD.width="]
)
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_setting(text)


def test_commas_in_brackets_separate_nothing() -> None:
    assert split_outside_brackets("A[x=1,y=[2, 3]], B,,C") == ["A[x=1,y=[2, 3]]", "B", "C"]


def test_nothing_added_is_the_same_table(tmp_path: Path) -> None:
    plain = table(tmp_path, [], [])
    assert not Additions()
    assert plain == read_table(tmp_path / "t.yaml", "t")
    assert not any(column.added for column in plain.learners)


def test_a_new_learner_takes_what_the_table_gives_for_all(tmp_path: Path) -> None:
    found = table(tmp_path, ["m:Mine", "RBP[budget=3]"], ["Mine.depth=4"])
    labels = [column.label for column in found.learners]
    assert labels == ["FOGD", "slow", "Mine[depth=4]", "RBP[budget=3]"]
    assert values(found, "first", "Mine[depth=4]") == {"width": 8, "budget": 20, "depth": 4}
    assert values(found, "second", "RBP[budget=3]") == {"width": 8, "budget": 3}
    assert [column.added for column in found.learners] == [False, False, True, True]


def test_a_variant_starts_from_the_learner_of_the_table(tmp_path: Path) -> None:
    found = table(tmp_path, ["fogd[width=2]"], ["slow.step=7", "OGD.width=1"])
    labels = [column.label for column in found.learners]
    assert labels == ["FOGD", "slow", "FOGD[width=2]", "slow[step=7,width=1]"]
    own = {"width": 2, "budget": 20, "components": 80, "step": 0.5}
    assert values(found, "first", "FOGD[width=2]") == own
    assert values(found, "second", "slow[step=7,width=1]")["step"] == 7
    assert found.learners[3].learner == "OGD"
    assert ("second", "FOGD[width=2]") in found.left_out
    assert found.random == {"FOGD", "FOGD[width=2]"}


def test_the_table_s_own_columns_stay_as_they_are(tmp_path: Path) -> None:
    plain = table(tmp_path, [], [])
    found = table(tmp_path, ["m:Mine"], ["FOGD.width=2"])
    assert found.learners[:2] == plain.learners
    assert found.printed == plain.printed
    for key, settings in plain.settings.items():
        assert found.settings[key] == settings


def test_a_new_learner_may_use_random_numbers(tmp_path: Path) -> None:
    """Nothing is known of it, so that its cells are not taken for exact."""
    assert table(tmp_path, ["m:Mine"], []).random == {"FOGD", "Mine"}


def test_an_expression_refers_to_the_cell(tmp_path: Path) -> None:
    found = table(tmp_path, [], ["FOGD.components=2 * budget"])
    assert values(found, "first", "FOGD[components=2 * budget]")["components"] == 40


def test_files_of_tables_with_points_in_their_names_are_tables(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(TABLE, encoding="utf-8")
    (tmp_path / "my.csv.yaml").write_text(TABLE, encoding="utf-8")
    (tmp_path / "my.other.yaml").write_text("table: my\ncells: {}\n", encoding="utf-8")
    assert list(alternatives_beside(tmp_path / "my.yaml")) == ["other"]
    assert is_overlay(tmp_path / "my.other.yaml")
    assert not is_overlay(tmp_path / "my.csv.yaml")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{file: rows.csv, scale: wide}", "'wide' is not one of"),
        ("{file: rows.csv, task: binry}", "Did you mean 'binary'?"),
        ("{file: rows.csv, drop: id}", "a list is expected"),
        ("{file: rows.csv, chance: half}", "a number is expected"),
        ("{file: }", "a text is expected"),
    ],
)
def test_a_file_of_rows_that_is_described_wrongly_is_refused(
    tmp_path: Path, row: str, message: str
) -> None:
    path = tmp_path / "t.yaml"
    text = TABLE.replace("{rows: 50, budget: 20}", row)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"t\.yaml:5") as refused:
        find(str(path))
    assert message in str(refused.value)


def test_the_path_of_a_file_of_rows_starts_at_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / "t.yaml"
    path.write_text(TABLE.replace("second: {}", "second: {file: ../rows.csv, target: 2}"))
    monkeypatch.chdir(tmp_path)
    (_, row) = find("sub/t.yaml").datasets
    assert row.file is not None
    assert (row.file.path, row.file.target) == (Path("rows.csv"), "2")
    monkeypatch.chdir(tmp_path / "sub")
    (_, row) = find("t.yaml").datasets
    assert row.file is not None
    assert row.file.path == tmp_path / "rows.csv"
