"""Tables read from files written here."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from okbench.base.errors import ConfigError, UsageError
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_types import PrintedCell, Setting

TABLE = """\
title: A table
paper: ours
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
settings:
  width: 8
  budget: 100
datasets:
  first: {rows: 50, budget: 10}
  second: {variant: small, orders: published}
learners:
  OGD:
  mine: {learner: own:Learner, step: {value: 1e-3, inferred: a guess}, components: 4 * budget}
cells:
  second:
    mine: {budget: 7}
left_out:
  second: [OGD]
printed:
  first:
    OGD: [29.5 % ± 0.5, 0.130]
    mine: NA
"""


def put(folder: Path, text: str, name: str = "ours/table1") -> Path:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    put(folder, text)
    with pytest.raises(ConfigError) as caught:
        find("ours/table1", folder)
    return str(caught.value).removeprefix(f"{folder}/ours/")


def test_a_table_is_read_as_written(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    table = find("ours/table1", tmp_path)
    first, second = table.datasets
    assert (table.name, table.title, table.paper) == ("ours/table1", "A table", "ours")
    assert (table.protocol.kind, table.protocol.metric, table.protocol.runs) == (
        "single-pass",
        "mistake_rate",
        3,
    )
    assert (first.rows, first.variant, second.variant) == (50, "", "small")
    assert [table.orders_of(row) for row in table.datasets] == ["seeded", "published"]
    assert [(c.label, c.learner) for c in table.learners] == [
        ("OGD", "OGD"),
        ("mine", "own:Learner"),
    ]
    assert table.left_out == {("second", "OGD")}
    assert table.lower_is_better


def test_what_is_said_of_less_counts_more(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    settings = find("ours/table1", tmp_path).settings
    assert settings["first", "OGD"]["budget"].value == 10  # the dataset's over the table's
    assert settings["second", "OGD"]["budget"].value == 100
    assert settings["second", "mine"]["budget"].value == 7  # the cell's over all
    assert settings["first", "mine"]["components"].value == 40  # from the cell's own budget
    assert settings["second", "mine"]["components"].value == 28


def test_a_learners_word_counts_more_than_its_datasets(tmp_path: Path) -> None:
    put(tmp_path, TABLE.replace("  OGD:\n", "  OGD: {budget: 3}\n", 1))
    assert find("ours/table1", tmp_path).settings["first", "OGD"]["budget"].value == 3


def test_only_what_is_said_of_a_learner_must_be_taken_by_it(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    settings = find("ours/table1", tmp_path).settings
    assert {name: s.shared for name, s in settings["second", "mine"].items()} == {
        "width": True,
        "budget": False,
        "step": False,
        "components": False,
    }
    assert settings["first", "OGD"]["budget"].shared


def test_a_setting_knows_its_source_and_line(tmp_path: Path) -> None:
    path = put(tmp_path, TABLE)
    settings = find("ours/table1", tmp_path).settings["first", "mine"]
    assert settings["step"] == Setting(0.001, "inferred", "a guess", f"{path}:12")
    assert settings["width"] == Setting(8, "printed", "", f"{path}:5", shared=True)


def test_printed_cells_keep_the_paper_s_words(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    assert find("ours/table1", tmp_path).printed == {
        ("first", "OGD"): PrintedCell("first", "OGD", 29.5, 0.5, 0.13, "29.5 % ± 0.5", "0.130"),
        ("first", "mine"): PrintedCell("first", "mine", None, text="NA"),
    }


@pytest.mark.parametrize(
    ("written", "mean", "std", "seconds"),
    [
        ("[0.04017±0.00043, 0.028]", 0.04017, 0.00043, 0.028),
        ("[94.89% ± 0.41, '132.50']", 94.89, 0.41, 132.5),
        ("[98.33%, 54.91]", 98.33, None, 54.91),
        ("['1,234.5 ± 2', '> 1 week']", 1234.5, 2.0, None),
        ("['-ME-']", None, None, None),
        ("{text: 12 ± 1, note: italic}", 12.0, 1.0, None),
    ],
)
def test_numbers_are_found_in_the_words(
    tmp_path: Path, written: str, mean: float | None, std: float | None, seconds: float | None
) -> None:
    put(tmp_path, TABLE.replace("mine: NA", f"mine: {written}"))
    cell = find("ours/table1", tmp_path).printed["first", "mine"]
    assert (cell.mean, cell.std, cell.seconds) == (mean, std, seconds)


@pytest.mark.parametrize(
    ("written", "seconds"), [("2h", 7200.0), ("90s", 90.0), ("1.5m", 90.0), ("45", 45.0)]
)
def test_a_time_limit_is_read_with_its_unit(tmp_path: Path, written: str, seconds: float) -> None:
    put(tmp_path, TABLE)
    assert find("ours/table1", tmp_path).protocol.time_limit == math.inf
    put(tmp_path, TABLE.replace("runs: 3", f"runs: 3, time_limit: {written}"))
    assert find("ours/table1", tmp_path).protocol.time_limit == seconds


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("title: A table\n", "", "table1.yaml:1: 'title' is missing"),
        (
            "learners:\n",
            "learnres:\n",
            "table1.yaml:10: 'learnres' is not a key here. Did you mean",
        ),
        ("runs: 3", "runs: 2.5", "table1.yaml:3: a whole number is expected, not '2.5'"),
        ("runs: 3", "runs: 0", "table1.yaml:3: 0 is too small"),
        ("kind: single-pass", "kind: singlepass", "Did you mean 'single-pass'?"),
        ("runs: 3", "runs: 3, block: 5", "table1.yaml:3: 'block'"),
        ("runs: 3", "runs: 3, time_limit: 2w", "table1.yaml:3: a time such as 90s, 30m or 2h is"),
        ("runs: 3", "runs: 3, time_limit: 0s", "table1.yaml:3: a time such as 90s, 30m or 2h is"),
        ("kind: single-pass", "kind: block-stream", "table1.yaml:3: 'block'"),
        ("  width: 8\n", "  width: 8\n  width: 9\n", "table1.yaml:6: 'width' is already given"),
        ("  width: 8\n", "\twidth: 8\n", "table1.yaml:5: "),
        ("  width: 8\n", "  width:\n", "table1.yaml:5: a value is missing"),
        (
            "  width: 8\n",
            "  width: [8, [9]]\n",
            "table1.yaml:5: a list of settings holds numbers and words",
        ),
        ("inferred: a guess", "gessed: a guess", "table1.yaml:12: 'gessed' is not a key here"),
        ("inferred: a", "found: b, inferred: a", "table1.yaml:12: a setting has one source"),
        ("4 * budget", "4 * budgets", "table1.yaml:12: no setting 'budgets' to compute with. Did"),
        ("4 * budget", "4 * (budget", "table1.yaml:12: '4 * (budget' is not an expression"),
        ("4 * budget", "4 / (budget - 7)", "table1.yaml:12: '4 / (budget - 7)' has no value"),
        ("4 * budget", "2 * components", "components → components goes round in a circle"),
        ("4 * budget", "2 * rows", "table1.yaml:12: the dataset does not give its 'rows'"),
        ("budget: 7", "step: 2 * missing", "table1.yaml:15: no setting 'missing'"),
        (
            "second: [OGD]",
            "second: [ODG]",
            "table1.yaml:17: 'ODG' is no learner of this table. Did",
        ),
        ("  second:\n    mine", "  secnod:\n    mine", "table1.yaml:14: 'secnod' is no dataset"),
        ("    mine: NA", "    mien: NA", "table1.yaml:21: 'mien' is no learner of this table."),
        ("mine: NA", "mine: [1, 2, 3]", "table1.yaml:21: a printed cell is [metric]"),
        ("orders: published", "orders: printed", "table1.yaml:9: 'printed' is not one of"),
        ("learners:\n  OGD:\n", "learners: {}\nleft: [\n", "table1.yaml:"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_line(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    assert before in TABLE
    message = refusal(tmp_path, TABLE.replace(before, after, 1))
    assert words in message
    assert "table1.yaml:" in message


def test_a_table_needs_learners(tmp_path: Path) -> None:
    text = "title: t\nprotocol: {kind: single-pass, metric: rmse, runs: 1}\n"
    assert "a table needs learners" in refusal(tmp_path, f"{text}datasets: {{a: }}\nlearners: {{}}")


def test_names_come_with_what_a_listing_shows(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, TABLE.replace("paper: ours", "short: quick"), "demo")
    demo, table = names(tmp_path)
    assert (demo.name, demo.short, table.name, table.short) == ("demo", "quick", "ours/table1", "")
    assert (table.title, table.datasets, table.learners) == (
        "A table",
        ("first", "second"),
        ("OGD", "mine"),
    )


def test_a_table_is_found_by_its_full_and_its_last_name_in_any_case(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    for name in ("ours/table1", "table1", "TABLE1", "Ours/Table1"):
        assert find(name, tmp_path).name == "ours/table1"


def test_a_last_name_of_two_papers_must_be_said_in_full(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, TABLE, "theirs/table1")
    with pytest.raises(UsageError, match="'table1' could be ours/table1 or theirs/table1"):
        find("table1", tmp_path)


def test_a_claimed_short_name_means_the_claimant(tmp_path: Path) -> None:
    put(tmp_path, TABLE.replace("paper: ours", "short: table1"))
    put(tmp_path, TABLE, "theirs/table1")
    assert find("table1", tmp_path).name == "ours/table1"
    assert find("theirs/table1", tmp_path).name == "theirs/table1"


def test_two_claims_of_one_short_name_clash(tmp_path: Path) -> None:
    put(tmp_path, TABLE.replace("paper: ours", "short: one"))
    put(tmp_path, TABLE.replace("paper: ours", "short: One"), "theirs/table2")
    with pytest.raises(ConfigError, match="short name 'One': ours/table1 and theirs/table2"):
        find("one", tmp_path)


def test_an_unknown_table_is_refused_with_the_one_meant(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    with pytest.raises(UsageError, match=r"no table 'tabel1'\. Did you mean 'table1'\?"):
        find("tabel1", tmp_path)


def test_a_file_of_ones_own_is_a_table(tmp_path: Path) -> None:
    path = put(tmp_path, TABLE, "mine")
    assert find(str(path)).name == "mine"


def test_settings_computed_one_from_the_other_without_end_are_refused(tmp_path: Path) -> None:
    chain = ", ".join(f"a{n}: 1 + a{n + 1}" for n in range(2000))
    text = TABLE.replace("first: {rows: 50, budget: 10}", f"first: {{{chain}, a2000: 1}}")
    assert refusal(tmp_path, text).endswith(": too many settings are computed one from the other")
