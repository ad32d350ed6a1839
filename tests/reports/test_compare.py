from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from outcome_material import MACHINE, outcomes, results_file
from small_table import FOGD, PERCEPTRON, all_measured, measured, small_table

from okbench.base.errors import DataError, StoreError, UsageError
from okbench.cli.compare import compare, merge
from okbench.papers.table_types import PrintedCell
from okbench.reports.compare.pairs import comparisons
from okbench.reports.compare.ranking import ranking
from okbench.reports.compare.ranking_picture import draw_ranking
from okbench.reports.compare.ranking_text import ranking_json, ranking_text
from okbench.reports.compare.side_by_side import side_by_side, side_by_side_json, side_by_side_text
from okbench.reports.guard.merge import merge as put_together
from okbench.reports.load import load_table
from okbench.reports.results_paths import outcomes_at, read_file, table_of
from okbench.reports.statistics import holm
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome

RUN = "okbench run made/t --trials 9"
PRINTED = {
    ("one", "Perceptron"): "20.0 ± 1.0",
    ("one", "FOGD"): "15.0 ± 1.0",
}


def report_on(tmp_path: Path, found: list[Outcome]) -> Report:
    table = small_table(PRINTED)
    results_file(tmp_path / "made/small.jsonl", found)
    return load_table(table, tmp_path, Options(), None).report


def test_all_pairs_are_tested_and_the_best_is_shown(tmp_path: Path) -> None:
    found = comparisons(report_on(tmp_path, all_measured(small_table())))
    (shown,) = found.with_reference("one")
    assert (shown.dataset, shown.learner, shown.reference) == ("one", "Perceptron", "FOGD")
    assert shown.differences is not None
    assert (shown.differences.n, shown.differences.mean) == (6, 5.0)
    assert found.best == {"one": "FOGD", "two": "FOGD"}
    assert found.family == 2
    # the smallest p of six pairs is 2 / 2⁶, which two tests make 1 / 16
    assert (shown.wilcoxon, shown.found) == (1 / 16, "cannot decide")
    assert (found.enough, found.too_few) == (7, 2)


def made_report(
    values: Mapping[tuple[str, str], Sequence[float]],
    metric: str = "mistake_rate",
    printed: Mapping[tuple[str, str], float] | None = None,
    expected: int = 0,
) -> Report:
    """A report with these values of each cell, of which `expected` are awaited."""
    cells = {
        key: Cell(
            *key,
            metric=metric,
            values=tuple(found),
            expected=expected or len(found),
            repetitions=tuple(range(len(found))),
            printed=PrintedCell(*key, mean=(printed or {}).get(key)),
        )
        for key, found in values.items()
    }
    datasets, learners = (tuple(dict.fromkeys(key[i] for key in values)) for i in (0, 1))
    return Report("made/t", "", metric, metric != "accuracy", datasets, learners, cells, ())


def three_learners(datasets: int, trials: int, gap: float = 2.0, **more: Any) -> Report:
    """A is best, then B and C with the same gap; the values of all differ a little."""
    draw = np.random.default_rng(7)
    values = {
        (f"d{d}", learner): (10.0 + gap * place + draw.normal(0, 0.1, trials)).tolist()
        for d in range(datasets)
        for place, learner in enumerate("ABC")
    }
    return made_report(values, **more)


def test_p_values_are_corrected_over_all_pairs_and_datasets() -> None:
    found = comparisons(three_learners(4, 12))
    assert (found.family, len(found.pairs), found.too_few) == (12, 12, 0)
    raw = []
    for pair in found.pairs:
        assert pair.differences is not None
        raw.append(pair.differences.t_test)
    assert [pair.t_test for pair in found.pairs] == holm(raw)
    assert {pair.wilcoxon for pair in found.pairs} == {12 * 2 / 2**12}
    assert [pair.found for pair in found.pairs] == ["better"] * 12  # A − B, A − C, B − C


def test_a_named_reference_has_the_smaller_family() -> None:
    found = comparisons(three_learners(4, 12), "B")
    assert found.family == 8
    assert [pair.learner for pair in found.with_reference("d2")] == ["A", "C"]
    assert [pair.found for pair in found.with_reference("d2")] == ["better", "worse"]
    with pytest.raises(UsageError, match=r"no learner 'BB'\. Did you mean 'B'"):
        comparisons(three_learners(4, 12), "BB")


def test_for_accuracy_a_higher_value_is_better() -> None:
    found = comparisons(three_learners(4, 12, metric="accuracy"), "B")
    assert [pair.found for pair in found.with_reference("d2")] == ["worse", "better"]
    ranks = ranking(three_learners(5, 12, metric="accuracy")).ranks
    assert [ranked.learner for ranked in ranks] == ["C", "B", "A"]


def test_choosing_the_best_of_equal_learners_finds_nothing_too_often() -> None:
    draw = np.random.default_rng(11)
    rejected = 0
    for _ in range(100):
        values = {("d", f"L{i}"): draw.normal(20, 1, 16).tolist() for i in range(8)}
        shown = comparisons(made_report(values)).with_reference("d")
        rejected += any(pair.found != "cannot decide" for pair in shown)
    assert rejected <= 10  # 5 expected at most; with more, selection would count as evidence


def test_too_few_permutations_are_named_once() -> None:
    report = three_learners(4, 4)
    found = comparisons(report)
    assert {pair.reason for pair in found.pairs} == {"too few permutations"}
    assert (found.enough, found.too_few) == (9, 12)  # 12 · 2 / 2⁹ < 0.05
    text = ranking_text(found, ranking(report), RUN)
    assert text.count("Too few permutations") == 1
    assert "12 comparisons have fewer than 9" in text
    assert f"({RUN})." in " ".join(text.split())
    assert "d0: mistake rate in %, each learner minus A (the best)" in ranking_text(
        comparisons(three_learners(4, 9)), ranking(report), RUN
    )
    # so many are indeed enough
    assert comparisons(three_learners(4, 9)).too_few == 0


def test_a_difference_that_may_be_chance_cannot_be_decided(tmp_path: Path) -> None:
    table = small_table()
    wild = [150, 250, 120, 270, 140, 200]
    found = [
        *measured(table, "one", "FOGD", FOGD),
        *measured(table, "one", "Perceptron", wild),
    ]
    (comparison,) = comparisons(report_on(tmp_path, found)).pairs
    assert (comparison.found, comparison.reason) == ("cannot decide", "")


def test_missing_trials_cannot_decide_and_are_in_no_family(tmp_path: Path) -> None:
    report = report_on(tmp_path, all_measured(small_table())[:-1])
    found = comparisons(report)
    (on_two,) = found.with_reference("two")
    assert (on_two.learner, on_two.found) == ("FOGD", "cannot decide")
    assert (on_two.reason, on_two.t_test) == ("trials of FOGD are missing (5/6)", None)
    assert found.family == 1
    text = ranking_text(found, ranking(report), RUN)
    assert "cannot decide about FOGD: trials of FOGD are missing (5/6)" in text


def test_missing_trials_of_the_reference_are_named(tmp_path: Path) -> None:
    report = report_on(tmp_path, all_measured(small_table())[:-1])
    (on_two,) = comparisons(report, "FOGD").with_reference("two")
    assert on_two.reason == "trials of FOGD are missing (5/6)"


def test_medians_stand_beside_means_of_heavy_tails() -> None:
    heavy = [21.0, 21.1, 21.2, 21.3, 21.1, 21.2, 21.0, 44.0]
    even = [20.0, 20.1, 20.2, 20.3, 20.1, 20.2, 20.0, 20.4]
    report = made_report({("d", "P"): heavy, ("d", "Q"): even})
    found = comparisons(report)
    (tail,) = found.tails
    assert (tail.learner, tail.median) == ("P", pytest.approx(21.15))
    assert "Heavy tails" in ranking_text(found, ranking(report), RUN)


def test_ranks_leave_out_datasets_without_every_learner(tmp_path: Path) -> None:
    whole = ranking(report_on(tmp_path, all_measured(small_table())))
    assert [(ranked.learner, ranked.rank) for ranked in whole.ranks] == [
        ("FOGD", 1.0),
        ("Perceptron", 2.0),
    ]
    assert whole.critical is not None
    report = report_on(tmp_path, all_measured(small_table())[:-1])
    part = ranking(report)
    assert (part.datasets, part.left_out, part.critical) == (("one",), ("two",), None)
    assert "too few datasets" in ranking_text(comparisons(report), part, RUN)


def test_many_datasets_separate_the_learners() -> None:
    found = ranking(three_learners(9, 6))
    assert [ranked.rank for ranked in found.ranks] == [1.0, 2.0, 3.0]
    assert [ranked.interval for ranked in found.ranks] == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    assert found.iman_davenport == 0.0
    assert {one.p for one in found.wilcoxon} == {3 * 2 / 2**9}
    assert found.wilcoxon_groups == ()
    # the critical difference is 2.343 √(12 / 54) = 1.10: neighbours may differ by chance
    assert found.nemenyi == (("A", "B"), ("B", "C"))
    text = ranking_text(comparisons(three_learners(9, 6)), found, RUN)
    (row,) = (line for line in text.splitlines() if line.split()[:2] == ["B", "2.00"])
    assert row.split()[5:7] == ["ab", "–"]


def test_posteriors_compare_with_the_best_or_the_named_learner() -> None:
    report = three_learners(6, 6)
    best = ranking(report)
    assert best.reference == "A"
    assert best.ranks[0].posterior is None
    assert best.ranks[1].posterior is not None
    assert best.ranks[1].posterior.above > 0.95
    wide = ranking(report, "B", region=5.0)
    assert wide.reference == "B"
    assert wide.ranks[0].posterior is not None
    assert wide.ranks[0].posterior.within == 1.0
    for region in (-1.0, math.nan, math.inf):
        with pytest.raises(UsageError, match="--rope must be"):
            ranking(report, region=region)


def test_losses_of_any_scale_are_compared_by_their_ratios() -> None:
    values = {
        (f"d{d}", learner): [10.0**-d * factor] * 6
        for d in range(6)
        for learner, factor in (("A", 1.0), ("B", 1.03), ("C", 1.5))
    }
    found = ranking(made_report(values, metric="mean_squared_loss"), region=4.0)
    assert found.unit == "%"
    near, far = (ranked.posterior for ranked in found.ranks[1:])
    assert near is not None
    assert far is not None
    assert near.within == 1.0
    assert far.above > 0.95


def test_agreement_has_an_interval_over_datasets() -> None:
    values = {(f"d{d}", name): [float(i)] * 6 for d in range(6) for i, name in enumerate("ABC")}
    printed = {(name, learner): found[0] for (name, learner), found in values.items()}
    printed |= {("d0", learner): 9.0 - i for i, learner in enumerate("ABC")}  # one is reversed
    found = ranking(made_report(values, printed=printed))
    assert found.agreement == pytest.approx((5 * 1 + -1) / 6)
    assert found.agreement_interval is not None
    assert found.agreement_interval[0] <= 0.0
    assert found.agreement_interval[1] == 1.0


def test_pages_of_learners_can_be_read(tmp_path: Path) -> None:
    report = report_on(tmp_path, all_measured(small_table()))
    found, ranks = comparisons(report), ranking(report)
    text = ranking_text(found, ranks, RUN)
    assert "+5" in text
    assert "Mean ranks over 2 datasets" in text
    page = json.loads(ranking_json(found, ranks))
    assert page["schema"] == 2
    assert abs(page["comparisons"]["pairs"][0]["differences"]["mean"]) == 5.0
    assert page["ranking"]["ranks"][0]["learner"] == "FOGD"


@pytest.mark.parametrize(("datasets", "trials"), [(6, 12), (6, 3), (1, 12), (3, 5)])
def test_pages_fit_in_a_hundred_columns(datasets: int, trials: int) -> None:
    names = [f"RRF ε=0.{i} components={i}00" for i in range(9)]
    draw = np.random.default_rng(datasets)
    values = {
        (f"data-{d}", name): (draw.normal(0.004, 0.003, trials) * 10**d).tolist()
        for d in range(datasets)
        for name in names
    }
    report = made_report(values, metric="rmse", expected=0)
    text = ranking_text(comparisons(report), ranking(report), RUN)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("The permutations of one file") == 1


def test_a_table_without_outcomes_says_so() -> None:
    report = made_report({("d", "A"): [], ("d", "B"): []}, expected=6)
    text = ranking_text(comparisons(report), ranking(report), RUN)
    assert text.startswith("No dataset has a complete cell")
    assert "No mean ranks" in text


def test_the_picture_is_drawn_or_refused(tmp_path: Path) -> None:
    ranks = ranking(three_learners(6, 6))
    draw_ranking(ranks, tmp_path / "ranks.svg")
    assert "<svg" in (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    few = ranking(report_on(tmp_path, all_measured(small_table())))  # no intervals
    draw_ranking(few, tmp_path / "no folder yet/ranks.PNG")
    assert (tmp_path / "no folder yet/ranks.PNG").is_file()
    with pytest.raises(UsageError, match=r"no picture format 'txt' \(pdf, svg, png\)"):
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
    assert line.note == "too few permutations; compared on 3 of 6"
    text = side_by_side_text(["old", "new"], [line, line])
    assert text.count("than 6 permutations in common (okbench run TABLE --trials 6).") == 1
    assert "too few permutations: 2 of 2 lines cannot be decided" in text


def test_changes_of_several_lines_are_corrected_together() -> None:
    slight = [total + step for total, step in zip(FOGD, (3, -1, 4, 2, 1, 5), strict=True)]
    one = side_by_side([by_id(outcomes(FOGD)), by_id(outcomes(slight))])
    assert one[0].t_test is not None
    assert one[0].t_test < 0.05
    assert one[0].note == ""
    old = {k: v for name in "ABC" for k, v in by_id(outcomes(FOGD, name)).items()}
    new = {k: v for name in "ABC" for k, v in by_id(outcomes(slight, name)).items()}
    several = side_by_side([old, new])
    assert [line.t_test for line in several] == pytest.approx([3 * one[0].t_test] * 3)
    assert [line.note for line in several] == ["cannot decide"] * 3
    assert "corrected (Holm) for 3 lines" in side_by_side_text(["old", "new"], several)


def test_a_learner_in_one_set_only_is_noted() -> None:
    found = side_by_side([by_id(outcomes(FOGD)), by_id(outcomes(FOGD, "B"))])
    assert [line.note for line in found] == ["not in every set", "not in every set"]


def test_a_group_has_one_name_in_all_sets() -> None:
    old, new = by_id(outcomes(FOGD)), by_id(outcomes(PERCEPTRON, learner_version=2))
    first, second = side_by_side([old | new, new])
    assert (first.learner, first.note) == ("A(version=1)", "not in every set")
    assert (second.learner, second.note) == ("A(version=2)", "equal in every trial")


def test_other_permutations_are_never_paired() -> None:
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


@pytest.mark.parametrize("option", ["--trials=3", "--seed=0", "--results=runs"])
def test_options_of_a_table_are_not_passed_over_with_sets(tmp_path: Path, option: str) -> None:
    place = str(results_file(tmp_path / "a.jsonl", outcomes(FOGD)))
    result = CliRunner().invoke(compare, [place, place, option])
    assert "does not go with results files; it goes with one table" in str(result.exception)
