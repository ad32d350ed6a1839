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
