from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from outcome_material import MACHINE, outcomes, results_file
from small_table import FOGD, PERCEPTRON, all_measured, measured, small_table

from okbench.base.errors import DataError, StoreError, UsageError
from okbench.cli.compare import compare, merge
from okbench.reports.compare.ranking import comparisons, ranking
from okbench.reports.compare.ranking_text import draw_ranking, ranking_json, ranking_text
from okbench.reports.compare.side_by_side import side_by_side, side_by_side_json, side_by_side_text
from okbench.reports.guard.merge import merge as put_together
from okbench.reports.load import load_table
from okbench.reports.results_paths import outcomes_at, read_file, table_of
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome

PRINTED = {
    ("one", "Perceptron"): "20.0 ± 1.0",
    ("one", "FOGD"): "15.0 ± 1.0",
}


def report_on(tmp_path: Path, found: list[Outcome]) -> Report:
    table = small_table(PRINTED)
    results_file(tmp_path / "made/small.jsonl", found)
    return load_table(table, tmp_path, Options(), None).report


def test_learners_are_compared_with_the_best_in_pairs(tmp_path: Path) -> None:
    first, second = comparisons(report_on(tmp_path, all_measured(small_table())))
    assert (first.dataset, first.learner, first.reference) == ("one", "Perceptron", "FOGD")
    assert first.differences is not None
    assert (first.differences.n, first.differences.mean, first.found) == (6, 5.0, "worse")
    assert second.dataset == "two"


def test_learners_are_compared_with_the_one_named(tmp_path: Path) -> None:
    report = report_on(tmp_path, all_measured(small_table()))
    assert [comparison.found for comparison in comparisons(report, "Perceptron")] == [
        "better",
        "better",
    ]
    with pytest.raises(UsageError, match=r"no learner 'FOGDD'\. Did you mean 'FOGD'"):
        comparisons(report, "FOGDD")


def test_a_difference_that_may_be_chance_cannot_be_decided(tmp_path: Path) -> None:
    table = small_table()
    wild = [150, 250, 120, 270, 140, 200]
    found = [
        *measured(table, "one", "FOGD", FOGD),
        *measured(table, "one", "Perceptron", wild),
    ]
    (comparison,) = comparisons(report_on(tmp_path, found))
    assert (comparison.found, comparison.reason[:3]) == ("cannot decide", "p =")


def test_missing_trials_cannot_decide(tmp_path: Path) -> None:
    report = report_on(tmp_path, all_measured(small_table())[:-1])
    on_two = [comparison for comparison in comparisons(report) if comparison.dataset == "two"]
    assert [comparison.found for comparison in on_two] == ["cannot decide"]
    assert on_two[0].reason == "5 permutations in common, and 6 are needed"


def test_ranks_leave_out_datasets_without_every_learner(tmp_path: Path) -> None:
    whole = ranking(report_on(tmp_path, all_measured(small_table())))
    assert whole.ranks == (("FOGD", 1.0), ("Perceptron", 2.0))
    assert whole.critical is not None
    part = ranking(report_on(tmp_path, all_measured(small_table())[:-1]))
    assert (part.datasets, part.left_out, part.critical) == (("one",), ("two",), None)
    assert "too few datasets" in ranking_text([], part)


def test_pages_of_learners_can_be_read(tmp_path: Path) -> None:
    report = report_on(tmp_path, all_measured(small_table()))
    found, ranks = comparisons(report), ranking(report)
    text = ranking_text(found, ranks)
    assert "+5" in text
    assert "Average ranks over 2 datasets" in text
    page = json.loads(ranking_json(found, ranks))
    assert page["comparisons"][0]["differences"]["mean"] == 5.0


def test_the_picture_is_drawn_or_refused(tmp_path: Path) -> None:
    ranks = ranking(report_on(tmp_path, all_measured(small_table())))
    draw_ranking(ranks, tmp_path / "ranks.svg")
    assert "<svg" in (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    draw_ranking(ranks, tmp_path / "no folder yet/ranks.PNG")
    assert (tmp_path / "no folder yet/ranks.PNG").is_file()
    with pytest.raises(UsageError, match=r"no picture format 'txt' \(svg, png, pdf\)"):
        draw_ranking(ranks, tmp_path / "ranks.txt")
    with pytest.raises(UsageError, match="no picture"):
        draw_ranking(replace(ranks, critical=None), tmp_path / "none.svg")


def by_id(found: list[Outcome]) -> dict[str, Outcome]:
    return {one.trial.id: one for one in found}


def test_sets_are_compared_in_pairs() -> None:
    (line,) = side_by_side([by_id(outcomes(PERCEPTRON)), by_id(outcomes(FOGD))])
    assert [column.mean for column in line.columns] == [20.0, 15.0]
    assert line.change is not None
    assert (line.change.mean, line.note) == (-5.0, "")
    text = side_by_side_text(["old", "new"], [line])
    assert "20.00 ± 0.71 (n=6)" in text
    assert "−5.00" in text
    assert json.loads(side_by_side_json(["old", "new"], [line]))["lines"][0]["change"]["n"] == 6


def test_equal_sets_are_said_to_be_equal() -> None:
    (line,) = side_by_side([by_id(outcomes(FOGD))] * 2)
    assert line.note == "equal in every trial"


def test_another_version_is_noted() -> None:
    new = by_id(outcomes(FOGD, learner_version=2))
    (line,) = side_by_side([by_id(outcomes(PERCEPTRON)), new])
    assert line.note == "learner version 1 → 2"


def test_two_versions_in_one_set_are_never_averaged() -> None:
    both = by_id(outcomes(FOGD)) | by_id(outcomes(PERCEPTRON, learner_version=2))
    lines = side_by_side([both, both])
    assert [line.learner for line in lines] == ["A(version=1)", "A(version=2)"]
    assert [line.columns[0].n for line in lines] == [6, 6]


def test_sets_with_few_trials_in_common_cannot_decide() -> None:
    (line,) = side_by_side([by_id(outcomes(FOGD)), by_id(outcomes(PERCEPTRON[:3]))])
    assert line.change is None
    assert (
        line.note == "cannot decide: 3 permutations in common, and 6 are needed; compared on 3 of 6"
    )


def test_a_learner_in_one_set_only_is_noted() -> None:
    found = side_by_side([by_id(outcomes(FOGD)), by_id(outcomes(FOGD, "B"))])
    assert [line.note for line in found] == ["not in every set", "not in every set"]


def test_a_group_has_one_name_in_all_sets() -> None:
    old, new = by_id(outcomes(FOGD)), by_id(outcomes(PERCEPTRON, learner_version=2))
    first, second = side_by_side([old | new, new])
    assert (first.learner, first.note) == ("A(version=1)", "not in every set")
    assert (second.learner, second.note) == ("A(version=2)", "equal in every trial")


def test_other_row_orders_are_never_paired() -> None:
    (line,) = side_by_side([by_id(outcomes(FOGD)), by_id(outcomes(FOGD, seed=7))])
    assert line.change is None
    assert line.note == "seed 0 → 7; not paired: the permutations differ"


def test_merging_keeps_each_trial_once(tmp_path: Path) -> None:
    first = results_file(tmp_path / "a/made/t.jsonl", outcomes([1, 2]))
    other = {"e2": {**MACHINE, "cpu": "two"}}
    more = [replace(one, environment="e2") for one in outcomes([1, 2, 3])]
    results_file(tmp_path / "b/made/t.jsonl", more, machines=other)
    (merged,) = put_together([first.parents[1], tmp_path / "b"], tmp_path / "all")
    assert (merged.table, merged.outcomes, merged.files) == ("made/t", 3, 2)
    contents = read_file(merged.path)
    assert [one.total for one in contents.measured] == [1, 2, 3]
    assert set(contents.environments) == {"e1", "e2"}


def test_merging_into_a_folder_keeps_what_lies_there(tmp_path: Path) -> None:
    results_file(tmp_path / "all/t.jsonl", outcomes([1, 2]))
    results_file(tmp_path / "b/t.jsonl", outcomes([3], "B"))
    put_together([tmp_path / "b"], tmp_path / "all")
    assert len(outcomes_at(tmp_path / "all")) == 3


def test_a_file_is_counted_once_however_it_is_named(tmp_path: Path) -> None:
    results_file(tmp_path / "all/t.jsonl", outcomes([1, 2]))
    (merged,) = put_together([tmp_path / "all", tmp_path / "all/t.jsonl"], tmp_path / "all")
    assert (merged.outcomes, merged.files) == (2, 1)


def test_a_file_that_is_written_to_is_not_replaced(tmp_path: Path) -> None:
    target = results_file(tmp_path / "all/t.jsonl", outcomes([1]))
    results_file(tmp_path / "b/t.jsonl", outcomes([3], "B"))
    with Store(target).writer({}, ""), pytest.raises(StoreError, match="is writing here"):
        put_together([tmp_path / "b"], tmp_path / "all")
    assert len(read_file(target).measured) == 1


def test_one_trial_with_two_scores_is_not_merged(tmp_path: Path) -> None:
    results_file(tmp_path / "a/t.jsonl", outcomes([1]))
    results_file(tmp_path / "b/t.jsonl", outcomes([2]))
    with pytest.raises(DataError, match=r"A × rows, r=0.* has 1 and 2; .* Nothing was merged"):
        put_together([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_link_is_written_through_and_stays_one(tmp_path: Path) -> None:
    real = results_file(tmp_path / "elsewhere/t.jsonl", outcomes([1]))
    results_file(tmp_path / "b/t.jsonl", outcomes([3], "B"))
    (tmp_path / "all").mkdir()
    (tmp_path / "all/t.jsonl").symlink_to(real)
    put_together([tmp_path / "b"], tmp_path / "all")
    assert (tmp_path / "all/t.jsonl").is_symlink()
    assert len(read_file(real).measured) == 2


def test_a_baseline_is_not_merged_into(tmp_path: Path) -> None:
    target = results_file(tmp_path / "results/t.jsonl", outcomes([1]), blessed={"table": "t"})
    before = target.read_bytes()
    results_file(tmp_path / "b/t.jsonl", outcomes([3], "B"))
    with pytest.raises(DataError, match="is a baseline"):
        put_together([tmp_path / "b"], tmp_path / "results")
    assert target.read_bytes() == before


def test_a_file_is_of_the_table_it_is_named_after(tmp_path: Path) -> None:
    known = results_file(tmp_path / "elsewhere/lsokl/table5.jsonl", outcomes([1]))
    other = results_file(tmp_path / "elsewhere/mine/table5.jsonl", outcomes([1]))
    assert (table_of(known), table_of(other)) == ("lsokl/table5", "table5")


def test_the_commands_print(tmp_path: Path) -> None:
    first = str(results_file(tmp_path / "a.jsonl", outcomes(PERCEPTRON)))
    second = str(results_file(tmp_path / "b.jsonl", outcomes(FOGD)))
    assert "−5.00" in CliRunner().invoke(compare, [first, second]).output
    result = CliRunner().invoke(compare, [first, second, "--against", "OGD"])
    assert isinstance(result.exception, UsageError)
    merged = CliRunner().invoke(merge, [first, "--into", str(tmp_path / "all")])
    assert "a.jsonl: 6 outcomes from 1 files" in merged.output


def test_one_set_alone_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(compare, [str(tmp_path)])
    assert "name another to compare it with" in str(result.exception)


@pytest.mark.parametrize("option", ["--trials", "--seed"])
def test_options_of_a_table_are_not_passed_over_with_sets(tmp_path: Path, option: str) -> None:
    place = str(results_file(tmp_path / "a.jsonl", outcomes(FOGD)))
    result = CliRunner().invoke(compare, [place, place, option, "3"])
    assert "go with one table" in str(result.exception)
