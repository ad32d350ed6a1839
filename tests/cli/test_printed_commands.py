"""Commands that messages and pages print: each one parses, and means what stands beside it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from okbench.cli import okbench as commands
from okbench.papers.commands import command, run_command
from okbench.papers.table_catalogue import find, names
from okbench.reports.site.trial_lists import cell_command
from okbench.trials.plan.cells import chosen_cells, row_key
from okbench.trials.plan.options import Options
from tests.cli.conftest import Okbench

COMMAS = """\
title: Labels with commas
protocol: {kind: single-pass, metric: mistake_rate, runs: 2}
settings: {width: 8, budget: 20}
learners:
  RBP: {}
  "RBP, small": {learner: RBP, budget: 5}
  "it's: FOGD [x, y]": {learner: FOGD, components: 16, step: 0.1}
datasets:
  breast-cancer: {}
"""
MINE = """\
class Mine:
    def begin(self, problem, draws):
        self.first = problem.classes[0]

    def learn(self, X, y):
        return [self.first] * len(y)

    def predict(self, X):
        return [self.first] * X.shape[0]
"""


def parsed(line: str) -> dict[str, Any]:
    """The parameters of a command, as click reads them."""
    program, verb, *words = shlex.split(line)
    assert program == "okbench"
    found = commands.get_command(click.Context(commands), verb)
    assert found is not None
    return found.make_context(verb, words).params


def printed_in(text: str) -> list[str]:
    return [line.strip(" →") for line in text.splitlines() if "okbench run" in line]


@pytest.mark.parametrize("name", [card.name for card in names()])
def test_the_command_of_every_shipped_cell_names_this_cell_alone(name: str) -> None:
    table = find(name)
    for row in table.datasets:
        for column in table.learners:
            read = parsed(cell_command(table, (row_key(table, row), column.label)))
            assert read["table"] == name
            asked = Options(datasets=read["datasets"], learners=read["learners"])
            assert chosen_cells(table, asked) == [(row, column)]


def test_the_commands_of_all_claims_parse(okbench: Okbench) -> None:
    found = printed_in(okbench("claims", "--results", "nothing").out)
    assert len(found) > 50
    assert {parsed(line)["table"] for line in found} <= {card.name for card in names()}


def test_a_printed_command_repeats_the_trial_of_a_label_with_commas(
    okbench: Okbench, tmp_path: Path
) -> None:
    (tmp_path / "it's mine.yaml").write_text(COMMAS, encoding="utf-8")
    assert okbench("run", "it's mine.yaml").code == 0
    for label in ("RBP, small", "it's: FOGD [x, y]"):
        told = okbench("report", "it's mine.yaml", "--explain", label, "breast-cancer").out
        again = okbench(*shlex.split(printed_in(told)[1])[1:])
        assert again.code == 0, again.err
        of_cell = okbench("report", "it's mine.yaml", "--learners", label, "--format", "csv").out
        assert of_cell.count("\n") == 2
    more = ("--with", "RBP, small[budget=3]", "--set", "it's: FOGD [x, y].step=1")
    added = okbench("run", "it's mine.yaml", *more, "--learners", "RBP, SMALL", "--dry-run")
    assert "6 trials, 2 done" in added.out, added.err


def test_rows_of_a_file_with_a_comma_are_named(okbench: Okbench, tmp_path: Path) -> None:
    rows = "\n".join(f"{i % 7},{i % 5},{'yes' if i % 7 > 3 else 'no'}" for i in range(60))
    (tmp_path / "c,d.csv").write_text(f"a,b,y\n{rows}\n", encoding="utf-8")
    asked = ("--learners", "Perceptron", "--trials", "2", "--no-tune")
    assert okbench("run", "--data", "c,d.csv", *asked).code == 0
    found = okbench("report", "own/c,d.csv", "--datasets", "c,d.csv")
    assert (found.code, "Perceptron" in found.out) == (0, True), found.err


def test_a_command_of_a_user_defined_learner_allows_it(okbench: Okbench, tmp_path: Path) -> None:
    (tmp_path / "always.py").write_text(MINE, encoding="utf-8")
    rows = "\n".join(f"{i % 7},{i % 5},{'yes' if i % 7 > 3 else 'no'}" for i in range(60))
    (tmp_path / "my rows.csv").write_text(f"a,b,y\n{rows}\n", encoding="utf-8")
    asked = ("--learners", "Perceptron,always:Mine", "--trials", "2", "--no-tune", "--jobs", "1")
    assert okbench("run", "--data", "my rows.csv", *asked).code == 0
    advice = " ".join(okbench("compare", "own/my rows.csv").out.split())
    told = re.search(r"\((okbench run [^)]*)\)", advice)
    assert told is not None
    assert told[1] == "okbench run 'own/my rows.csv' --trials 6 --allow-learner always:Mine"
    found = find("own/my rows.csv")
    alone = run_command(found, learners=["Perceptron"])
    assert alone == "okbench run 'own/my rows.csv' --learners Perceptron"
    assert (
        run_command(found, ["demo", "--with", "always:Mine"])
        == "okbench run demo --with always:Mine"
    )
    more = "title: t\nextends: demo\nlearners: {Mine: {learner: 'always:Mine'}}\n"
    (tmp_path / "more.yaml").write_text(more, encoding="utf-8")
    assert run_command(find("more.yaml")) == "okbench run more.yaml --allow-learner always:Mine"


def test_options_are_written_as_they_are_read() -> None:
    line = command(
        "run", "a b", learners=["A, b", "c[d=1]"], repetition=0, timing=True, again=False, seed=None
    )
    assert line == "okbench run 'a b' --learners 'A, b,c[d=1]' --repetition 0 --timing"
