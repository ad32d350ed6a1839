"""Which stored outcomes a table's cells are made of, without any learner at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from okbench.learners.registry import versions
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    Protocol,
    Setting,
    Table,
)
from okbench.trials.plan.cells import chosen_cells, repetitions_of, row_key
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import first_trial
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import recall
from okbench.trials.store.plans import CellPlan
from okbench.trials.trial_types import Outcome, Trial
from tests.shipped_tables import find

RESULTS = Path(__file__).parents[2] / "results"
GONE = "a learner of yesterday"  # no class of this name is anywhere


def page(*columns: str, **settings: Mapping[str, Any]) -> Table:
    """Columns of one learner; settings of each as values, or as a Setting."""
    return Table(
        name="made/small",
        title="",
        paper="",
        protocol=Protocol("single-pass", "mistake_rate", 2),
        datasets=(DatasetRow("rows"),),
        learners=tuple(LearnerColumn(label, GONE) for label in columns or ("A",)),
        settings={
            ("rows", label): {
                name: value if isinstance(value, Setting) else Setting(value)
                for name, value in given.items()
            }
            for label, given in settings.items()
        },
    )


def trial(settings: Mapping[str, Any], **more: Any) -> Trial:
    fields: dict[str, Any] = {
        "dataset": "rows",
        "variant": "",
        "fingerprint": "f1",
        "learner": GONE,
        "learner_version": 1,
        "settings": tuple(sorted(settings.items())),
        "protocol": "single-pass",
        "metric": "mistake_rate",
        "repetition": 0,
    }
    return Trial(**{**fields, **more})


def planned(settings: Mapping[str, Any], given: str = "", takes: str = "", **more: Any) -> CellPlan:
    names = frozenset(given.split())
    return CellPlan(
        "made/small", "A", trial(settings, **more), names, names | {*settings, *takes.split()}
    )


def found(table: Table, *plans: CellPlan, label: str = "A", **options: Any) -> tuple[str, ...]:
    return recall(table, (), Options(**options), plans)["rows", label]


def ids(of: Trial) -> tuple[str, ...]:
    return tuple(replace(of, repetition=repetition).id for repetition in (0, 1))


WIDE = {"width": 8.0, "budget": 100, "loss": "hinge"}


@pytest.mark.parametrize(
    ("today", "current"),
    [
        ({"width": 8.0}, True),
        ({"width": 8}, True),
        ({"width": 8.5}, False),
        ({}, False),
        ({"width": 8, "budget": 100}, False),  # a default once; it is for a run to say so now
        ({"width": 8, "seed": 3}, False),
        ({"width": 8, "rank": Setting(20, shared=True)}, True),  # not taken by this learner
        ({"width": 8, "rank": Setting(20)}, False),  # it must take what is said of it by name
    ],
)
def test_a_plan_is_current_if_what_is_given_is_what_was_given(
    today: dict[str, Any], current: bool
) -> None:
    plan = planned(WIDE, given="width", takes="seed")
    assert found(page(A=today), plan) == (ids(plan.trial) if current else ())


@pytest.mark.parametrize(
    ("given", "stored", "equal"),
    [
        (8, 8.0, True),
        (8.0, 8, True),
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        ("8", 8, False),
        (8, "8", False),
        ("hinge", "hinge", True),
        (float("nan"), float("nan"), True),
        (0.0, -0.0, False),
        (2**53 + 1, float(2**53), True),  # as the learner took it
        (0.1, None, False),
    ],
)
def test_values_are_compared_as_the_learner_took_them(given: Any, stored: Any, equal: bool) -> None:
    table, plan = page(A={"s": given}), planned({"s": stored}, given="s")
    assert bool(found(table, plan)) is equal
    old = recall(table, [Outcome(plan.trial, "done")])
    assert bool(old["rows", "A"]) is equal


@pytest.mark.parametrize(
    "other",
    [
        {"dataset": "others"},
        {"variant": "small"},
        {"learner": "another"},
        {"protocol": "train-test"},
        {"protocol_version": 99},
        {"metric": "accuracy"},
        {"order": "published"},
        {"seed": 3},
        {"block": 10},
        {"tolerance": 0.1},
    ],
)
def test_a_plan_of_other_trials_is_not_current(other: dict[str, Any]) -> None:
    assert not found(page(), planned({}, **other))
    assert not recall(page(), [Outcome(trial({}, **other), "done")])["rows", "A"]


def test_the_seed_asked_for_counts() -> None:
    plan = planned({}, seed=3)
    assert found(page(), plan, seed=3) == ids(plan.trial)


def test_the_installed_version_counts_else_the_plan_written_last() -> None:
    first, second, third = (planned({}, learner_version=version) for version in (1, 2, 3))
    for installed, chosen in ((1, first), (2, second), (4, third), (None, third)):
        cells = recall(page(), (), plans=(first, second, third), versions={GONE: installed})
        assert cells["rows", "A"] == ids(chosen.trial)
    assert found(page(), first, third, second) == ids(second.trial)


def test_a_plan_of_other_rows_counts_if_it_is_the_last_and_never_for_rows_in_hand() -> None:
    old, new = planned({}, fingerprint="f0"), planned({}, fingerprint="f2")
    assert found(page(), old, new) == ids(new.trial)
    row = replace(page().datasets[0], fingerprint="f0")
    assert found(replace(page(), datasets=(row,)), old, new) == ids(old.trial)


def test_outcomes_that_belong_to_a_plan_are_not_matched_without_it() -> None:
    plan = planned({"step": 1.0}, given="step")
    table = page()  # gives no step any more
    assert recall(table, [Outcome(plan.trial, "done")], plans=(plan,)) == {("rows", "A"): ()}


def test_without_plans_a_column_has_what_no_other_column_gives_more_exactly() -> None:
    plain, other = trial({"width": 8.0, "step": 1.0}), trial({"width": 8.0, "step": 0.5})
    table = page("A", "B", A={"width": 8}, B={"width": 8, "step": 0.5})
    for order in ((plain, other), (other, plain)):
        cells = recall(table, [Outcome(one, "done") for one in order])
        assert cells == {("rows", "A"): ids(plain), ("rows", "B"): ids(other)}
    alone = recall(table, [Outcome(other, "done")])
    assert alone == {("rows", "A"): (), ("rows", "B"): ids(other)}


def test_without_plans_the_latest_written_of_what_is_left_counts() -> None:
    first, second = trial({"step": 1.0}), trial({"step": 0.5})
    for order in ((first, second), (second, first)):
        cells = recall(page(), [Outcome(one, "done") for one in order])
        assert cells["rows", "A"] == ids(order[-1])


def test_a_plan_comes_before_outcomes_without_one() -> None:
    plan, later = planned({"step": 1.0}), trial({"step": 0.5})
    cells = recall(page(), [Outcome(later, "done")], plans=(plan,))
    assert cells["rows", "A"] == ids(plan.trial)


def test_settings_that_are_lists_are_compared_element_by_element() -> None:
    plan = planned({"widths": (1.0, 2.0)}, given="widths")
    assert found(page(A={"widths": (1, 2)}), plan)
    assert not found(page(A={"widths": (1, 3)}), plan)
    assert not found(page(A={"widths": (1, 2, 3)}), plan)


FILES = sorted(path.relative_to(RESULTS).with_suffix("") for path in RESULTS.rglob("*.jsonl"))


@pytest.mark.parametrize("name", [path.as_posix() for path in FILES])
def test_what_is_committed_is_matched_as_the_learners_themselves_say(name: str) -> None:
    """Against ids derived from the classes, as a run derives them. A learner that is newer than
    what is committed is left out: a run would plan other trials."""
    table, contents = find(name), Store.of(RESULTS, name).read(curves=False)
    outcomes = contents.standing()
    by_dataset = sorted(outcomes.values(), key=lambda one: one.trial.dataset)
    rows = {
        dataset: {one.trial.fingerprint for one in group}
        for dataset, group in groupby(by_dataset, key=lambda one: one.trial.dataset)
    }
    measured = {(one.trial.learner, one.trial.learner_version) for one in outcomes.values()}
    for options in (Options(), Options(trials=3)):
        cells = recall(table, outcomes.values(), options, contents.plans, versions())
        checked = 0
        for row, column in chosen_cells(table, options):
            for fingerprint in rows.get(row.name, ()):
                first = first_trial(table, row, column, options, fingerprint)
                if (first.learner, first.learner_version) not in measured:
                    continue
                repetitions = repetitions_of(table, options, column.label)
                derived = [replace(first, repetition=r).id for r in repetitions]
                matched = cells[row_key(table, row), column.label]
                assert (set(derived) & outcomes.keys()) == (set(matched) & outcomes.keys())
                assert list(matched) in ([], derived)
                checked += bool(matched)
        assert checked
