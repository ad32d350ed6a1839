from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from trial_material import Linear, load, table

from okbench.base.errors import ConfigError, DataError, UsageError
from okbench.papers.table_catalogue import find, names
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan, refuse_second_spelling, remaining, trials_by_cell
from okbench.trials.run.estimate import absent_rows
from okbench.trials.store.match_outcomes import recall
from okbench.trials.trial_types import Outcome

TWO = {"A": "Linear", "B": "Drawn"}


def test_every_cell_gets_its_repetitions_with_repetitions_outermost() -> None:
    trials = plan(table(TWO, ("blobs", "sparse"), runs=3), load)
    assert [t.repetition for t in trials] == [0] * 4 + [1] * 4 + [2] * 4
    assert [(t.dataset, t.learner[-5:]) for t in trials[:4]] == [
        ("blobs", "inear"),
        ("blobs", "Drawn"),
        ("sparse", "inear"),
        ("sparse", "Drawn"),
    ]
    assert len({t.id for t in trials}) == 12


def test_a_trial_knows_all_that_decides_its_outcome() -> None:
    given = {("blobs", "B"): {"budget": 7}}
    trial = plan(table(TWO, settings=given), load, Options(seed=5))[1]
    assert trial.settings == (("budget", 7), ("width", None))
    assert trial.fingerprint == load("blobs").fingerprint
    assert trial.seed == 5
    assert "trial_material:Drawn/1 budget=7 width=None | blobs@print-blobs-600" in trial.spelled


def test_the_version_a_class_announces_is_in_the_id() -> None:
    assert plan(table({"A": "Linear"}), load)[0].learner_version == 3


def test_names_are_met_in_any_case_and_learners_by_label_or_name() -> None:
    asked = Options(datasets=("BLOBS",), learners=("a", "trial_material:drawn"))
    trials = plan(table(TWO, ("blobs", "sparse")), load, asked)
    assert {t.dataset for t in trials} == {"blobs"}
    assert len(trials) == 4


def test_a_learners_name_stands_for_all_its_columns_and_a_label_for_one() -> None:
    page = table({"narrow": "Drawn", "wide": "Drawn"}, settings={("blobs", "wide"): {"width": 9}})
    assert len(trials_by_cell(page, load, Options(learners=("trial_material:Drawn",)))) == 2
    assert list(trials_by_cell(page, load, Options(learners=("WIDE",)))) == [("blobs", "wide")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(datasets=("blob",)), r"no dataset 'blob'. Did you mean 'blobs'\? It has blobs"),
        (Options(learners=("C",)), r"no learner 'C'. It has A, B"),
    ],
)
def test_a_name_the_table_does_not_have_is_refused(options: Options, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan(table(TWO), load, options)


def test_the_count_of_trials_can_be_asked_for() -> None:
    assert len(plan(table(TWO, runs=20), load, Options(trials=2))) == 4


def test_single_repetitions_can_be_asked_for_and_are_those_of_the_whole() -> None:
    page = table(TWO, runs=5)
    asked = plan(page, load, Options(repetitions=(4, 1, 4)))
    assert [t.repetition for t in asked] == [1, 1, 4, 4]
    assert {t.id for t in asked} < {t.id for t in plan(page, load)}
    assert plan(page, load, Options(repetitions=(7,)))[0].repetition == 7


def test_a_published_order_that_is_not_there_is_refused_when_named() -> None:
    page = table(TWO, ("ordered",), orders="published")
    assert len(plan(page, load, Options(repetitions=(1,)))) == 2
    with pytest.raises(UsageError, match="2 permutations were published"):
        plan(page, load, Options(repetitions=(2,)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"repetitions": ()}, "name one or more"),
        ({"repetitions": (3, -1)}, "0 or more, not -1"),
        ({"repetitions": (0,), "trials": 2}, "exclude each other"),
    ],
)
def test_repetitions_that_cannot_be_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Options(**wrong)


def test_a_learner_is_not_planned_on_a_task_it_does_not_do() -> None:
    with pytest.raises(UsageError, match=r"B does not do multiclass, and three is that"):
        plan(table(TWO, ("three",)), load)


def test_a_cell_left_out_is_planned_only_when_both_its_names_are_asked_for() -> None:
    page = table(TWO, ("blobs", "sparse"), left_out=frozenset({("sparse", "A")}))
    assert ("sparse", "A") not in trials_by_cell(page, load)
    assert ("sparse", "A") not in trials_by_cell(page, load, Options(learners=("A",)))
    by_name = Options(datasets=("sparse",), learners=("A",))
    assert list(trials_by_cell(page, load, by_name)) == [("sparse", "A")]


def test_a_left_out_cell_of_the_wrong_task_is_no_error() -> None:
    page = table(TWO, ("three",), left_out=frozenset({("three", "B")}))
    assert list(trials_by_cell(page, load)) == [("three", "A")]


def test_published_orders_that_are_not_there_are_refused() -> None:
    with pytest.raises(DataError, match="blobs: the published permutations are not available"):
        plan(table(TWO, orders="published"), load)
    with pytest.raises(UsageError, match="ordered: 2 permutations were published, so not 3 trials"):
        plan(table(TWO, ("ordered",), orders="published", runs=3), load)


def test_rows_can_bring_their_published_orders_into_a_seeded_table() -> None:
    page = table({"A": "Linear"}, ("ordered", "blobs"))
    published = replace(page.datasets[0], orders="published")
    trials = plan(replace(page, datasets=(published, page.datasets[1])), load)
    assert [t.order for t in trials[:2]] == ["published", "seeded"]


def test_a_protocol_the_rows_do_not_fit_is_refused() -> None:
    with pytest.raises(DataError, match="blobs comes in one part"):
        plan(table(TWO, kind="train-test"), load)
    with pytest.raises(ConfigError, match="block-stream needs block"):
        plan(table(TWO, kind="block-stream"), load)
    with pytest.raises(ConfigError, match="rmse does not score blobs"):
        plan(table(TWO, metric="rmse"), load)


def test_two_variants_of_a_dataset_are_two_cells() -> None:
    cells = trials_by_cell(table({"A": "Linear"}, ("blobs:100", "blobs:200")), load)
    assert list(cells) == [("blobs:100", "A"), ("blobs:200", "A")]


def test_a_column_said_twice_is_run_once() -> None:
    assert len(plan(table({"A": "Linear", "again": "Linear"}, runs=2), load)) == 2


def test_only_what_was_interrupted_is_tried_again_unasked() -> None:
    trials = plan(table({"A": "Linear"}, runs=6), load)
    endings = ("done", "timeout", "memory", "diverged", "failed", "interrupted")
    known = {t.id: Outcome(t, ending) for t, ending in zip(trials, endings, strict=True)}
    assert remaining(trials, known, Options()) == trials[5:]
    assert remaining(trials, known, Options(retry=frozenset({"failed", "timeout"}))) == [
        trials[1],
        trials[4],
        trials[5],
    ]
    assert remaining(trials, known, Options(again=True)) == trials
    assert remaining(trials, {}, Options()) == trials


@pytest.mark.parametrize(
    "wrong",
    [{"trials": 0}, {"jobs": 0}, {"seed": -1}, {"time_limit": 0}, {"memory_limit": -5}],
)
def test_an_option_out_of_range_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=str(next(iter(wrong.values())))):
        Options(**wrong)


def test_an_unknown_ending_to_retry_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="Did you mean 'failed'"):
        Options(retry=frozenset({"faild"}))  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [(1, 2), None, property(lambda self: 1), True])
def test_a_version_that_a_line_of_json_would_change_is_refused(
    version: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Linear, "version", version)
    with pytest.raises(UsageError, match=r"trial_material:Linear: its version is .* whole number"):
        plan(table({"A": "Linear"}), load)


def test_more_trials_than_a_machine_can_list_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 1,000,000 trials of a cell, not 10,000,000,000"):
        plan(table({"A": "Linear"}), load, Options(trials=10**10))
    with pytest.raises(UsageError, match="at most 1,000,000 trials"):
        plan(table({"A": "Linear"}, runs=10**10), load)


def test_a_name_that_means_nothing_is_told_with_its_line() -> None:
    def nowhere(name: str, variant: str) -> Any:
        raise UsageError(f"no dataset '{name}'")

    page = table({"A": "Linear"})
    row = replace(page.datasets[0], where="tables.yaml:5")
    unknown = replace(page.learners[0], learner="Percepton")
    with pytest.raises(ConfigError, match=r"^tables.yaml:3: no learner 'Percepton'\. Did you mean"):
        plan(replace(page, learners=(unknown,)), load)
    with pytest.raises(ConfigError, match=r"^tables.yaml:5: no dataset 'blobs'$"):
        plan(replace(page, datasets=(row,)), nowhere)
    with pytest.raises(ConfigError, match=r"^tables.yaml:5: no dataset 'blobs'$"):
        absent_rows(page, [(row, page.learners[0])], nowhere)


@pytest.mark.parametrize(
    ("name", "variant", "usual"),
    [
        ("german", "lsokl", "german: {}"),
        ("breast-cancer", "all", "breast-cancer: {}"),
        ("German", "", "german: {}"),
        ("mnist", "", "mnist: {variant: lsokl}"),
        ("minst", "ik", "mnist: {variant: ik}"),
    ],
)
def test_rows_are_written_one_way_because_the_way_decides_the_permutations(
    name: str, variant: str, usual: str
) -> None:
    page = table({"A": "Linear"})
    row = replace(page.datasets[0], name=name, variant=variant, where="mine.yaml:5")
    with pytest.raises(ConfigError) as caught:
        plan(replace(page, datasets=(row,)), load)
    assert str(caught.value).startswith(f"mine.yaml:5: these rows are written '{usual}' in all")


def test_all_shipped_tables_write_rows_that_way() -> None:
    for card in names():
        for row in find(card.name).datasets:
            refuse_second_spelling(row)


def test_of_rows_in_hand_only_their_own_outcomes_are_recalled() -> None:
    page = table({"A": "Linear"})
    ours, others = (replace(one, fingerprint=f) for one in plan(page, load)[:1] for f in "ab")
    stored = [Outcome(ours, "done"), Outcome(others, "done")]
    for fingerprint, first in (("", others), ("a", ours), ("b", others)):
        row = replace(page.datasets[0], fingerprint=fingerprint)
        found = recall(replace(page, datasets=(row,)), stored)
        assert found["blobs", "A"][0] == first.id
