from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from outcome_material import outcomes, results_file
from small_table import all_measured, small_table

from okbench.base.errors import UsageError
from okbench.cli.report import report
from okbench.cli.run import run
from okbench.cli.show import show
from okbench.reports.load import load_table
from okbench.reports.tables.explain import describe_trial, explain
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store

TABLE = small_table({("one", "FOGD"): "15.0 ± 1.0"})


def explained(tmp_path: Path, learner: str = "FOGD", dataset: str = "one") -> str:
    found = all_measured(TABLE)
    del found[7]  # FOGD on one, r = 1
    results_file(tmp_path / "made/small.jsonl", found)
    return explain(load_table(TABLE, tmp_path), learner, dataset)


def test_the_trials_of_a_cell_are_listed(tmp_path: Path) -> None:
    page = explained(tmp_path)
    ids = [one.trial.id for one in all_measured(TABLE)[6:12]]
    lines = page.splitlines()
    assert "FOGD × one of made/small: 5 of 6 trials done" in lines
    assert "paper prints  15.0 ± 1.0" in lines
    assert any(
        line.startswith("outcome       within: ours minus") and "by 5 of 6" in line
        for line in lines
    )
    assert "rests on      fitted" in lines
    assert "              step fitted: a guess" in lines
    assert "step = 0.01  (inferred: a guess)" in lines
    assert "rows  (printed)" in lines
    assert all(any(id_ in line for line in lines) for id_ in ids)
    assert next(line for line in lines if ids[1] in line).split()[2] == "missing"


def test_the_command_that_repeats_each_trial_is_told(tmp_path: Path) -> None:
    of_cell = "  okbench run made/small --datasets one --learners FOGD --repetition"
    told = [line for line in explained(tmp_path).splitlines() if "okbench run" in line]
    assert told == [f"{of_cell} {r} --again --results again" for r in range(6)]


def test_the_command_names_all_that_decides_a_trial(tmp_path: Path) -> None:
    found = [replace(one, timed=one.trial.repetition == 1) for one in all_measured(TABLE)]
    results_file(tmp_path / "made/small.jsonl", found)
    named = ["my table.yaml", "--settings", "mine.yaml"]
    second = load_table(TABLE, tmp_path, Options(repetitions=(1,)))
    page = explain(second, "FOGD", "one", named)
    assert page.splitlines()[-1].strip() == (
        "okbench run 'my table.yaml' --settings mine.yaml --datasets one --learners FOGD "
        "--repetition 1 --timing --again --results again"
    )
    other = explain(load_table(TABLE, tmp_path, Options(seed=3)), "FOGD", "one")
    assert other.count("--seed 3 --again") == 6


def test_names_are_known_in_any_case_and_corrected(tmp_path: Path) -> None:
    assert "FOGD × one" in explained(tmp_path, "fogd", "ONE")
    with pytest.raises(UsageError, match=r"no learner 'FOGDE' here\. Did you mean 'FOGD'"):
        explained(tmp_path, "FOGDE")


def test_a_trial_is_shown_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    first, second = outcomes([200, 210])
    first = replace(first, curve=((500, 90, 10, 0.5),), reason="odd")
    results_file(tmp_path / "t.jsonl", [first, second])
    page = describe_trial(first.trial.id[:6], [tmp_path])
    assert page is not None
    assert first.trial.spelled in page
    assert "200 over 1000 rows" in page
    assert "one, 2 cores" in page
    assert page.splitlines()[-1].split() == ["500", "90", "10", "0.5"]


def test_a_beginning_of_several_ids_is_refused(tmp_path: Path) -> None:
    results_file(tmp_path / "t.jsonl", outcomes([1] * 40))
    with pytest.raises(UsageError, match="say more of it"):
        describe_trial("", [tmp_path])


def test_what_is_no_trial_is_left_to_others(tmp_path: Path) -> None:
    results_file(tmp_path / "t.jsonl", outcomes([1]))
    assert describe_trial("german", [tmp_path]) is None
    assert describe_trial("german", [tmp_path / "nowhere"]) is None


@pytest.mark.parametrize("words", [["--format", "json"], ["--curve"]])
def test_what_does_not_go_with_an_explanation_is_refused(words: list[str]) -> None:
    result = CliRunner().invoke(report, ["demo", "--explain", "FOGD", "spirals", *words])
    assert "exclude each other" in str(result.exception)


def test_what_is_neither_a_dataset_nor_a_trial_is_told_where_it_was_looked_for(
    tmp_path: Path,
) -> None:
    result = CliRunner().invoke(show, ["abc123", "--results", str(tmp_path / "elsewhere")])
    assert str(result.exception).startswith("'abc123' is no dataset")
    assert "elsewhere" in str(result.exception)


def test_a_cell_is_explained_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cell = ["--datasets", "breast-cancer", "--learners", "Perceptron", "--trials", "1"]
    assert CliRunner().invoke(run, ["demo", *cell, "--jobs", "1"]).exit_code == 0
    arguments = ["demo", "--trials", "1", "--explain", "Perceptron", "breast-cancer"]
    page = CliRunner().invoke(report, arguments).output
    assert page.startswith("Perceptron × breast-cancer of demo: 1 of 1 trials done")


def test_the_command_told_repeats_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cell = ["--datasets", "breast-cancer", "--learners", "RBP"]
    assert CliRunner().invoke(run, ["demo", *cell, "--trials", "3", "-j", "1"]).exit_code == 0
    page = CliRunner().invoke(report, ["demo", "--trials", "3", "--explain", "RBP", cell[1]]).output
    (command,) = [line for line in page.splitlines() if "--repetition 2" in line]
    assert CliRunner().invoke(run, shlex.split(command)[2:]).exit_code == 0
    before, (again,) = (
        list(Store.of(Path(folder), "demo").outcomes().values()) for folder in ("runs", "again")
    )
    (same,) = [one for one in before if one.trial.id == again.trial.id]
    assert same.trial.repetition == 2
    assert (again.total, again.support) == (same.total, same.support)


def test_the_command_told_repeats_a_trial_of_a_learner_that_was_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    added = ["--with", "RBP[budget=20]", "--set", "FOGD.step=0.5", "--trials", "1"]
    cell = ["--datasets", "breast-cancer", "--learners", "Perceptron", "-j", "1"]
    assert CliRunner().invoke(run, ["demo", *cell, *added]).exit_code == 0
    for label in ("RBP[budget=20]", "FOGD[step=0.5]"):
        explaining = ["demo", *added, "--explain", label, "breast-cancer"]
        page = CliRunner().invoke(report, explaining).output
        (command,) = [line for line in page.splitlines() if "okbench run" in line]
        assert CliRunner().invoke(run, shlex.split(command)[2:]).exit_code == 0
        assert f"Settings of {label}" in CliRunner().invoke(run, shlex.split(command)[2:]).output


def test_reasons_have_a_column_where_there_are_reasons(tmp_path: Path) -> None:
    head = next(one for one in explained(tmp_path).splitlines() if one.startswith("r  "))
    assert head.split()[-1] == "environment"
    found = all_measured(TABLE)
    found[7] = replace(found[7], status="failed", total=None, reason="it broke")
    results_file(tmp_path / "made/small.jsonl", found)
    page = explain(load_table(TABLE, tmp_path), "FOGD", "one").splitlines()
    assert next(one for one in page if one.startswith("r  ")).split()[-1] == "reason"


def test_a_cell_without_a_printed_number_says_so_once(tmp_path: Path) -> None:
    lines = explained(tmp_path, learner="Perceptron").splitlines()
    assert "outcome       nothing printed" in lines
    assert not any(line.startswith("rests on") for line in lines)
