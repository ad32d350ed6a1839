"""okbench choose: from a file of rows to a learner and the command that uses it."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from okbench.papers.table_types import RowsFile
from okbench.trials.plan.seeds import seeded_order
from okbench.trials.plan.user_table import read_once
from tests.cli.conftest import Okbench

LEARNERS = ("--learners", "FOGD,RBP,Perceptron")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Two classes that no plane divides, in a file with a column of numbers of rows."""
    chance = random.Random(0)
    path = tmp_path / "my rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "y"])
        for row in range(900):
            a, b = chance.uniform(-2, 2), chance.uniform(-2, 2)
            writer.writerow([row, a, b, "in" if a * a + b * b < 2.4 else "out"])
    return path


def test_the_answer_is_a_frontier_and_a_command_that_runs(
    okbench: Okbench, rows: Path, tmp_path: Path
) -> None:
    asked = ("choose", "--data", rows.name, "--target", "y", "--drop", "id", *LEARNERS)
    printed = okbench(*asked, "--memory", "1M", "--page", "out/choice.html", "--format", "json")
    assert printed.code == 0, printed.err
    found = json.loads(printed.out)
    assert found["rows_raced"] == 675
    assert found["search"]["rows"] == 225
    by_label = {one["label"]: one for one in found["learners"]}
    assert set(by_label) == {"FOGD", "RBP", "Perceptron"}
    assert found["winner"] in found["frontier"]
    best = min(one["metric"] for one in by_label.values() if one["rows"] == 675)
    assert by_label[found["winner"]]["metric"] == best < 38
    for one in by_label.values():
        assert one["parts"][-1]["rows"] == one["rows"]
        assert one["metric"] == pytest.approx(100 * one["parts"][-1]["total"] / one["rows"])
    assert "3 learners fit, 0 are left out" in printed.err
    assert "search for settings:" in printed.err
    assert "about" in printed.err
    page = (tmp_path / "out" / "choice.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert (tmp_path / "out" / "assets" / "site.css").is_file()
    for label in by_label:
        assert label in page
    _, *command = shlex.split(found["use"]["command"])
    again = okbench(*command, "--trials", "2", "--jobs", "1")
    assert again.code == 0, again.err
    assert found["winner"] in again.out
    names: dict[str, object] = {}
    exec("\n".join(found["use"]["python"]), names)
    learner: Any = names["learner"]
    assert by_label[found["winner"]]["settings"].items() <= learner.get_params().items()


def test_the_lines_of_python_are_the_learner_that_was_measured(
    okbench: Okbench, rows: Path
) -> None:
    said = okbench(
        "choose", "--data", rows.name, "--drop", "id", "--seed", "5", "--learners", "FOGD",
        "--format", "json",
    )  # fmt: skip
    found = json.loads(said.out)
    (fogd,) = found["learners"]
    command, lines = found["use"]["command"], found["use"]["python"]
    assert "--seed 5 " in command
    assert lines[0] == "from okbench import FOGD"
    assert "of seed 5" in lines[-1]
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    data = read_once(RowsFile(Path(rows.name), drop=("id",))).dataset
    order = seeded_order(5, data.name, "", 0, data.n_rows)[found["search"]["rows"] :]
    answers = names["learner"].learn(data.X[order], data.y[order])
    assert (answers != data.y[order]).sum() == fogd["parts"][-1]["total"]


def test_nothing_is_recommended_where_no_learner_beats_guessing(
    okbench: Okbench, tmp_path: Path
) -> None:
    chance = random.Random(0)
    rows = [
        [chance.gauss(0, 1), chance.gauss(0, 1), "rare" if chance.random() < 0.05 else "usual"]
        for _ in range(1200)
    ]
    with (tmp_path / "noise.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a", "b", "y"], *rows])
    asked = ("choose", "--data", "noise.csv", "--learners", "FOGD,RBP,NOGD")
    printed = okbench(*asked, "--page", "noise.html")
    assert printed.code == 0, printed.err
    page = (tmp_path / "noise.html").read_text(encoding="utf-8")
    for text in (printed.out, page):
        assert "No learner is better than guessing; nothing to recommend." in text
        assert "most frequent class" in text
        assert "okbench run" not in text
        assert "import" not in text
    found = json.loads(okbench(*asked, "--format", "json").out)
    assert (found["winner"], found["use"]) == (None, None)
    assert found["nothing_to_recommend"] is True
    (guess,) = found["guesses"]
    assert guess["learner"] == "Constant"
    assert guess["rows"] == 900
    assert guess["metric"] < 7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scale", "standard"), "Columns of few.svm have mean 0 and deviation 1 on a sample"),
        (("--in-order",), "Columns of few.svm are not scaled"),
        (("--in-order", "--scale", "unit"), "Columns of few.svm go from 0 to 1 over the rows"),
    ],
)
def test_the_command_meets_the_same_rows_in_the_same_order(
    okbench: Okbench, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    """Rows that are mostly zero are not scaled unless it is asked for."""
    chance = random.Random(0)
    lines = []
    for _ in range(400):
        column, value = chance.randrange(1, 9), chance.uniform(1, 2)
        lines.append(f"{1 if column < 5 else -1} {column}:{value:.3f}")
    (tmp_path / "few.svm").write_text("\n".join(lines), encoding="utf-8")
    chosen = okbench(
        "choose", "--data", "few.svm", "--learners", "OGD", "--format", "json", *options
    )
    _, *command = shlex.split(json.loads(chosen.out)["use"]["command"])
    ran = okbench(*command, "--jobs", "1", *(() if "--in-order" in options else ("--trials", "1")))
    assert ran.code == 0, ran.err
    assert said in ran.out
    definition = (tmp_path / "runs/own/few.svm.yaml").read_text(encoding="utf-8")
    assert ("orders: file" in definition) == ("--in-order" in options)


def test_the_text_says_who_is_best_and_why_others_are_not(okbench: Okbench, rows: Path) -> None:
    printed = okbench(
        "choose", "--data", rows.name, "--drop", "id", *LEARNERS, "--unbounded-rows", "500",
        "--set", "RBP.budget=20",
    )  # fmt: skip
    assert printed.code == 0, printed.err
    assert "(mistake rate in %)" in printed.out
    assert "Left out: Perceptron: there is no budget" in printed.out
    notes = printed.out.partition("* On the frontier")[2].partition("To use it:")[0]
    assert max(map(len, notes.splitlines())) <= 100
    assert "has the best mistake rate on 675 rows." in printed.out
    assert re.search(r"Settings of RBP\[budget=20\]: .*budget 20", printed.out)
    assert "okbench run --data 'my rows.csv' --task binary --drop id" in printed.out


def test_the_same_race_gives_the_same_numbers(okbench: Okbench, rows: Path) -> None:
    def totals() -> dict[str, list[float]]:
        printed = okbench(
            "choose", "--data", rows.name, "--drop", "id", "--learners", "FOGD,RBP",
            "--time", "1h", "--format", "json",
        )  # fmt: skip
        learners = json.loads(printed.out)["learners"]
        return {one["label"]: [part["total"] for part in one["parts"]] for one in learners}

    assert totals() == totals()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--time", "5"), "'5' has no unit; write 90s, 30m or 2h"),
        (("--memory", "1"), "'1' has no unit; write 512M or 2G"),
        (("--page", "choice.pdf"), "choice.pdf: a page is an .html file"),
        (("--target", "labl"), "no column 'labl'"),
        (("--learners", "FOG"), "Did you mean 'FOGD'?"),
        (("--learners", "Norma"), "Norma: it does not do binary"),
        (("--learners", "FOGD", "--set", "FOGD.widht=2"), "Did you mean 'width'?"),
        (("--learners", "FOGD", "--set", "FOGD.width=-2"), "it must be above 0"),
        (("--learners", "FOGD", "--memory", "1k"), "and the limit is 1.02 kB"),
    ],
)
def test_bad_words_get_one_message(
    okbench: Okbench, rows: Path, options: tuple[str, ...], message: str
) -> None:
    printed = okbench("choose", "--data", rows.name, "--drop", "id", *options)
    assert printed.code in (1, 2, 3)
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_rows_that_are_not_there_are_reported(okbench: Okbench) -> None:
    printed = okbench("choose", "--data", "none.csv")
    assert printed.code == 3
    assert "no such file" in printed.err
