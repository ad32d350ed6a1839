from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from outcome_material import MACHINE, outcome, outcomes, results_file, trial

from okbench.base.errors import DataError, OkbenchError, StoreError, UsageError
from okbench.cli.check import check as command
from okbench.reports.guard.check import BaselineCheck, check, joined
from okbench.reports.guard.check_text import PAGES, summary
from okbench.reports.guard.speed import Allowed, check_seconds
from okbench.reports.results_paths import pairs
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

BASE = [
    *outcomes([200, 210, 190, 205], "A", "rows"),
    *outcomes([100, 110, 90, 105], "B", "rows"),
    *outcomes([300, 310, 290, 305], "A", "more"),
]

WHOLE = [
    replace(one, support=12, bytes=4_000, curve=((500, 90, 5, 0.1), (1000, one.total, 12, 0.2)))
    for one in outcomes([200, 210, 190, 205], "A", "rows")
]


def contents(found: Sequence[Outcome], **more: Any) -> Contents:
    return Contents(list(found), {"e1": MACHINE, "e2": {**MACHINE, "cpu": "two"}}, **more)


def checked(new: Sequence[Outcome], base: Sequence[Outcome] = BASE, **more: Any) -> BaselineCheck:
    return check("made/t", contents(base), contents(new), **more)


def findings(found: BaselineCheck) -> dict[tuple[str, str], str]:
    return {(cell.learner, cell.dataset): cell.finding for cell in found.cells}


def test_the_same_outcomes_pass() -> None:
    found = checked(BASE)
    assert (found.passed, found.regressions, summary(found)) == (True, 0, "no regressions")


def test_one_percent_more_mistakes_of_one_learner_on_one_dataset_is_caught_and_named() -> None:
    risen = [
        replace(one, total=round(1.01 * (one.total or 0)))
        if (one.trial.learner, one.trial.dataset) == ("A", "more")
        else one
        for one in BASE
    ]
    found = checked(risen)
    assert not found.passed
    assert findings(found) == {("A", "rows"): "same", ("B", "rows"): "same", ("A", "more"): "worse"}
    line = next(line for line in PAGES["text"](found).splitlines() if "A × more" in line)
    assert "4 worse of 4 trials" in line
    assert "% (+0.30, 0.35 sd of the baseline); r=0: 300 → 303" in line
    assert summary(found) == "1 regression"


def test_one_mistake_more_in_one_trial_is_enough() -> None:
    found = checked([replace(BASE[0], total=201), *BASE[1:]])
    assert found.cells[0].counts == {"worse": 1, "same": 3}
    assert found.cells[0].reason == "r=0: 200 → 201"
    assert not found.passed


def test_fewer_mistakes_pass_and_are_told() -> None:
    found = checked([replace(BASE[0], total=199), *BASE[1:]])
    assert (found.passed, found.cells[0].finding) == (True, "better")
    assert "A × rows: 1 better of 4 trials" in PAGES["text"](found)


def test_losses_may_differ_by_the_tolerance() -> None:
    base = [outcome(0.5, trial(metric="rmse"))]
    near, far = [replace(base[0], total=0.5 * (1 + 1e-10))], [replace(base[0], total=0.5001)]
    assert checked(near, base).passed
    assert not checked(far, base).passed
    assert checked(far, base, tolerance=1e-3).passed


@pytest.mark.parametrize("total", [None, math.nan])
def test_a_score_that_is_no_number_does_not_pass(total: float | None) -> None:
    found = checked([replace(BASE[0], total=total), *BASE[1:]])
    assert (found.passed, found.cells[0].finding) == (False, "unusable")


@pytest.mark.parametrize("tolerance", [-1.0, math.nan, math.inf])
def test_a_tolerance_that_is_none_is_refused(tolerance: float) -> None:
    with pytest.raises(UsageError, match="tolerance: a share, 0 or more"):
        checked(BASE, tolerance=tolerance)


def test_a_loss_out_of_bounds_is_told_in_few_digits() -> None:
    base = [outcome(0.5, trial(metric="rmse"))]
    found = checked([replace(base[0], total=1e120)], base)
    assert "→ 3.162e+58 (+3.162e+58)" in PAGES["text"](found)


def test_missing_trials_do_not_pass_unless_a_subset_is_asked_for() -> None:
    some = [one for one in BASE if one.trial.repetition < 2]
    assert findings(checked(some))[("A", "rows")] == "missing"
    assert not checked(some).passed
    assert checked(some, subset=True).passed


def test_nothing_in_common_never_passes() -> None:
    found = checked([], subset=True)
    assert (found.passed, summary(found)) == (False, "nothing could be compared")


def test_a_trial_that_was_done_and_is_not_any_more_is_worse() -> None:
    found = checked([replace(BASE[0], status="timeout"), *BASE[1:]])
    assert (found.cells[0].finding, found.cells[0].reason) == ("worse", "done → timeout")


def test_endings_that_are_the_same_pass() -> None:
    base = [outcome(None, status="diverged")]
    assert checked(base, base).passed


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"learner_version": 2}, "learner version 1 → 2"),
        ({"settings": (("step", 0.3),)}, "step None → 0.3"),
        ({"fingerprint": "f2"}, "other rows"),
    ],
)
def test_another_trial_in_the_place_of_one_is_told_and_does_not_pass(
    change: dict[str, Any], told: str
) -> None:
    changed = [replace(one, trial=replace(one.trial, **change)) for one in BASE]
    found = checked(changed)
    assert {cell.finding for cell in found.cells} == {"changed"}
    assert found.cells[0].reason == told
    assert found.unblessed == len(BASE)


def test_a_trial_with_two_scores_does_not_pass() -> None:
    found = checked([*BASE, replace(BASE[0], total=150)])
    assert (found.passed, found.cells[0].finding) == (False, "unusable")


def test_two_versions_in_one_baseline_are_kept_apart() -> None:
    second = [replace(one, trial=replace(one.trial, learner_version=2)) for one in BASE[:4]]
    both = [*BASE[:4], *second]
    assert set(findings(checked(both, both))) == {
        ("A(version=1)", "rows"),
        ("A(version=2)", "rows"),
    }


def test_the_baseline_of_another_table_is_refused() -> None:
    with pytest.raises(DataError, match="baseline of another table"):
        checked(outcomes([1, 2], "Z", "other"))
    named = contents(BASE, blessed={"table": "made/u"})
    with pytest.raises(DataError, match="baseline of made/u, and outcomes of made/t"):
        check("made/t", named, contents(BASE))


def test_an_empty_baseline_is_refused() -> None:
    with pytest.raises(DataError, match="holds no outcomes"):
        checked(BASE, [])


def clocked(seconds: float, environment: str = "e1") -> list[Outcome]:
    return [
        replace(one, seconds=seconds * (1 + r / 1000), timed=True, environment=environment)
        for r, one in enumerate(outcomes([200] * 12))
    ]


def test_slower_seconds_on_the_same_machine_do_not_pass() -> None:
    found = checked(clocked(1.3), clocked(1.0))
    assert [one.finding for one in found.seconds] == ["worse"]
    assert not found.passed
    assert "1.30 times the seconds" in PAGES["text"](found)
    assert checked(clocked(1.3), clocked(1.0), allowed=Allowed.read(["A=1.5"])).passed
    assert checked(clocked(1.1), clocked(1.0)).passed


def test_seconds_of_another_machine_are_not_compared() -> None:
    found = checked(clocked(9.0, "e2"), clocked(1.0))
    assert (found.passed, found.seconds) == (True, ())
    assert "not all were measured on one machine" in found.seconds_lack


def test_seconds_not_measured_alone_are_not_compared() -> None:
    assert "--timing" in checked(BASE).seconds_lack


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"support": 12_000}, "r=0: 12 → 12000 supports"),
        ({"support": 11}, "r=0: 12 → 11 supports"),
        ({"support": None}, "r=0: 12 → None supports"),
        ({"bytes": 4_000_000}, "r=0: 4000 → 4000000 bytes, beyond a factor of 2"),
        ({"bytes": 8_001}, "r=0: 4000 → 8001 bytes, beyond a factor of 2"),
        ({"bytes": 1_999}, "r=0: 4000 → 1999 bytes, beyond a factor of 2"),
        ({"bytes": None}, "r=0: 4000 → None bytes, beyond a factor of 2"),
        ({"curve": ((500, 0, 5, 0.1), (1000, 0, 12, 0.2))}, "curve after row 500: 90 → 0"),
        ({"curve": ((500, 90, 5, 0.1), (1000, 201, 12, 0.2))}, "after row 1000: 200 → 201"),
        ({"curve": ((499, 90, 5, 0.1), (1000, 200, 12, 0.2))}, "(500, 90, 5) → (499, 90, 5)"),
        ({"curve": ((500, 90, 6, 0.1), (1000, 200, 12, 0.2))}, "(500, 90, 5) → (500, 90, 6)"),
        ({"curve": ((500, 90, 5, 0.1),)}, "a curve of 2 points → 1 points"),
        ({"curve": ()}, "a curve of 2 points → 0 points"),
        ({"status": "failed"}, "done → failed"),
    ],
)
def test_a_quantity_besides_the_score_that_changed_keeps_a_check_from_passing(
    change: dict[str, Any], reason: str
) -> None:
    found = checked([replace(WHOLE[0], **change), *WHOLE[1:]], WHOLE)
    assert not found.passed
    assert reason in found.cells[0].reason
    assert reason in PAGES["text"](found)
    assert found.cells[0].finding == ("worse" if "status" in change else "differs")


@pytest.mark.parametrize(
    "change",
    [
        {"bytes": 8_000},
        {"bytes": 2_000},
        {"curve": ((500, 90, 5, 0.3), (1000, 200, 12, 0.4))},
        {"total": 199},
    ],
)
def test_bytes_within_the_factor_seconds_of_a_curve_and_a_better_score_pass(
    change: dict[str, Any],
) -> None:
    assert checked([replace(WHOLE[0], **change), *WHOLE[1:]], WHOLE).passed


def test_losses_along_a_curve_have_the_tolerance_of_losses() -> None:
    curve = ((500, 0.25, 5, 0.1), (1000, 0.5, 12, 0.2))
    base = [outcome(0.5, trial(metric="rmse"), curve=curve)]
    near = ((500, 0.25 * (1 + 1e-12), 5, 0.1), (1000, 0.5, 12, 0.2))
    far = ((500, 0.2501, 5, 0.1), (1000, 0.5, 12, 0.2))
    assert checked([replace(base[0], curve=near)], base).passed
    assert not checked([replace(base[0], curve=far)], base).passed


def test_a_check_says_what_it_compared_and_what_it_could_not() -> None:
    page = PAGES["text"](checked(WHOLE, WHOLE))
    words = "compared   endings, scores, supports, bytes up to a factor of 2, curves\n"
    assert words in page
    bare = [replace(one, support=None, bytes=None, curve=()) for one in WHOLE]
    found = checked(WHOLE, bare)
    assert found.passed
    lacking = "not compared: supports of 4 trials, bytes of 4 trials, curves of 4 trials"
    assert f"compared   endings, scores\n           {lacking}\n" in PAGES["text"](found)
    assert lacking in PAGES["md"](found)
    page = json.loads(PAGES["json"](joined([found, found])))
    assert page["compared"] == {"endings": 8, "scores": 8}
    assert page["not_compared"] == {"supports": 8, "bytes": 8, "curves": 8}


def test_bytes_of_learners_that_do_not_measure_themselves_are_not_compared() -> None:
    larger = [replace(one, bytes=4_000_000) for one in WHOLE]
    assert not checked(larger, WHOLE, sized={"A"}).passed
    found = checked(larger, WHOLE, sized={"B"})
    assert found.passed
    assert found.lacking["bytes"] == 4
    own = [replace(one, trial=replace(one.trial, learner="mine:A")) for one in WHOLE]
    assert checked([replace(one, bytes=4_000_000) for one in own], own).passed


def test_seconds_of_trials_that_ran_beside_others_have_no_verdict() -> None:
    beside = [replace(one, timed=False) for one in clocked(1.0)]
    slower = [replace(one, seconds=100.0) for one in beside]
    found = checked(slower, beside)
    assert (found.passed, found.seconds) == (True, ())
    lack = "no trial was measured alone in both (okbench run --timing)"
    assert f"seconds    no verdict: {lack}\n" in PAGES["text"](found)
    assert "No verdict on seconds: no trial was measured alone" in PAGES["md"](found)


def test_the_command_compares_curves_where_the_baseline_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    zeroed = [replace(one, curve=tuple((p[0], 0, *p[2:]) for p in one.curve)) for one in WHOLE]
    results_file(tmp_path / "before/made/t.jsonl", WHOLE)
    results_file(tmp_path / "after/made/t.jsonl", zeroed)
    assert CliRunner().invoke(command, ["before", "before"]).exit_code == 0
    result = CliRunner().invoke(command, ["before", "after"])
    assert isinstance(result.exception, OkbenchError)
    assert "4 differs of 4 trials" in result.output


def test_few_seconds_cannot_say() -> None:
    assert check_seconds("rows", "A", [1.0] * 5, [2.0] * 5, Allowed()).finding == "cannot say"


def test_few_seconds_are_left_out_and_told() -> None:
    found = checked(clocked(9.0)[:5], clocked(1.0)[:5])
    assert (found.passed, found.seconds) == (True, ())
    assert found.seconds_lack == "fewer than 10 trials measured alone in 1 cell"


def test_a_ratio_that_chance_may_explain_is_undecided_and_does_not_pass() -> None:
    before = [1.0, 2.0] * 6
    now = [1.0, 2.0] * 5 + [2.0, 2.0]
    (one,) = [check_seconds("rows", "A", before, now, Allowed())]
    assert (one.ratio, one.finding) == (2.0 / 1.5, "cannot say")
    found = BaselineCheck((), (one,))
    assert (found.passed, summary(found)) == (False, "1 undecided")
    assert 'failures="1"' in PAGES["junit"](found)


def test_an_outlier_does_not_make_a_learner_slower() -> None:
    steady, one_wild = (
        [1.0 + r / 100 for r in range(12)],
        [1.0 + r / 100 for r in range(11)] + [90.0],
    )
    assert check_seconds("rows", "A", steady, one_wild, Allowed()).finding == "same"
    assert (
        check_seconds("rows", "A", [2.0 * s for s in steady], steady, Allowed()).finding == "better"
    )


@pytest.mark.parametrize("word", ["0.9", "FOGD=", "FOGD=fast", "1", "inf", "nan"])
def test_a_ratio_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="no ratio above 1"):
        Allowed.read([word])


def test_a_learner_s_own_ratio_goes_before_that_of_all() -> None:
    allowed = Allowed.read(["1.3", "fogd=1.5"])
    assert (allowed.for_learner("FOGD(step=1)"), allowed.for_learner("RBP")) == (1.5, 1.3)


@pytest.fixture
def failing() -> BaselineCheck:
    return checked([replace(BASE[0], total=201), *BASE[1:]])


def test_json_says_all(failing: BaselineCheck) -> None:
    page = json.loads(PAGES["json"](failing))
    assert (page["okbench"], page["passed"], page["summary"]) == ("check", False, "1 regression")
    assert page["cells"][0]["finding"] == "worse"
    assert page["cells"][0]["counts"] == {"worse": 1, "same": 3}


def test_junit_has_a_case_a_cell_and_a_failure_for_the_worse() -> None:
    odd = [replace(one, trial=replace(one.trial, learner="<A>\x00&")) for one in BASE[:4]]
    worse = [replace(odd[0], total=999), *odd[1:]]
    suite = ElementTree.fromstring(PAGES["junit"](checked(worse, odd)))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite[0].get("name") == "<A>?&"
    assert "200 → 999" in str(suite[0][0].get("message"))


def test_junit_of_nothing_is_a_failure() -> None:
    suite = ElementTree.fromstring(PAGES["junit"](checked([], subset=True)))
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


def test_markdown_escapes_names() -> None:
    odd = [replace(one, trial=replace(one.trial, learner="A|_b")) for one in BASE[:4]]
    page = PAGES["md"](checked([replace(odd[0], total=999), *odd[1:]], odd))
    assert page.startswith("### ❌ okbench check: 1 regression")
    assert "| A\\|\\_b | rows | worse |" in page


def test_the_command_ends_with_1_and_names_what_got_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results_file(tmp_path / "results/made/t.jsonl", BASE, blessed={"table": "made/t"})
    results_file(tmp_path / "runs/made/t.jsonl", [replace(BASE[0], total=222), *BASE[1:]])
    for arguments in (["results"], ["results/made/t.jsonl"], ["made/t"], ["results", "runs"]):
        result = CliRunner().invoke(command, arguments)
        assert isinstance(result.exception, OkbenchError)
        assert result.exception.exit_code == 1
        assert "A × rows: 1 worse of 4 trials" in result.output
    result = CliRunner().invoke(command, ["results", "--format", "junit", "-o", "report.xml"])
    assert "A × rows" in result.output
    assert ElementTree.parse("report.xml").getroot().get("failures") == "1"


def test_the_command_ends_with_0_when_nothing_got_worse(tmp_path: Path) -> None:
    path = results_file(tmp_path / "t.jsonl", BASE)
    result = CliRunner().invoke(command, [str(path), str(path)])
    assert (result.exit_code, "no regressions" in result.output) == (0, True)


def test_what_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no baseline at nowhere; make one with okbench bless"):
        pairs(Path("nowhere"), None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no results files in empty"):
        pairs(Path("empty"), None)
    path = results_file(tmp_path / "results/t.jsonl", BASE)
    result = CliRunner().invoke(command, [str(path)])
    assert "no results at runs/t.jsonl  (okbench run t)" in str(result.exception)
    with pytest.raises(UsageError, match=r"no baseline at tt\. Did you mean 't'\?"):
        pairs(Path("tt"), None)


def test_a_table_of_a_folder_that_was_not_run_is_missing(tmp_path: Path) -> None:
    for name in ("t", "u"):
        results_file(tmp_path / f"base/made/{name}.jsonl", BASE)
    results_file(tmp_path / "runs/made/t.jsonl", BASE)
    places = [str(tmp_path / "base"), str(tmp_path / "runs")]
    missed = CliRunner().invoke(command, places)
    assert "12 same   12 missing" in missed.output
    assert missed.exit_code == 1
    assert str(missed.exception) == (
        "no regressions in what was measured, 3 cells not measured: measure them"
        " (okbench run made/u), or check only what was measured (--subset)"
    )
    assert missed.output.count("not measured") == 2  # one line for the table, and the summary
    line = "  made/u: 3 of 3 cells not measured, 12 trials  (okbench run made/u)"
    assert line in missed.output.splitlines()
    assert (
        "made/u: no trial" not in missed.output
    )  # that its seconds are missing goes without saying
    assert CliRunner().invoke(command, [*places, "--subset"]).exit_code == 0


def test_a_baseline_is_found_by_any_name_of_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results_file(Path("results/lsokl/table5.jsonl"), BASE)
    results_file(Path("runs/lsokl/table5.jsonl"), BASE)
    (pair,) = pairs(Path("Table5"), None)
    assert (pair.table, pair.new) == ("lsokl/table5", Path("runs/lsokl/table5.jsonl"))


def test_what_is_not_measured_is_one_case_and_one_row_a_table() -> None:
    worse = [replace(BASE[0], total=222), *BASE[1:4]]
    found = joined([checked(worse), check("made/u", contents(BASE), contents(BASE[:2]))])
    assert (found.regressions, found.unmeasured, found.passed) == (1, 5, False)
    assert summary(found) == "1 regression in what was measured, 5 cells not measured"
    text = PAGES["text"](found)
    assert "  made/t: 2 of 3 cells not measured, 8 trials" in text
    assert "  made/u: 3 of 3 cells not measured, 10 trials" in text
    suite = ElementTree.fromstring(PAGES["junit"](found))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "3")
    assert PAGES["md"](found).count("not measured,") == 2
    page = json.loads(PAGES["json"](found))
    assert (page["regressions"], page["unmeasured"], len(page["cells"])) == (1, 5, 6)


@pytest.mark.parametrize(
    ("words", "tables"),
    [
        (["results"], ["demo", "lsokl/table5", "lsokl/table9"]),
        (["lsokl"], ["lsokl/table5", "lsokl/table9"]),
        (["results/lsokl"], ["lsokl/table5", "lsokl/table9"]),
        (["results/lsokl", "runs/lsokl"], ["lsokl/table5", "lsokl/table9"]),
        (["table5"], ["lsokl/table5"]),
        (["table5", "table5"], ["lsokl/table5"]),
        (["demo"], ["demo"]),
        (["demo", "runs/demo.jsonl"], ["demo"]),
        (["results/demo.jsonl", "demo"], ["demo"]),
        (["results/lsokl/table9.jsonl"], ["lsokl/table9"]),
    ],
)
def test_names_files_and_folders_mean_the_same(
    words: list[str], tables: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("demo", "lsokl/table5", "lsokl/table9"):
        results_file(Path(f"results/{name}.jsonl"), BASE, blessed={"table": name})
        results_file(Path(f"runs/{name}.jsonl"), BASE)
    found = pairs(*map(Path, words)) if len(words) > 1 else pairs(Path(words[0]), None)
    assert [pair.table for pair in found] == tables
    assert [pair.new for pair in found] == [Path(f"runs/{name}.jsonl") for name in tables]
    assert CliRunner().invoke(command, words).exit_code == 0


def test_the_file_of_a_table_stands_for_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = (
        "title: Guarded\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 2}\n"
        "learners: {RBP: {}}\ndatasets: {spirals: {}}\n"
    )
    Path("guard.yaml").write_text(table, encoding="utf-8")
    without = CliRunner().invoke(command, ["guard.yaml"])
    assert str(without.exception).startswith("no baseline at guard.yaml; make one with okbench ")
    results_file(Path("results/guard.jsonl"), BASE, blessed={"table": "guard"})
    results_file(Path("runs/guard.jsonl"), BASE)
    by_name = CliRunner().invoke(command, ["guard"])
    assert by_name.exit_code == 0
    for words in (["guard.yaml"], ["guard.yaml", "guard.yaml"], ["results", "guard.yaml"]):
        by_file = CliRunner().invoke(command, words)
        assert (by_file.exit_code, by_file.output) == (0, by_name.output)
    Path("guard.yaml").write_text("title: [", encoding="utf-8")
    broken = CliRunner().invoke(command, ["guard.yaml"])
    assert "guard.yaml:2: " in str(broken.exception)


def test_a_folder_without_results_does_not_hide_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("demo").mkdir()
    results_file(Path("results/demo.jsonl"), BASE, blessed={"table": "demo"})
    results_file(Path("runs/demo.jsonl"), BASE)
    assert [pair.table for pair in pairs(Path("demo"), None)] == ["demo"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["base", "--datasets", "german"], "--datasets does not go with a baseline"),
        (["base", "--rounds", "30"], "--rounds does not go with a baseline"),
        (["base", "--speed", "a", "b"], "BASELINE does not go with --speed"),
        (["--tolerance", "1e-9", "--speed", "a", "b"], "--tolerance does not go with --speed"),
        (["--trend", "t", "--tolerance", "0.1"], "--tolerance does not go with --trend"),
        (["--trend", "t", "--rounds", "0"], "--rounds does not go with --trend"),
        (["--speed", "nowhere", "nowhere", "--rounds", "0"], "rounds: at least 10"),
    ],
)
def test_options_that_would_be_ignored_are_refused(words: list[str], message: str) -> None:
    result = CliRunner().invoke(command, words)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_tables_whose_seconds_were_not_compared_are_named() -> None:
    timed = check("made/t", contents(clocked(1.0)), contents(clocked(1.0)))
    told = joined([timed, check("made/u", contents(BASE), contents(BASE))]).seconds_lack
    assert told.startswith("made/u: no trial was measured alone in both")


def test_results_of_a_newer_okbench_are_refused(tmp_path: Path) -> None:
    path = results_file(tmp_path / "t.jsonl", BASE)
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":9', 1))
    result = CliRunner().invoke(command, [str(path), str(path)])
    assert isinstance(result.exception, StoreError)
    assert "written by a newer okbench" in str(result.exception)
