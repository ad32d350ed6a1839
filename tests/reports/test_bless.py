from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from outcome_material import MACHINE, results_file
from small_table import FOGD, all_measured, measured, small_table

from okbench import __version__
from okbench.base.errors import DataError, StoreError, UsageError
from okbench.cli.check import bless as command
from okbench.cli.run import run
from okbench.reports.guard.bless import bless
from okbench.reports.guard.check import check
from okbench.reports.load import load_table
from okbench.reports.results_paths import read_file
from okbench.trials.plan.options import Options
from okbench.trials.trial_types import Outcome

TABLE = small_table()


def blessed(tmp_path: Path, found: list[Outcome], options: Options | None = None) -> Path:
    results_file(tmp_path / "runs/made/small.jsonl", found)
    return bless(
        TABLE, tmp_path / "runs", tmp_path / "results", " as measured ", options or Options()
    ).path


def test_a_baseline_says_its_reason_date_and_version(tmp_path: Path) -> None:
    path = blessed(tmp_path, all_measured(TABLE))
    assert path == tmp_path / "results/made/small.jsonl"
    header = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    told = header["blessed"]
    assert (told["table"], told["reason"], told["okbench"]) == (
        "made/small",
        "as measured",
        __version__,
    )
    assert len(told["date"]) == 10


def test_what_was_measured_passes_against_its_own_baseline(tmp_path: Path) -> None:
    found = [replace(one, curve=((10, 1, 2, 0.5),)) for one in all_measured(TABLE)]
    path = blessed(tmp_path, found)
    runs = read_file(tmp_path / "runs/made/small.jsonl", curves=True)
    result = check("made/small", read_file(path, curves=True), runs)
    assert (result.passed, sum(cell.counts["same"] for cell in result.cells)) == (True, 24)
    assert (result.compared["curves"], result.lacking["curves"]) == (24, 0)


def test_a_baseline_keeps_curves_with_seconds_of_three_digits(tmp_path: Path) -> None:
    curve = ((10, 1.0625, 2, 0.123456), (20, 3, None, 98765.4321), (30, 4, 2, None))
    path = blessed(tmp_path, [replace(one, curve=curve) for one in all_measured(TABLE)])
    kept = {one.curve for one in read_file(path, curves=True).measured}
    assert kept == {((10, 1.0625, 2, 0.123), (20, 3, None, 98800.0), (30, 4, 2, None))}


def test_seconds_measured_alone_stay_and_curves_are_added(tmp_path: Path) -> None:
    timed = {"timed": True, "seconds": 2.0, "environment": "old"}
    alone = [replace(one, **timed) for one in all_measured(TABLE)]
    machines = {"old": MACHINE, "e1": MACHINE}
    results_file(tmp_path / "runs/made/small.jsonl", alone, machines=machines)
    bless(TABLE, tmp_path / "runs", tmp_path / "results", "timed", Options())
    (tmp_path / "runs/made/small.jsonl").unlink()
    beside = [replace(one, curve=((10, 1, 2, 0.5),)) for one in all_measured(TABLE)]
    path = blessed(tmp_path, beside)
    contents = read_file(path, curves=True)
    assert {(o.timed, o.seconds, o.environment) for o in contents.measured} == {(True, 2.0, "old")}
    assert {one.curve for one in contents.measured} == {((10, 1, 2, None),)}
    assert contents.environments == {"old": MACHINE}

    again = [replace(one, timed=True, seconds=3.0) for one in beside]
    contents = read_file(blessed(tmp_path, again), curves=True)
    assert {(o.timed, o.seconds, o.environment) for o in contents.measured} == {(True, 3.0, "e1")}
    assert {one.curve for one in contents.measured} == {((10, 1, 2, 0.5),)}


@pytest.mark.parametrize("other", [{"total": 7}, {"rows": 999}, {"support": 3}])
def test_nothing_is_taken_from_an_outcome_with_another_result(
    tmp_path: Path, other: dict[str, int]
) -> None:
    before = [replace(one, timed=True, curve=((10, 1, 2, 0.5),)) for one in all_measured(TABLE)]
    blessed(tmp_path, before)
    path = blessed(tmp_path, [replace(one, **other) for one in all_measured(TABLE)])
    assert {(o.timed, o.curve) for o in read_file(path, curves=True).measured} == {(False, ())}


def test_a_report_keeps_the_baseline_apart_from_what_is_measured_now(tmp_path: Path) -> None:
    blessed(tmp_path, all_measured(TABLE))
    now = [replace(one, total=(one.total or 0) + 10) for one in all_measured(TABLE)]
    results_file(tmp_path / "runs/made/small.jsonl", now)
    report = load_table(TABLE, tmp_path / "runs", Options(), tmp_path / "results").report
    assert (report.cells["one", "FOGD"].mean, report.blessed["one", "FOGD"].mean) == (16.0, 15.0)


def test_outcomes_of_other_settings_are_not_blessed(tmp_path: Path) -> None:
    strangers = measured(replace(TABLE, settings={}), "one", "FOGD", FOGD)
    path = blessed(tmp_path, [*all_measured(TABLE), *strangers])
    assert len(read_file(path).measured) == 24


def test_a_cell_filled_in_part_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"FOGD × two: 5 done, of 6 trials; nothing was stored"):
        blessed(tmp_path, all_measured(TABLE)[:-1])
    assert not (tmp_path / "results").exists()


def test_a_cell_not_measured_at_all_is_left_out(tmp_path: Path) -> None:
    assert len(read_file(blessed(tmp_path, all_measured(TABLE)[:-6])).measured) == 18


def test_part_of_a_table_can_be_blessed(tmp_path: Path) -> None:
    path = blessed(tmp_path, all_measured(TABLE)[:-1], Options(trials=5))
    assert len(read_file(path).measured) == 20


def test_endings_that_may_not_last_are_refused(tmp_path: Path) -> None:
    *rest, last = all_measured(TABLE)
    with pytest.raises(DataError, match="5 done, 1 timeout, of 6"):
        blessed(tmp_path, [*rest, replace(last, status="timeout", total=None)])
    assert blessed(tmp_path, [*rest, replace(last, status="diverged", total=None)]).exists()


def stopped(status: Any, **more: Any) -> list[Outcome]:
    """Everything measured, but the last cell ended by a limit."""
    found = all_measured(TABLE)
    ended = [replace(one, status=status, total=None, **more) for one in found[-6:]]
    return [*found[:-6], *ended]


def test_a_cell_that_shows_that_its_memory_was_too_small_is_kept_and_checked(
    tmp_path: Path,
) -> None:
    found = stopped("memory", rows=0, reason="needs 90 GB")
    path = blessed(tmp_path, found)
    kept = read_file(path)
    assert [one.status for one in kept.measured].count("memory") == 6
    assert len(kept.measured) == 24
    again = check("made/small", kept, read_file(tmp_path / "runs/made/small.jsonl"))
    assert again.passed
    page = load_table(TABLE, tmp_path / "results", baselines=None).report
    assert page.cells["two", "FOGD"].shortfall == "memory 6"


def test_a_cell_with_some_trials_short_of_memory_is_refused(tmp_path: Path) -> None:
    found = stopped("memory", rows=0)
    with pytest.raises(DataError, match=r"5 memory, 1 done, of 6"):
        blessed(tmp_path, [*found[:-1], all_measured(TABLE)[-1]])


@pytest.mark.parametrize(("seconds", "is_kept"), [(7200.0, True), (60.0, False)])
def test_a_cell_over_the_limit_of_its_table_is_kept_and_one_over_another_limit_is_not(
    seconds: float, is_kept: bool, tmp_path: Path
) -> None:
    limited = replace(TABLE, protocol=replace(TABLE.protocol, time_limit=7200.0))
    results_file(tmp_path / "runs/made/small.jsonl", stopped("timeout", seconds=seconds))

    def made() -> int:
        return bless(limited, tmp_path / "runs", tmp_path / "results", "why", Options()).trials

    if is_kept:
        assert made() == 24
        page = load_table(limited, tmp_path / "results", baselines=None).report
        assert page.cells["two", "FOGD"].shortfall == "over 2 h"
    else:
        with pytest.raises(DataError, match="6 timeout, of 6"):
            made()


def test_contradicting_outcomes_are_refused(tmp_path: Path) -> None:
    found = all_measured(TABLE)
    with pytest.raises(DataError, match="measured more than once, with different scores"):
        blessed(tmp_path, [*found, replace(found[0], total=1)])


def test_outcomes_are_never_replaced_by_a_baseline(tmp_path: Path) -> None:
    runs = results_file(tmp_path / "made/small.jsonl", all_measured(TABLE))
    before = runs.read_bytes()
    with pytest.raises(DataError, match="holds outcomes and is no baseline"):
        bless(TABLE, tmp_path, tmp_path, "in their place", Options())
    assert runs.read_bytes() == before


def test_a_baseline_may_be_blessed_again(tmp_path: Path) -> None:
    assert blessed(tmp_path, all_measured(TABLE)) == blessed(tmp_path, all_measured(TABLE))


def test_the_command_says_how_many_trials_are_guarded_now_and_were_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cell = ["demo", "--datasets", "breast-cancer", "--learners", "Perceptron"]
    CliRunner().invoke(run, [*cell, "--trials", "3"])
    words = [*cell, "--reason", "as measured", "--trials"]
    assert "demo.jsonl: 3 trials  (" in CliRunner().invoke(command, [*words, "3"]).output
    assert "demo.jsonl: 2 trials, 3 before" in CliRunner().invoke(command, [*words, "2"]).output


def test_a_reason_is_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        bless(TABLE, tmp_path, tmp_path, "  ", Options())


def test_nothing_measured_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results at"):
        bless(TABLE, tmp_path, tmp_path, "why not", Options())
    with pytest.raises(DataError, match="has no outcomes of made/small as it is now configured"):
        blessed(tmp_path, [])


def test_a_baseline_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot open the results: Not a directory"):
        blessed(tmp_path, all_measured(TABLE))
