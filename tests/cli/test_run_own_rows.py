"""A person's own rows, from the command line."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

from okbench.datasets.user import large_file
from okbench.learners.registry import Entry, catalogue
from okbench.trials.plan import user_table
from okbench.trials.store.files import Store
from tests.cli.conftest import Okbench, Printed


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Two columns of numbers, one of words, and a target that follows from them."""
    chance = random.Random(0)
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "colour", "y"])
        for _ in range(60):
            a, b = chance.random(), chance.random()
            writer.writerow([a, b, chance.choice(["red", "blue"]), "yes" if a > b else "no"])
    return path


def test_every_learner_runs_on_the_rows_and_guesses_are_printed(
    okbench: Okbench, rows: Path
) -> None:
    said = okbench("run", "--data", rows.name, "--target", "y", "--trials", "2", "--jobs", "1")
    assert said.code == 0, said.err
    assert "task: binary" in said.err
    for learner in ("FOGD", "NOGD", "OGD", "RBP"):
        assert learner in said.out
    assert Path("runs/own/rows.csv.jsonl").is_file()


@pytest.mark.parametrize("options", [(), ("--in-order",), ("--scale", "unit", "--order", "blocks")])
def test_a_large_file_gives_the_outcomes_of_a_small_one(
    okbench: Okbench, rows: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trials are the same trials, so that a run of the file in pieces has nothing left to do,
    and a run of its own makes as many mistakes."""

    def run(results: str) -> Printed:
        user_table._read.clear()  # as in a process of its own
        return okbench(
            "run", "--data", rows.name, "--target", "y", "--learners", "RBP,FOGD", "--trials", "3",
            "--jobs", "1", "--format", "csv", "--results", results, *options,
        )  # fmt: skip

    def outcomes(results: str) -> dict[str, float | None]:
        found = Store.of(Path(results), "own/rows.csv").outcomes()
        return {name: outcome.total for name, outcome in found.items()}

    whole = run("whole")
    before = outcomes("whole")
    assert whole.code == 0, whole.err
    assert len(before) >= 2
    monkeypatch.setattr(large_file, "LARGE", 1)
    resumed, afresh = run("whole"), run("pieces")
    assert "read in pieces" in afresh.err
    assert "read in pieces" not in whole.err
    assert (resumed.out, resumed.code) == (whole.out, 0)
    assert outcomes("whole") == outcomes("pieces") == before


def test_a_large_file_that_was_added_is_run_from_the_disk(
    okbench: Okbench, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_file, "LARGE", 1)
    said = okbench("add", rows.name, "--name", "mine", "--target", "y")
    assert said.out == "mine: 60 rows, 4 columns, binary\n"
    assert "read in pieces" in said.err
    rows.rename(rows.with_name("kept"))  # what is prepared is used as long as the file is there
    assert okbench("show", "mine").code == 3
    rows.with_name("kept").rename(rows)
    assert "60" in okbench("show", "mine").out


def test_rows_in_the_file_s_order_are_met_once(okbench: Okbench, rows: Path) -> None:
    said = okbench(
        "run", "--data", rows.name, "--target", "y", "--in-order", "--scale", "unit",
        "--learners", "RBP", "--format", "csv",
    )  # fmt: skip
    (cell,) = csv.DictReader(io.StringIO(said.out))
    assert (cell["n"], cell["status"]) == ("1", "done")


def test_a_table_and_rows_of_one_s_own_exclude_each_other(okbench: Okbench, rows: Path) -> None:
    assert okbench("run").code == 2
    assert okbench("run", "demo", "--data", rows.name).code == 2


def test_a_target_that_is_no_column_is_refused(okbench: Okbench, rows: Path) -> None:
    said = okbench("run", "--data", rows.name, "--target", "colur")
    assert said.code in (2, 3)
    assert "Did you mean 'colour'" in said.err


def test_a_misspelled_target_comes_before_a_missing_value(okbench: Okbench) -> None:
    Path("gaps.csv").write_text("a,b,label\n1,2,x\n3,,y\n", encoding="utf-8")
    for words in (("--target", "labl"), ("--target", "label", "--drop", "labl")):
        said = okbench("run", "--data", "gaps.csv", *words, "--dry-run")
        assert said.code == 3
        assert "no column 'labl'. Did you mean 'label'?" in said.err


def test_added_rows_can_be_used_in_a_table_and_shown(okbench: Okbench, rows: Path) -> None:
    assert okbench("add", rows.name, "--name", "mine", "--target", "y").code == 0
    Path("own.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        "learners: {RBP: {learner: RBP}}\ndatasets: {mine: {}}\n",
        encoding="utf-8",
    )
    said = okbench("run", "own.yaml", "--jobs", "1")
    assert said.code == 0, said.err
    (line,) = [x for x in okbench("list", "datasets").out.splitlines() if x.startswith("  mine ")]
    assert line.split()[:4] == ["mine", "binary", "60", "4"]


def test_an_added_dataset_is_not_scaled_and_nobody_takes_what_follows_for_a_result(
    okbench: Okbench,
) -> None:
    """A wide column decides the distance between rows alone, so that no learner is better than
    always answering the most frequent class."""
    chance = random.Random(0)
    lines = [f"{chance.random()},{chance.random()},{chance.expovariate(1e-5)}" for _ in range(200)]
    text = "".join(f"{line},{'yes' if row % 8 == 3 else 'no'}\n" for row, line in enumerate(lines))
    Path("wide.csv").write_text("a,b,income,y\n" + text, encoding="utf-8")
    said = okbench("add", "wide.csv", "--name", "wide", "--target", "y")
    assert "'income' varies" in said.err
    assert "(before okbench add: scale it in the file), or drop it" in said.err
    Path("t.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 2}\n"
        "settings: {width: 1.5}\nlearners: {FOGD: {}}\ndatasets: {wide: {}}\n",
        encoding="utf-8",
    )
    for command in ("run", "report"):
        words = " ".join(okbench(command, "t.yaml").out.split())
        assert "Warning: on wide FOGD is not better than always answering the most" in words
        assert "frequent class (12.50)" in words


def test_every_command_refuses_rows_that_name_themselves(okbench: Okbench) -> None:
    rows = "".join(f"2024-01-{n % 28 + 1:02d} 10:{n % 60},{n},{n % 2}\n" for n in range(100))
    Path("days.csv").write_text("day,a,y\n" + rows, encoding="utf-8")
    for command in (
        ("run", "--data", "days.csv", "--dry-run"),
        ("init", "days.csv"),
        ("choose", "--data", "days.csv"),
        ("add", "days.csv", "--name", "days"),
    ):
        said = okbench(*command, "--target", "y")
        assert (said.code, "'day' holds 100 different dates or times" in said.err) == (3, True)
    assert okbench("add", "days.csv", "--name", "days", "--drop", "day").code == 0


def test_targets_that_no_metric_can_hold_are_refused(okbench: Okbench) -> None:
    Path("big.csv").write_text("x,y\n1,1e300\n2,-2.5e300\n3,3e300\n", encoding="utf-8")
    said = okbench("run", "--data", "big.csv", "--task", "regression", "--learners", "OGD")
    assert said.code == 3
    assert "targets reach 3e+300" in said.err
    assert "below 1e+74" in said.err


def test_control_characters_of_names_do_not_reach_the_terminal(okbench: Okbench) -> None:
    Path("rows.csv").write_text("a\x1b[31m,b,y\n1,2,0\n3,,1\n", encoding="utf-8")
    gaps = okbench("run", "--data", "rows.csv", "--dry-run", "--target", "b")
    noted = okbench("add", "rows.csv", "--name", "mine", "--target", "a\x1b[31m", "--drop", "b")
    wrong = okbench("add", "rows.csv", "--name", "mine", "--task", "\x1b[31m")
    unknown = okbench("add", "rows.csv", "--name", "more", "--target", "c")
    for said in (gaps, noted, wrong, unknown):
        assert said.err
        assert "\x1b" not in said.err
    assert "a?[31m" in unknown.err


def test_a_column_is_called_as_its_header_says(okbench: Okbench) -> None:
    Path("years.csv").write_text("id,2019,2020\n1,2,0\n3,4,1\n", encoding="utf-8")
    said = okbench("run", "--data", "years.csv", "--target", "id", "--drop", "2019", "--dry-run")
    assert said.code == 0, said.err
    for name in ("²", "--5"):
        said = okbench("add", "years.csv", "--name", "years", f"--target={name}")
        assert (said.code, f"no column '{name}'" in said.err) == (3, True)


def test_added_rows_are_shown_with_where_they_lie(okbench: Okbench, rows: Path) -> None:
    okbench("add", rows.name, "--name", "mine")
    assert f"rows.csv from {rows}\n" in okbench("show", "mine").out
    said = okbench("fetch", "mine", "--to", "bundle")
    assert (said.code, "copy it yourself" in said.out) == (3, True)


def test_each_target_of_a_file_keeps_its_own_numbers(okbench: Okbench, rows: Path) -> None:
    def rate(target: str) -> str:
        words = ("--target", target, "--learners", "RBP", "--trials", "2", "--format", "csv")
        said = okbench("run", "--data", rows.name, "--task", "binary", *words)
        (cell,) = csv.DictReader(io.StringIO(said.out))
        return cell["mean"]

    first, other = rate("y"), rate("colour")
    assert first != other
    assert (rate("y"), rate("colour")) == (first, other)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("demo", "--in-order"), "--in-order does not go with a table"),
        (("demo", "--target", "y"), "--target does not go with a table"),
        (("demo", "--no-tune"), "--tune does not go with a table of a paper; okbench tune"),
        (("--data", "rows.csv", "--fetch"), "--fetch does not go with rows of your own"),
        (("--data", "rows.csv", "--settings", "rows.csv"), "--settings does not go with rows"),
    ],
)
def test_an_option_that_would_mean_nothing_is_refused(
    okbench: Okbench, rows: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = okbench("run", *arguments)
    assert done.code == 2
    assert said in done.err


def test_packages_that_are_broken_or_do_another_task_stop_nobody(
    okbench: Okbench, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs.py").write_text(
        "class Regresses:\n    tasks = ('regression',)\n    learn = predict = None\n",
        encoding="utf-8",
    )
    announced = [Entry("Broken", "not_there:Broken"), Entry("Regresses", "theirs:Regresses")]
    ours = {"RBP": catalogue()["RBP"]}
    all_of_them = {**ours, **{entry.name: entry for entry in announced}}
    monkeypatch.setattr("okbench.trials.plan.own_definition.catalogue", lambda: all_of_them)
    words = ("--target", "y", "--trials", "1", "--jobs", "1", "--format", "csv")
    said = okbench("run", "--data", rows.name, *words)
    assert said.code == 0, said.err
    assert (
        "learner 'not_there:Broken': No module named 'not_there', neither in this folder"
        in said.err
    )
    assert [cell["learner"] for cell in csv.DictReader(io.StringIO(said.out))] == ["RBP"]
